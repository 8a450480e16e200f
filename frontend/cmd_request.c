#include "frontend/cmd_request.h"

#include <stdlib.h>
#include <string.h>

#include "ir/file.h"

enum { MOST_EFFORT = 1000000 };

static const struct {
	const char *name;
	Objective objective;
} objectives[] = {
	{ "time", OBJECTIVE_TIME }, { "reshards", OBJECTIVE_RESHARDS }, { "l1", OBJECTIVE_L1 },
	{ "greedy", OBJECTIVE_GREEDY },
};

enum { OBJECTIVES = sizeof objectives / sizeof *objectives };

const char *objective_name(Objective o)
{
	int i = 0;
	while (i < OBJECTIVES - 1 && objectives[i].objective != o)
		i++;
	return objectives[i].name;
}

static void read_objective(Session *s, PlanRequest *r)
{
	const char *text = option_text(s->opt, OPT_OBJECTIVE);
	const char *names[OBJECTIVES], *all = "there are";
	for (int i = 0; text && i < OBJECTIVES; i++) {
		names[i] = objectives[i].name;
		all = arena_printf(s->arena, "%s%s %s", all, i ? "," : "", names[i]);
		if (strcmp(text, names[i]) != 0)
			continue;
		r->objective = objectives[i].objective;
		return;
	}
	if (!text)
		return;
	usage_error(s->diag, "'--objective': no objective '%s'", text);
	usage_hint(s->diag, text, names, OBJECTIVES, all);
}

static int read_count(Session *s, OptionId id, int64_t most, const char *what)
{
	const int64_t n = option_number(s->opt, id, -1);
	if (n == 0 || n > most)
		usage_error(s->diag, "'%s': from 1 to %lld%s, not %lld", option_spelling(id),
			    (long long)most, what, (long long)n);
	return n > 0 && n <= most ? (int)n : 0;
}

/* BYTES or P% of what the target has: a target with that much. */
static const Target *with_l1(Session *s, const Target *t)
{
	const char *text = option_text(s->opt, OPT_L1);
	const int64_t all = planner_room(t, &(PlanRequest){ 0 });
	const int64_t first = (t->l1_first + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	if (!text)
		return t;
	char *end;
	const size_t digits = strspn(text, "0123456789");
	const int64_t n = digits && digits <= 12 ? strtoll(text, &end, 10) : -1;
	const bool percent = n >= 0 && strcmp(end, "%") == 0;
	if (n < 0 || (*end && !percent)) {
		usage_error(s->diag, "'--l1' wants bytes, or a part as 80%%, not '%s'", text);
		return NULL;
	}
	const int64_t most = percent ? 100 : all;
	if (n < 1 || n > most) {
		usage_error(s->diag, "'--l1': from 1 to %lld%s, not '%s'", (long long)most,
			    percent ? "%" : arena_printf(s->arena, " bytes on %s", t->name), text);
		return NULL;
	}
	Target *less = arena_new(s->arena, Target);
	*less = *t;
	less->l1_end = first + (percent ? all * n / 100 : n);
	return less;
}

/* Each --pin is a line. */
static void read_pins(Session *s, Asked *a)
{
	const int n = s->opt->count[OPT_PIN];
	TextFile t;
	if (!n)
		return;
	text_open(&t);
	for (int i = 0; i < n; i++) {
		const char *pin = s->opt->values[OPT_PIN][i];
		if (!strchr(pin, '=') || strchr(pin, '\n'))
			usage_error(s->diag, "'--pin' wants 'op NAME FIELD=VALUE' or 'tensor NAME "
				    "FIELD=VALUE', not '%s'", pin);
		fprintf(t.f, "%s\n", pin);
	}
	const char *text = text_take(&t, s->arena);
	a->line = (PlanSource){ "--pin", text, strlen(text) };
	a->request.line = &a->line;
}

enum ExitCode session_plan_file(Session *s, Asked *a, const char *path)
{
	const Bytes b = file_map(s->arena, s->diag, (Loc){ 0 }, path);
	if (!b.data)
		return EXIT_MODEL;
	a->file = (PlanSource){ path, b.data, b.size };
	a->request.file = &a->file;
	return EXIT_OK;
}

enum ExitCode session_asked(Session *s, Asked *a)
{
	const int errors = s->diag->errors;
	*a = (Asked){ .target = session_target(s) };
	if (!a->target)
		return EXIT_USAGE;
	read_objective(s, &a->request);
	a->request.effort = read_count(s, OPT_EFFORT, MOST_EFFORT, "");
	a->request.cores = read_count(s, OPT_CORES, a->target->grid_cols * a->target->grid_rows,
				      arena_printf(s->arena, " cores on %s", a->target->name));
	a->target = with_l1(s, a->target);
	read_pins(s, a);
	if (s->diag->errors > errors)
		return EXIT_USAGE;
	const char *path = option_text(s->opt, OPT_PLAN);
	a->request.whole = option_given(s->opt, OPT_WHOLE_PLAN);
	if (a->request.whole && !path) {
		usage_error(s->diag, "'--whole-plan' is about a file: it wants --plan F.plan");
		return EXIT_USAGE;
	}
	return path ? session_plan_file(s, a, path) : EXIT_OK;
}

/* Field `k` of a step that the file gives and that nobody pinned, and what became of it. */
static const char *unkept(Session *s, const Planned *p, int step, ChoiceField k)
{
	const int asked = choice_get(&p->file->choices[step], k);
	const int now = choice_get(&p->choices[step], k);
	TextFile t;
	if (!(p->file->given[step] >> k & 1) || p->pins[step].fixed >> k & 1 || asked == now)
		return NULL;
	text_open(&t);
	fprintf(t.f, "%s: %s=", choice_step_spelling(p->bare, step), choice_info[k].key);
	choice_write(t.f, k, asked);
	fputs(" has no ! and is now ", t.f);
	choice_write(t.f, k, now);
	return text_take(&t, s->arena);
}

void session_tell_unkept(Session *s, const Planned *p)
{
	Loc at = { 0 };
	const char *first = NULL, *more = "";
	int n = 0;
	for (int i = 0; p->file && i < p->bare->nsteps; i++)
		for (int k = 0; k < CHOICE_COUNT; k++) {
			const char *what = unkept(s, p, i, k);
			n += what != NULL;
			if (!what || first)
				continue;
			first = what;
			at = p->file->where[i].at[k];
		}
	if (n > 1)
		more = arena_printf(s->arena, ", and %d more like it", n - 1);
	if (n)
		diag_note(s->diag, at, "%s%s; --whole-plan keeps all", first, more);
}

bool session_plans_nothing(Session *s, const char *why)
{
	static const OptionId ids[] = { OPT_PLAN, OPT_PIN, OPT_WHOLE_PLAN,
					OPT_OBJECTIVE, OPT_EFFORT, OPT_CORES,
					OPT_L1, OPT_ACT_DTYPE, OPT_WEIGHT_DTYPE };
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		if (option_given(s->opt, ids[i])) {
			usage_error(s->diag, "'%s': %s", option_spelling(ids[i]), why);
			return false;
		}
	return true;
}
