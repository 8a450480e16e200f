/* A loop cut into pieces that threads take one after the other. */
#include "runtime/ref/ref_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
	MAX_THREADS = 64,
	PIECES_EACH = 8,          /* so that a late thread delays little */
	WORTH_A_THREAD = 200000,  /* nanoseconds */
};

typedef struct Loop {
	int64_t n, piece;
	_Atomic int64_t next;
	RefBody *body;
	void *context;
} Loop;

static void *take_pieces(void *arg)
{
	Loop *l = arg;
	int64_t from;
	while ((from = atomic_fetch_add(&l->next, l->piece)) < l->n)
		l->body(l->context, from, from + l->piece < l->n ? from + l->piece : l->n);
	return NULL;
}

static int64_t threads_for(int wanted, int64_t n, double work)
{
	int64_t threads = wanted > 0 ? wanted : sysconf(_SC_NPROCESSORS_ONLN);
	double useful = (double)n * work / WORTH_A_THREAD;
	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	if (useful < (double)threads)
		threads = (int64_t)useful + 1;
	return threads < 1 ? 1 : threads < n ? threads : n;
}

void ref_parallel(int threads, int64_t n, double work, RefBody *body, void *context)
{
	if (n <= 0)
		return;
	int64_t count = threads_for(threads, n, work);
	int64_t piece = n / (count * PIECES_EACH);
	Loop l = { .n = n, .piece = count == 1 ? n : piece ? piece : 1,
		   .body = body, .context = context };
	pthread_t other[MAX_THREADS];
	int64_t started = 0;

	/* A thread that cannot be had is not missed: the others take its pieces. */
	while (started < count - 1 &&
	       pthread_create(&other[started], NULL, take_pieces, &l) == 0)
		started++;
	take_pieces(&l);
	for (int64_t i = 0; i < started; i++)
		pthread_join(other[i], NULL);
}
