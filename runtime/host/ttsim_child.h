/*
 * The process in which libttsim lives. It ends its process at the first thing
 * it dislikes and has one chip per process, so each device has a child of its
 * own and talks with it over a socket: a request, then an answer.
 */
#ifndef RUNTIME_HOST_TTSIM_CHILD_H
#define RUNTIME_HOST_TTSIM_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum TtsimOp { TTSIM_WRITE, TTSIM_READ, TTSIM_CLOCK } TtsimOp;

/* The bytes of a write follow it. */
typedef struct TtsimRequest {
	uint32_t op; /* TtsimOp */
	uint32_t x, y;
	uint32_t clocks;
	uint64_t address, bytes;
} TtsimRequest;

/* The bytes of a read follow it, or those of a message. One comes unasked
 * when the library is open, or cannot be. */
typedef struct TtsimAnswer {
	uint32_t good;
	uint32_t message; /* bytes of it, if not good */
} TtsimAnswer;

/* Opens the library and answers until the other side closes the socket. */
_Noreturn void ttsim_child(const char *path, int socket);

/* All n bytes, or false. */
bool ttsim_send(int socket, const void *from, size_t n);
bool ttsim_receive(int socket, void *to, size_t n);

#endif
