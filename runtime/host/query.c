/* What can be asked of packages and programs. */
#include "runtime/host/program.h"

const char *tessera_version(void)
{
	return TESSERA_VERSION;
}

TesseraPackage *tessera_package_open(const char *path, TesseraError *e)
{
	return ttb_open(path, e);
}

TesseraPackage *tessera_package_memory(const void *bytes, size_t n, TesseraError *e)
{
	return ttb_open_memory(bytes, n, e);
}

void tessera_package_close(TesseraPackage *p)
{
	ttb_close(p);
}

void tessera_package_print(const TesseraPackage *p, FILE *f)
{
	ttb_print(p, f);
}

size_t tessera_op_count(const TesseraPackage *p)
{
	return p->ops;
}

const char *tessera_op_name(const TesseraPackage *p, size_t i)
{
	return i < p->ops ? ttb_string(p, p->op[i].name) : NULL;
}

const char *tessera_op_kind(const TesseraPackage *p, size_t i)
{
	return i < p->ops ? ttb_string(p, p->op[i].kind) : NULL;
}

const char *tessera_op_source(const TesseraPackage *p, size_t i)
{
	return i < p->ops ? ttb_string(p, p->op[i].source) : NULL;
}

const char *tessera_op_absorbed(const TesseraPackage *p, size_t i)
{
	return i < p->ops ? ttb_string(p, p->op[i].absorbed) : NULL;
}

const char *tessera_counter_name(const TesseraProgram *p, size_t i)
{
	const DeviceOps *ops = p->device->ops;

	return ops->counter_name ? ops->counter_name(p->device, i) : NULL;
}

bool tessera_time(const TesseraProgram *p, TesseraTime *t)
{
	const DeviceOps *ops = p->device->ops;

	return ops->time && ops->time(p->device, t);
}

int64_t tessera_counter(const TesseraProgram *p, size_t i)
{
	int64_t sum = 0;

	for (size_t k = 0; tessera_counter_name(p, i) && k < p->package->cores; k++) {
		const Place w = place_worker(p->package->core[k].col, p->package->core[k].row);

		sum += p->device->ops->counter(p->device, w.x, w.y, i);
	}
	return sum;
}

int64_t tessera_op_counter(const TesseraProgram *p, size_t op, size_t core, size_t i)
{
	if (!tessera_counter_name(p, i) || core >= p->package->cores || op >= p->package->ops)
		return 0;
	const Place w = place_worker(p->package->core[core].col, p->package->core[core].row);

	return p->device->ops->op_counter(p->device, w.x, w.y, (uint32_t)op, i);
}

/* In quotes, with those inside it doubled. */
static void print_quoted(const char *text, FILE *f)
{
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', f);
		fputc(*text, f);
	}
	fputc('"', f);
}

void tessera_counters_print(const TesseraProgram *p, FILE *f)
{
	const DeviceOps *ops = p->device->ops;
	const Ttb *t = p->package;

	if (!ops->counts_ops || !ops->counts_ops(p->device))
		return;
	fputs("op,name,kind,col,row", f);
	for (size_t i = 0; tessera_counter_name(p, i); i++)
		fprintf(f, ",%s", tessera_counter_name(p, i));
	fputc('\n', f);
	for (size_t op = 0; op < t->ops; op++) {
		for (size_t c = 0; c < t->cores; c++) {
			fprintf(f, "%zu,", op);
			print_quoted(tessera_op_name(t, op), f);
			fputc(',', f);
			print_quoted(tessera_op_kind(t, op), f);
			fprintf(f, ",%u,%u", t->core[c].col, t->core[c].row);
			for (size_t i = 0; tessera_counter_name(p, i); i++)
				fprintf(f, ",%lld", (long long)tessera_op_counter(p, op, c, i));
			fputc('\n', f);
		}
	}
}
