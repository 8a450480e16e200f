/*
 * Random nets with random pins, all the way: passes, planner, lowering, emission, and
 * the emulator against the plain executor.
 *
 *     test_random_nets FIRST COUNT [DEVICE]       on emu:fast, or another device
 *     test_random_nets FIRST COUNT DEVICE cover   fails if anything was not come by
 *     test_random_nets FIRST COUNT metal          projects for TT-Metal leave the same bytes
 *
 * Net `seed` is the same whatever the others. Pins that cannot be must be told of
 * where they stand; then the net is tried without. A net that is refused with no pins
 * and all there is of the device is counted, and wrong if it is not for want of room;
 * of a hundred nets three may be.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "passes/pass.h"
#include "passes/planner.h"
#include "tests/metal/project.h"
#include "tests/network.h"
#include "tests/random_covers.h"
#include "tests/random_pins.h"

enum { MOST_PINS = 6, MOST_REFUSED = 3 /* of a hundred */, MOST_EDGES = 32 };

typedef struct Trial {
	uint64_t seed;
	Rng rng;
	Arena *arena;
	const char *device;
	RandomNet *n;
	const Target *target;
	PlanRequest request;
	RandomPin pins[MOST_PINS];
	int npins;
	Planned planned;
	const char *said; /* by whoever refused it last */
} Trial;

static struct {
	int nets, right, wrong, refused, pinned, pins, dropped, roomless;
	double worst;
	Covers covers;
} seen;

/* What is being told, for who dies in the middle of it. */
static const TextFile *telling;
static const char *pinned_by;

static void tell(void)
{
	if (!telling)
		return;
	fflush(telling->f);
	fprintf(stderr, "%s%s", telling->text, pinned_by);
}

static void wrong(Trial *t, const char *what)
{
	printf("net %llu WRONG: %s\n", (unsigned long long)t->seed, what);
	graph_print(t->n->g, stdout);
	for (int i = 0; i < t->npins; i++)
		printf("pin: %s", t->pins[i].line);
	seen.wrong++;
}

/* As far as the pins, or to a plan. What is said is kept, and no error of the graph. */
static PlanOutcome attempt(Trial *t, bool search)
{
	TextFile lines, told;
	text_open(&lines);
	text_open(&told);
	for (int i = 0; i < t->npins; i++)
		fputs(t->pins[i].line, lines.f);
	const char *text = text_take(&lines, t->arena);
	PlanSource *source = arena_new(t->arena, PlanSource);
	*source = (PlanSource){ "pins", text, strlen(text) };
	PlanRequest *r = arena_new(t->arena, PlanRequest);
	*r = t->request;
	r->line = t->npins ? source : NULL;
	Graph *g = t->n->g;
	Diag *was = g->diag, d = { .to = told.f };
	g->diag = &d;
	telling = &told;
	pinned_by = text;
	const PlanOutcome how = search ? planner_run(g, t->target, r, &t->planned)
				       : planner_pins(g, t->target, r, &t->planned);
	g->diag = was;
	telling = NULL;
	diag_finish(&d);
	t->said = text_take(&told, t->arena);
	return how;
}

/* The pin that was added last cannot be: that must be said where it stands. */
static bool drop(Trial *t, PlanOutcome how)
{
	const char *where = arena_printf(t->arena, "pins:%d:", t->npins);
	seen.dropped++;
	seen.covers.pins_refused[t->pins[t->npins - 1].field]++;
	if (how == PLAN_WRONG && (!strstr(t->said, "error: ") || !strstr(t->said, "pins:"))) {
		wrong(t, arena_printf(t->arena, "a pin was refused without %s %s", where, t->said));
		return false;
	}
	t->npins--;
	return true;
}

/* Pins at random, of which those that cannot be are left out again. */
static bool add_pins(Trial *t)
{
	const int want = (int)rng_below(&t->rng, MOST_PINS + 1);
	for (int tries = 0; tries < 40 && t->npins < want; tries++) {
		if (!random_pin(t->arena, &t->rng, t->planned.bare, &t->pins[t->npins]))
			continue;
		t->npins++;
		const PlanOutcome how = attempt(t, false);
		if (how != PLANNED && !drop(t, how))
			return false;
	}
	return true;
}

/* On any number of cores, in little L1 or all, by any objective but the slowest. */
static PlanRequest some_request(Rng *r)
{
	static const int cores[] = { 0, 0, 0, 1, 2, 3, 5, 8, 16, 24, 40 };
	static const Objective objectives[] = { OBJECTIVE_TIME, OBJECTIVE_TIME, OBJECTIVE_RESHARDS,
						OBJECTIVE_GREEDY };
	return (PlanRequest){ .effort = 1, .cores = cores[rng_below(r, 11)],
			      .objective = objectives[rng_below(r, 4)],
			      .room = rng_below(r, 4) ? 0 : 32768 << rng_below(r, 4) };
}

/* Does some tensor have three readers? With many cores a search takes long then. */
static bool is_read_often(const Plan *bare)
{
	for (int i = 0; i < bare->ntensors; i++) {
		int readers = 0;
		for (int s = 0; s < bare->nsteps; s++)
			for (int k = 0; k < bare->steps[s].nin; k++)
				readers += bare->steps[s].in[k].tensor == bare->tensors[i];
		if (readers > 2)
			return true;
	}
	return false;
}

/* A plan, with as many of the pins as there is one for. */
static bool find_plan(Trial *t)
{
	PlanOutcome how = attempt(t, false);
	if (how != PLANNED)
		return false;
	if (t->planned.bare->cores > 5 && is_read_often(t->planned.bare))
		t->request.objective = OBJECTIVE_GREEDY;
	if (!add_pins(t))
		return false;
	while ((how = attempt(t, true)) != PLANNED) {
		if (t->npins) {
			if (!drop(t, how))
				return false;
		} else if (t->request.room || t->request.cores) {
			seen.roomless++;
			t->request.room = t->request.cores = 0;
		} else if (t->request.objective == OBJECTIVE_GREEDY) {
			t->request.objective = OBJECTIVE_TIME;
		} else {
			return false;
		}
	}
	return true;
}

static void note(Trial *t)
{
	covers_graph(&seen.covers, t->n->g);
	covers_plan(&seen.covers, t->planned.plan);
	seen.covers.seen[COVER_little_room] += t->request.room > 0;
	for (int i = 0; i < t->npins; i++)
		seen.covers.pins[t->pins[i].field]++;
	seen.pins += t->npins;
	seen.pinned += t->npins > 0;
}

static bool run(Trial *t, const Network *net, Tensor *y[], TesseraError *e)
{
	TesseraArray from[NET_INPUTS], to[MOST_EDGES];
	TesseraDevice *d = tessera_device_open(t->device, e);
	TesseraProgram *p = d ? tessera_load(d, net->opened, e) : NULL;
	for (int i = 0; i < t->n->nx; i++) {
		const TesseraTensor x = tessera_input(net->opened, (size_t)i);
		from[i] = tessera_array(&x, (void *)(uintptr_t)t->n->x[i]->data);
	}
	for (int i = 0; i < t->n->nout; i++) {
		const TesseraTensor o = tessera_output(net->opened, (size_t)i);
		y[i] = tensor_create(t->arena, TYPE_F32, t->n->v[t->n->out[i]].value->shape);
		to[i] = tessera_array(&o, tensor_f32_data(y[i]));
	}
	const bool ok = p && tessera_run(p, from, (size_t)t->n->nx, to, (size_t)t->n->nout, e);
	tessera_unload(p);
	tessera_device_close(d);
	return ok;
}

/* The largest error over what is allowed; of exact nets 0 or infinite. */
static double compare(const Tensor *got, const Tensor *want, double allowed)
{
	double worst = 0;
	for (int64_t i = 0; i < tensor_count(want); i++) {
		const double error = fabs(tensor_f64(got, i) - tensor_f64(want, i));
		if (allowed > 0 && error < INFINITY)
			worst = fmax(worst, error / allowed);
		else if (!(error <= allowed))
			worst = INFINITY;
	}
	return worst;
}

/* As they come one after the other: every way to run them. */
static void judge_project(Trial *t, const Network *net)
{
	static const ProjectTest ways[] = {
		{ .options = "slots=1" },
		{ .options = "queues=2 slots=2", .runs = 3 },
		{ .options = "queues=2 apart trace slots=3", .runs = 4 },
		{ .options = "trace slots=2", .runs = 3 },
		{ .options = "mesh=1x2 slots=2", .runs = 2, .devices = 2 },
		{ .options = "again", .runs = 2 },
	};
	const ProjectTest *way = &ways[t->seed % (sizeof ways / sizeof *ways)];
	const char *name = arena_printf(t->arena, "net_%llu", (unsigned long long)t->seed);

	if (project_same(net, name, t->seed, way)) {
		printf(" %s\n", way->options);
		seen.right++;
	} else {
		wrong(t, way->options);
		plan_print(net->plan, stdout);
	}
}

static void judge(Trial *t, const Network *net)
{
	Tensor *y[MOST_EDGES];
	TesseraError e;
	double worst = 0;
	if (!run(t, net, y, &e)) {
		wrong(t, arena_printf(t->arena, "%s\n%s", e.text, e.detail));
		plan_print(net->plan, stdout);
		return;
	}
	for (int i = 0; i < t->n->nout; i++)
		worst = fmax(worst, compare(y[i], t->n->v[t->n->out[i]].value,
					    random_net_allowed(t->n, net->plan, i)));
	if (worst > 1) {
		wrong(t, arena_printf(t->arena, "error %g of what is allowed", worst));
		plan_print(net->plan, stdout);
		return;
	}
	printf(" %.2f\n", worst);
	seen.worst = fmax(seen.worst, worst);
	seen.right++;
}

/* Why it was refused is about room, or it is wrong. */
static void refused(Trial *t)
{
	const bool room = t->planned.bare && !t->npins && !strstr(t->said, "error: ");
	if (room || strstr(t->said, "bytes of L1") || strstr(t->said, "of DRAM")) {
		printf(" refused: %s\n", *t->said ? t->said : "nothing fits into L1");
		seen.refused++;
		return;
	}
	wrong(t, t->said);
}

static void one_net(uint64_t seed, const char *device)
{
	Arena *a = arena_create();
	TextFile told;
	text_open(&told);
	Diag d = { .to = told.f };
	Trial t = { .seed = seed, .arena = a, .device = device, .said = "" };
	printf("net %llu:", (unsigned long long)seed);
	fflush(stdout);
	t.n = random_net(a, &d, seed);
	t.rng.state = rng_next(&t.n->rng);
	t.request = some_request(&t.rng);
	t.target = target_load(a, &d, "wormhole_n150");
	covers_net(&seen.covers, t.n);
	seen.nets++;
	printf(" %d ops, %d outputs,", t.n->nv - t.n->nx, t.n->nout);
	fflush(stdout);
	const int before = seen.wrong;
	Network *net = NULL;
	if (passes_run(t.n->g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 })
	    && find_plan(&t)) {
		printf(" %d pins, %d steps, %d cores,", t.npins, t.planned.plan->nsteps,
		       t.planned.plan->cores);
		fflush(stdout);
		note(&t);
		net = network_of_plan(t.n->g, t.planned.plan);
	}
	const char *said = text_take(&told, a);
	if (net && strcmp(device, "metal") == 0)
		judge_project(&t, net);
	else if (net)
		judge(&t, net);
	else if (seen.wrong == before) {
		t.said = *said ? said : t.said;
		refused(&t);
	}
	network_free(net);
	diag_finish(&d);
	arena_destroy(a);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: test_random_nets FIRST COUNT [DEVICE [cover]]\n");
		return 2;
	}
	atexit(tell);
	const uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
	for (uint64_t seed = first; seed < first + count; seed++)
		one_net(seed, argc > 3 ? argv[3] : "emu:fast");
	const int missing = covers_print(&seen.covers);
	printf("%d nets from seed %llu on: %d right, %d wrong, %d refused, error %.2f of the bound; "
	       "%d pins on %d of them, %d could not be; %d had no plan in the L1 or cores asked for\n",
	       seen.nets, (unsigned long long)first, seen.right, seen.wrong, seen.refused,
	       seen.worst, seen.pins, seen.pinned, seen.dropped, seen.roomless);
	if (argc > 4 && missing)
		printf("%d rows of the table are empty\n", missing);
	return seen.wrong || seen.refused * 100 > seen.nets * MOST_REFUSED || (argc > 4 && missing)
		? EXIT_FAILURE : EXIT_SUCCESS;
}
