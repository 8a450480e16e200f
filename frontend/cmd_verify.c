/*
 * tessera verify: how near the outputs are to expected ones, or, without any,
 * how near the graph after the passes is to the graph before them.
 *
 *     out_0 'mask' 1x1x224x224: pcc 0.999999999, max error 2.4e-07, 2.6e-07 of the range: ok
 *
 * The limits are those of --min-pcc and --max-err; with neither, an error of
 * 1e-4 of the range is allowed, or 1e-5 where the passes are judged; on a
 * device, whose formats are narrower, a correlation of 0.999 is wanted. With
 * --layers they go for every tensor (cmd_verify.h), and one that is not within
 * them is a failure too. If a device's formats may be the reason, a note says what helps.
 */
#include "frontend/cmd_verify.h"

#include <string.h>

#include "ir/file.h"

/* What correlates less has other reasons than formats. */
static const double NEAR_PCC = 0.9;

static Limits limits_of(const Session *s)
{
	const Options *o = s->opt;
	Limits l = limits_asked(o);
	if (option_given(o, OPT_MIN_PCC) || option_given(o, OPT_MAX_ERR))
		return l;
	if (session_on_ref(s))
		l.max_err = option_given(o, OPT_EXPECT) ? 1e-4 : 1e-5;
	else
		l.min_pcc = 0.999;
	return l;
}

bool limits_compare(Limits l, const Tensor *want, const Tensor *got)
{
	const Closeness c = tensor_compare(want, got);
	const bool ok = limits_hold(l, &c);
	printf("pcc %.9f, max error %.3g, %.3g of the range: %s\n", c.pcc, c.max_abs, c.max_rel,
	       ok ? "ok" : "FAILED");
	return ok;
}

/* What outputs come to. */
typedef struct Verdict {
	bool ok;
	bool near; /* where it is not, no more is lost than formats may lose */
} Verdict;

static bool compare(const Graph *g, int k, const Op *op, const Tensor *want, const Tensor *got,
		    Limits l, bool *near)
{
	printf("out_%d '%s' %s: ", k, inputs_edge_name(op), shape_text(g->arena, got->shape));
	if (!want) {
		puts("not compared");
		return true;
	}
	if (!shape_equal(want->shape, got->shape)) {
		printf("the expected shape is %s: FAILED\n", shape_text(g->arena, want->shape));
		*near = false;
		return false;
	}
	const bool ok = limits_compare(l, want, got);
	const Closeness c = tensor_compare(want, got);
	*near &= ok || (c.constant ? c.max_rel <= 1 - NEAR_PCC : c.pcc >= NEAR_PCC);
	return ok;
}

/* All outputs that have an expected value. */
static Verdict compare_all(const Graph *g, Tensor *const want[], Tensor *const got[], Limits l)
{
	Verdict v = { true, true };
	int k = 0;
	for_each_op(op, g) {
		if (op->kind != OP_OUTPUT)
			continue;
		v.ok = compare(g, k, op, want[k], got[k], l, &v.near) && v.ok;
		k++;
	}
	return v;
}

/* What to do about it: formats and fidelity that are not held can be raised. */
static void suggest(Session *s, Limits l)
{
	const Options *o = s->opt;
	TextFile t;
	if (session_on_ref(s) || option_given(o, OPT_WHOLE_PLAN) || l.min_pcc >= 1)
		return;
	text_open(&t);
	fputs("'compile", t.f);
	if (l.min_pcc >= 0)
		fprintf(t.f, " --min-pcc=%.9g", l.min_pcc);
	if (l.max_err >= 0)
		fprintf(t.f, " --max-err=%.9g", l.max_err);
	fputs("' raises those that matter", t.f);
	if (!s->weight_dtype)
		fputs(", --weight-dtype=bf16 those of all weights", t.f);
	if (!s->act_dtype)
		fputs(", --act-dtype=bf16 those of all tensors", t.f);
	diag_note(s->diag, (Loc){ .file = o->model }, "formats may be too narrow: %s",
		  text_take(&t, s->arena));
}

/* --layers has something to look at. */
static bool layers_possible(Session *s)
{
	if (!option_given(s->opt, OPT_LAYERS))
		return true;
	if (session_is_package(s))
		usage_error(s->diag, "'--layers': a package has no graph to compare with, its model has");
	else if (session_on_ref(s))
		usage_error(s->diag, "'--layers' wants a device, such as --device=emu");
	return !s->diag->errors;
}

enum ExitCode cmd_verify(Session *s)
{
	if (!session_device(s) || !layers_possible(s) || !session_accuracy_asked(s))
		return EXIT_USAGE;
	Graph *g = session_read(s);
	if (!g)
		return EXIT_MODEL;
	const int n = inputs_count(g, OP_OUTPUT);
	Tensor **want = arena_array(s->arena, Tensor *, n);
	Tensor **got = arena_array(s->arena, Tensor *, n);
	Tensor **in = inputs_data(g, s->arena, &s->inputs);
	if (!in || !inputs_match(g, OP_OUTPUT, s->inputs.expect, s->inputs.nexpect, OPT_EXPECT,
				 want))
		return EXIT_USAGE;
	enum ExitCode code = EXIT_OK;
	if (s->package && !s->inputs.nexpect) {
		usage_error(s->diag, "'verify' of a package wants --expect");
		return EXIT_USAGE;
	}
	if (!s->inputs.nexpect)
		code = session_run_ref(s, g, in, want);
	if (code == EXIT_OK && !session_passes(s, g))
		code = EXIT_MODEL;
	const char *dir = option_text(s->opt, OPT_LAYERS);
	if (code == EXIT_OK && dir && !(s->layers = layers_create(s, g, in, limits_of(s), dir)))
		code = EXIT_MODEL;
	if (code == EXIT_OK)
		code = session_run(s, g, in, got);
	if (code != EXIT_OK)
		return code;
	const bool layers = !s->layers || layers_good(s->layers);
	const Verdict v = compare_all(g, want, got, limits_of(s));
	if (!v.ok && v.near)
		suggest(s, limits_of(s));
	return v.ok && layers ? EXIT_OK : EXIT_MODEL;
}
