/*
 * tessera calibrate: constants of the cost model fitted to measured times, into a target
 * file.
 *
 *     $ tessera calibrate unet.onnx measured.csv --plan unet.plan -o card.ini
 *     $ tessera plan unet.onnx --target=./card.ini
 */
#ifndef FRONTEND_CMD_CALIBRATE_H
#define FRONTEND_CMD_CALIBRATE_H

#include "frontend/cmd_report.h"
#include "frontend/measured.h"
#include "ir/fit.h"

/* What is measured beside what is predicted; times in ns. */
typedef struct Calibration {
	Session *session;
	Measured measured;
	const Target *base;
	Target target;             /* what is predicted for: constants at hand */
	TargetConstant *constants; /* of `target`, n of them: those of the kernels in use */
	int n;
	const char *plan;          /* the plan's name, for messages */
	const char **names;        /* of each row */
	double *times;             /* measured: of several, the mean */
	int rows;
	const char *what;          /* its rows are about, */
	int planned;               /* of which the plan has so many */
	FitPredict *predict;       /* of `rows`, with a context of its own */
	void *context;
} Calibration;

/* The constants of ttnn's programs or of our kernels. */
void calibration_begin(Calibration *c, const Target *t, bool ttnn);

/* Sets `target` to these values. */
void calibration_set(Calibration *c, const int64_t *values);

/* Notes a row of the table for the thing called `name`, which was measured `sum` ns in
 * `times` rows. */
void calibration_add(Calibration *c, const char *name, double sum, int times);

/* What came of it, to standard output; measured over predicted times, all of them. */
void calibration_print(const Calibration *c, const Fit *f, Format format);
double calibration_ratio(const Calibration *c, const Fit *f);

/* --kernels=ttnn: matches rows to the programs of a plan for ttnn. Not EXIT_OK: reported. */
enum ExitCode calibration_ttnn(Calibration *c, const Graph *g);

#endif
