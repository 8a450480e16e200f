/* Tenstorrent's simulator: ttsim:PATH. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/host/device.h"
#include "runtime/host/error.h"
#include "runtime/host/ttsim_child.h"

typedef struct Ttsim {
	TesseraDevice device;
	pid_t child;
	int socket;
	FILE *said; /* what the library printed */
	uint64_t steps;
	bool dead;
} Ttsim;

/* The child has ended: in its own words, why. The last line is the reason, all
 * of the end of what it said the detail. */
static bool died(Ttsim *t, TesseraError *e)
{
	char said[4096];
	int status = 0;

	if (t->dead)
		return rt_fail(e, TESSERA_DEVICE, "%s: the simulator has ended", t->device.name);
	t->dead = true;
	waitpid(t->child, &status, 0);
	t->child = 0;
	if (fseek(t->said, -(long)(sizeof said - 1), SEEK_END) != 0)
		rewind(t->said);
	size_t n = fread(said, 1, sizeof said - 1, t->said);
	while (n && (said[n - 1] == '\n' || said[n - 1] == '\0'))
		n--;
	said[n] = '\0';

	const char *last = strrchr(said, '\n');
	last = last ? last + 1 : said;
	if (*last)
		rt_fail(e, TESSERA_FAULT, "ttsim: %.*s", 480, last);
	else if (WIFSIGNALED(status))
		rt_fail(e, TESSERA_FAULT, "ttsim: the simulator was ended by signal %d",
			WTERMSIG(status));
	else
		rt_fail(e, TESSERA_FAULT, "ttsim: the simulator ended without a word, exit code %d",
			WEXITSTATUS(status));
	if (last != said)
		rt_detail(e, "%s\n", said);
	return false;
}

static bool receive_answer(Ttsim *t, TesseraError *e)
{
	TtsimAnswer a;
	char text[480];

	if (!ttsim_receive(t->socket, &a, sizeof a))
		return died(t, e);
	if (a.good)
		return true;
	const size_t n = a.message < sizeof text - 1 ? a.message : sizeof text - 1;
	if (!ttsim_receive(t->socket, text, n))
		return died(t, e);
	text[n] = '\0';
	return rt_fail(e, TESSERA_BAD_DEVICE, "ttsim: %s", text);
}

static bool ask(Ttsim *t, const TtsimRequest *r, TesseraError *e)
{
	if (t->dead || !ttsim_send(t->socket, r, sizeof *r))
		return died(t, e);
	return true;
}

static bool ttsim_write(TesseraDevice *d, uint32_t x, uint32_t y, uint64_t address,
			const void *from, size_t n, TesseraError *e)
{
	Ttsim *t = (Ttsim *)d;
	const TtsimRequest r = { TTSIM_WRITE, x, y, 0, address, n };

	if (!ask(t, &r, e))
		return false;
	if (!ttsim_send(t->socket, from, n))
		return died(t, e);
	return receive_answer(t, e);
}

static bool ttsim_read(TesseraDevice *d, uint32_t x, uint32_t y, uint64_t address, void *to,
		       size_t n, TesseraError *e)
{
	Ttsim *t = (Ttsim *)d;
	const TtsimRequest r = { TTSIM_READ, x, y, 0, address, n };

	if (!ask(t, &r, e) || !receive_answer(t, e))
		return false;
	return ttsim_receive(t->socket, to, n) || died(t, e);
}

static bool ttsim_advance(TesseraDevice *d, uint64_t steps, TesseraError *e)
{
	Ttsim *t = (Ttsim *)d;
	const TtsimRequest r = { .op = TTSIM_CLOCK, .clocks = (uint32_t)steps };

	if (!ask(t, &r, e) || !receive_answer(t, e))
		return false;
	t->steps += steps;
	return true;
}

static uint64_t ttsim_steps(const TesseraDevice *d)
{
	return ((const Ttsim *)d)->steps;
}

static void ttsim_close(TesseraDevice *d)
{
	Ttsim *t = (Ttsim *)d;

	if (t->socket >= 0)
		close(t->socket);
	while (t->child > 0 && waitpid(t->child, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (t->said)
		fclose(t->said);
	free(t);
}

static const DeviceOps ttsim_ops = {
	.write = ttsim_write,
	.read = ttsim_read,
	.advance = ttsim_advance,
	.close = ttsim_close,
	.steps = ttsim_steps,
};

/* In the child: nothing of the parent's stays open but what it was given. */
static _Noreturn void become_child(const char *path, int socket, int said)
{
	enum { SOCKET = 3, MANY = 1024 };

	if (dup2(said, STDOUT_FILENO) < 0 || dup2(said, STDERR_FILENO) < 0 ||
	    (socket != SOCKET && dup2(socket, SOCKET) < 0))
		_exit(1);
	for (int fd = SOCKET + 1; fd < MANY; fd++)
		close(fd);
	ttsim_child(path, SOCKET);
}

static bool start_child(Ttsim *t, const char *path, TesseraError *e)
{
	int pair[2];

	t->said = tmpfile();
	if (!t->said || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return rt_fail(e, TESSERA_DEVICE, "ttsim: %s", strerror(errno));
	fflush(NULL); /* or the child prints it again */
	t->child = fork();
	if (t->child == 0)
		become_child(path, pair[1], fileno(t->said));
	close(pair[1]);
	t->socket = pair[0];
	if (t->child < 0)
		return rt_fail(e, TESSERA_DEVICE, "ttsim: %s", strerror(errno));
	return receive_answer(t, e);
}

TesseraDevice *device_open_ttsim(const char *rest, TesseraError *e)
{
	if (!*rest) {
		rt_fail(e, TESSERA_BAD_DEVICE, "ttsim: give the library too: ttsim:PATH");
		return NULL;
	}
	Ttsim *t = calloc(1, sizeof *t);
	if (!t) {
		rt_fail(e, TESSERA_NO_MEMORY, "out of memory");
		return NULL;
	}
	t->device = (TesseraDevice){ .ops = &ttsim_ops, .limits.seconds = 120 };
	t->socket = -1;
	if (!start_child(t, rest, e)) {
		ttsim_close(&t->device);
		return NULL;
	}
	return &t->device;
}
