/*
 * --print-effective-config: every setting that a plan depends on and every field that
 * is pinned, each with its value and the level that said so (passes/plan_pins.h).
 *
 *     cores = 64                       # target wormhole_n150
 *     op c fidelity=hifi4              # command line, --pin:1:6; not fidelity=lofi of the model
 */
#include "frontend/cmd_device.h"
#include "ir/file.h"

/* Who pins: from the last to be heard to the first. */
typedef struct Level {
	const char *name;
	const Pins *pins;         /* of each step; NULL: there is no such level */
	const ChoicePlace *where; /* NULL: at the op */
} Level;

enum { LEVELS = 3 };

static void print_setting(Session *s, const char *name, const char *value, const char *who)
{
	printf("%-40s # %s\n", arena_printf(s->arena, "%s = %s", name, value), who);
}

static const char *number(Session *s, int64_t n) { return arena_printf(s->arena, "%lld", (long long)n); }

/* "command line" if the option was given. */
static const char *said(Session *s, OptionId id, const char *otherwise)
{
	if (!option_given(s->opt, id))
		return otherwise;
	return arena_printf(s->arena, "command line, %s", option_spelling(id));
}

static void print_settings(Session *s, const Asked *a, const Planned *p)
{
	const PlanRequest *r = &a->request;
	const char *target = arena_printf(s->arena, "target %s", a->target->name);
	const char *cores = target;
	if (p->file && p->file->cores)
		cores = arena_printf(s->arena, "plan file, %s", r->file->name);
	print_setting(s, "target", a->target->name, said(s, OPT_TARGET, "built-in"));
	print_setting(s, "cores", number(s, p->bare->cores), said(s, OPT_CORES, cores));
	print_setting(s, "l1", number(s, planner_room(a->target, r)), said(s, OPT_L1, target));
	print_setting(s, "objective", objective_name(r->objective), said(s, OPT_OBJECTIVE, "built-in"));
	print_setting(s, "effort", r->effort ? number(s, r->effort) : "usual",
		      said(s, OPT_EFFORT, "built-in"));
	print_setting(s, "act-dtype", s->act_dtype ? dev_type_name(s->act_dtype) : "any",
		      said(s, OPT_ACT_DTYPE, "built-in"));
	print_setting(s, "weight-dtype", s->weight_dtype ? dev_type_name(s->weight_dtype) : "any",
		      said(s, OPT_WEIGHT_DTYPE, "built-in"));
	print_setting(s, "plan", r->file ? r->file->name : "none",
		      said(s, OPT_PLAN, "built-in"));
}

static bool is_fixed(const Level *l, int step, int field)
{
	return l->pins && pin_is_fixed(&l->pins[step], field);
}

static void write_who(FILE *f, const Planned *p, const Level *l, int step, int field)
{
	Loc at = p->bare->steps[step].op->loc;
	if (l->where)
		at = field == PIN_SHARD ? l->where[step].shard : l->where[step].at[field];
	fputs(l->name, f);
	if (at.file)
		fprintf(f, ", %s", at.file);
	if (at.file && at.line)
		fprintf(f, ":%d:%d", at.line, at.col);
}

/* The field of a step at all levels, if one of them pins it. */
static void print_field(Session *s, const Planned *p, const Level *levels, int step, int field)
{
	const Level merged = { .pins = p->pins };
	const PlanTensor *t = p->bare->steps[step].out;
	const bool tensor = field == PIN_SHARD || choice_info[field].who == CHOICE_RESULT;
	int first = 0;
	while (first < LEVELS && !is_fixed(&levels[first], step, field))
		first++;
	if (first == LEVELS || (tensor && t->born != step))
		return;
	const bool kept = is_fixed(&merged, step, field);
	TextFile left, right;
	text_open(&left);
	fprintf(left.f, "%s%s ", kept ? "" : "# ", tensor ? "tensor" : "op");
	fprintf(left.f, "%s ", choice_step_spelling(p->bare, step));
	pin_print(left.f, &levels[first].pins[step], field);
	text_open(&right);
	write_who(right.f, p, &levels[first], step, field);
	for (int i = first + 1; i < LEVELS; i++)
		if (is_fixed(&levels[i], step, field)) {
			fputs("; not ", right.f);
			pin_print(right.f, &levels[i].pins[step], field);
			fputs(" of ", right.f);
			write_who(right.f, p, &levels[i], step, field);
		}
	if (!kept)
		fputs("; gives way to a later pin", right.f);
	const char *what = text_take(&left, s->arena);
	printf("%-40s # %s\n", what, text_take(&right, s->arena));
}

enum ExitCode session_print_config(Session *s)
{
	Asked a;
	Planned p;
	Graph *g = session_compile(s);
	if (!g)
		return EXIT_MODEL;
	if (s->package) {
		usage_error(s->diag, "'--print-effective-config': a package has its plan");
		return EXIT_USAGE;
	}
	const enum ExitCode code = session_asked(s, &a);
	if (code != EXIT_OK)
		return code;
	a.request.whole = s->opt->command == CMD_score;
	if (planner_pins(g, a.target, &a.request, &p) != PLANNED)
		return !p.bare ? EXIT_INFEASIBLE : p.line_wrong ? EXIT_USAGE : EXIT_MODEL;
	const Level levels[LEVELS] = {
		{ "command line", p.line ? p.line->pins : NULL, p.line ? p.line->where : NULL },
		{ "plan file", p.file ? p.file->pins : NULL, p.file ? p.file->where : NULL },
		{ "model hint", p.hints, NULL },
	};
	print_settings(s, &a, &p);
	for (int i = 0; i < p.bare->nsteps; i++)
		for (int f = 0; f <= PIN_SHARD; f++)
			print_field(s, &p, levels, i, f);
	return EXIT_OK;
}
