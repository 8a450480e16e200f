/*
 * libtessera_rt: loads a compiled network onto a device and runs it. Plain C,
 * no state outside the objects below, every failure is a value.
 *
 *     TesseraError e;
 *     TesseraPackage *package = tessera_package_open("unet.ttb", &e);
 *     TesseraDevice *device = package ? tessera_device_open("emu", &e) : NULL;
 *     TesseraProgram *program = device ? tessera_load(device, package, &e) : NULL;
 *     if (!program || !tessera_run(program, &input, 1, &output, 1, &e))
 *             fprintf(stderr, "%s\n%s", e.text, e.detail);
 *     tessera_unload(program);
 *     tessera_device_close(device);
 *     tessera_package_close(package);
 *
 * Closing nothing (NULL) is fine. An object may be used by one thread at a
 * time; two devices know nothing of each other.
 *
 * Devices:
 *     emu                 the emulator, bit-exact, with strict checks
 *     emu:fast            plain fp32 in the matrix unit: not bit-exact
 *     emu:threads=2,quantum=500,strict=0
 *     emu:profile         measures where the host's time goes: tessera_time
 *     emu:counters        counts op by op and core by core: tessera_op_counter
 *     emu:race            every run twice with different quanta, and compared
 *     ttsim:PATH          Tenstorrent's simulator, libttsim.so at PATH
 *     card:N              /dev/tenstorrent/N through tt-kmd; untested on silicon
 */
#ifndef RUNTIME_HOST_TESSERA_RT_H
#define RUNTIME_HOST_TESSERA_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TESSERA_API __attribute__((visibility("default")))
#else
#define TESSERA_API
#endif

typedef enum TesseraCode {
	TESSERA_OK,
	TESSERA_NO_MEMORY,
	TESSERA_BAD_PACKAGE, /* damaged, or of another version or target */
	TESSERA_BAD_DEVICE,  /* a spec nobody knows, or nothing is there */
	TESSERA_BAD_INPUT,   /* arrays that are not what the network takes or gives */
	TESSERA_MISUSE,      /* calls in an order that makes no sense */
	TESSERA_DEVICE,      /* the device failed or refused */
	TESSERA_FAULT,       /* the program did what silicon would punish, or gave up */
	TESSERA_TIMEOUT,     /* no answer */
	TESSERA_RACE,        /* the result depends on timing */
} TesseraCode;

/* Every function that takes one says in it what went wrong, and leaves it
 * alone otherwise. */
typedef struct TesseraError {
	TesseraCode code;
	char text[512];    /* one line, no newline at its end */
	char detail[8192]; /* lines that help to find out, or empty */
} TesseraError;

typedef struct Ttb TesseraPackage;
typedef struct TesseraDevice TesseraDevice;
typedef struct TesseraProgram TesseraProgram;

TESSERA_API const char *tessera_version(void);

/* A file, which is mapped and has to stay as it is until the package is closed. */
TESSERA_API TesseraPackage *tessera_package_open(const char *path, TesseraError *e);

/* Bytes that stay the caller's and have to outlive the package. */
TESSERA_API TesseraPackage *tessera_package_memory(const void *bytes, size_t n, TesseraError *e);
TESSERA_API void tessera_package_close(TesseraPackage *p);

/* What `tessera info` shows. */
TESSERA_API void tessera_package_print(const TesseraPackage *p, FILE *f);

/* Elements of arrays. What is sent to a device is rounded to bf16 on the way, to
 * nearest, ties to even; what comes back is f32 already, or bf16 that is widened. */
typedef enum TesseraType { TESSERA_F32, TESSERA_BF16, TESSERA_F16, TESSERA_U8 } TesseraType;

TESSERA_API const char *tessera_type_name(TesseraType type);

enum { TESSERA_MAX_RANK = 8 };

/* What a network takes and gives. */
typedef struct TesseraTensor {
	const char *name;
	TesseraType type;
	int rank;
	int64_t shape[TESSERA_MAX_RANK];
	size_t bytes;
} TesseraTensor;

TESSERA_API size_t tessera_input_count(const TesseraPackage *p);
TESSERA_API size_t tessera_output_count(const TesseraPackage *p);
TESSERA_API TesseraTensor tessera_input(const TesseraPackage *p, size_t i);
TESSERA_API TesseraTensor tessera_output(const TesseraPackage *p, size_t i);

/* Ops in the order they run; name as in the model. */
TESSERA_API size_t tessera_op_count(const TesseraPackage *p);
TESSERA_API const char *tessera_op_name(const TesseraPackage *p, size_t i);
TESSERA_API const char *tessera_op_kind(const TesseraPackage *p, size_t i);

/* Where the model has it, "unet.nnef:12:9" or "unet.onnx: node \"Conv_3\" (Conv)", and the
 * names of the model's ops it took in, ", " between them; or "". */
TESSERA_API const char *tessera_op_source(const TesseraPackage *p, size_t i);
TESSERA_API const char *tessera_op_absorbed(const TesseraPackage *p, size_t i);

TESSERA_API TesseraDevice *tessera_device_open(const char *spec, TesseraError *e);
TESSERA_API void tessera_device_close(TesseraDevice *d);

/* The spec, and what one has to know about it. */
TESSERA_API const char *tessera_device_name(const TesseraDevice *d);

/* Puts the network onto the device and starts its cores, which then wait for
 * runs. A device holds one program at a time; the package outlives it. */
TESSERA_API TesseraProgram *tessera_load(TesseraDevice *d, const TesseraPackage *p,
					 TesseraError *e);

/* Holds the cores in reset. */
TESSERA_API void tessera_unload(TesseraProgram *p);

/* How long a run may take: steps of an emulated device in all, seconds without
 * any core getting on to another op. 0: no such limit. */
typedef struct TesseraLimits {
	uint64_t steps;
	double seconds;
} TesseraLimits;

TESSERA_API void tessera_limit(TesseraProgram *p, TesseraLimits limits);

/* Stops within runs. When every core is through with the ops before `op` and none has
 * begun with it, `at` is called, and may read memory; false, with what is wrong in `e`,
 * ends the run. The code that runs is no other, and neither are results. */
typedef struct TesseraPauses {
	const size_t *op; /* from 1 on, each more than the last; tessera_op_count: at the end */
	size_t count;
	bool (*at)(void *context, size_t op, TesseraError *e);
	void *context;
} TesseraPauses;

/* For the runs that are submitted from now on; what is pointed to has to stay. */
TESSERA_API bool tessera_pause(TesseraProgram *p, TesseraPauses pauses, TesseraError *e);

/* An array of the caller's: dense, row-major. */
typedef struct TesseraArray {
	void *data;
	size_t bytes;
	TesseraType type;
	int rank;
	int64_t shape[TESSERA_MAX_RANK];
} TesseraArray;

/* The array that fits `t`, at `data`. */
TESSERA_API TesseraArray tessera_array(const TesseraTensor *t, void *data);

/* One run, from inputs to outputs, in the order of tessera_input and
 * tessera_output. */
TESSERA_API bool tessera_run(TesseraProgram *p, const TesseraArray *inputs, size_t input_count,
			     const TesseraArray *outputs, size_t output_count, TesseraError *e);

/* The same in two halves: two runs may be under way, so that the inputs of one
 * travel while the other computes. tessera_wait ends the older one. After a
 * failed run the program has to be loaded again. */
TESSERA_API bool tessera_submit(TesseraProgram *p, const TesseraArray *inputs, size_t input_count,
				TesseraError *e);
TESSERA_API bool tessera_wait(TesseraProgram *p, const TesseraArray *outputs, size_t output_count,
			      TesseraError *e);

/* What the emulator counted, summed over the cores of the program, since it
 * was loaded. The name is NULL past the last, and on other devices. */
TESSERA_API const char *tessera_counter_name(const TesseraProgram *p, size_t i);
TESSERA_API int64_t tessera_counter(const TesseraProgram *p, size_t i);

/* The same of one op on one core of the program, both by index; 0 unless the
 * device's spec says "counters". What belongs to an op: ir/counters.def. */
TESSERA_API int64_t tessera_op_counter(const TesseraProgram *p, size_t op, size_t core, size_t i);

/* All of those as comma-separated values: a line of names, then one for each op
 * and core. Nothing without "counters". */
TESSERA_API void tessera_counters_print(const TesseraProgram *p, FILE *f);

/* Steps an emulated device has run; 0 on a card. */
TESSERA_API uint64_t tessera_device_steps(const TesseraDevice *d);

/* Seconds the host spent on each unit of the emulated cores, summed over its
 * threads, since the program was loaded. False on other devices, and without
 * "profile" in the device's spec. */
typedef struct TesseraTime {
	double risc, unpack, matrix, sfpu, pack, noc, other;
} TesseraTime;

TESSERA_API bool tessera_time(const TesseraProgram *p, TesseraTime *t);

/* Memory as it is: L1 of a worker at logical (col, row), a bank of DRAM. */
TESSERA_API bool tessera_read_l1(TesseraDevice *d, uint32_t col, uint32_t row, uint32_t address,
				 void *to, size_t n, TesseraError *e);
TESSERA_API bool tessera_read_dram(TesseraDevice *d, uint32_t bank, uint32_t address,
				   void *to, size_t n, TesseraError *e);

#ifdef __cplusplus
}
#endif

#endif
