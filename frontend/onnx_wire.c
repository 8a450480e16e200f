/*
 * Protobuf messages from untrusted bytes.
 *
 * protobuf-c recurses as deep as the bytes tell it to, allocates what they
 * ask for, and copies all of them. So it does not see them: it sees a copy,
 * made with the message's descriptor as guide, in which every length fits into
 * what encloses it, messages nest only so far, fields nobody knows are gone,
 * and in the place of large raw_data stands a note where that lies. Then it
 * unpacks through an allocator that has a budget in proportion to the copy.
 */
#include "frontend/onnx_import.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 100 };

/* What small files may unpack to; empty sub-messages grow by about 100. */
#define FREE_BYTES ((size_t)256 << 20)

/* A field no message has holds the note: the bytes of an OnnxRaw. */
enum { RAW_DATA = 9, RAW_NOTE = 1000, RAW_LEAST = 256 };

/* Lengths in the copy are written last, in as many bytes. */
enum { LENGTH_BYTES = 5 };

typedef struct Wire {
	Diag *diag;
	const char *file;
	const uint8_t *start; /* of the file */
	uint8_t *copy;
	size_t n, room;
} Wire;

typedef struct Allowance {
	ProtobufCAllocator allocator;
	Arena *arena;
	size_t left;
	bool exceeded;
} Allowance;

static bool malformed(const Wire *w, const uint8_t *at, const char *why)
{
	diag_error(w->diag, (Loc){ .file = w->file },
		   "truncated, or not a protobuf message: %s at byte %td", why, at - w->start);
	return false;
}

/* The bytes of a varint, 0 if it does not end before `end`. */
static size_t read_varint(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < 10 && at + i < end; i++) {
		*value |= (uint64_t)(at[i] & 0x7f) << (7 * i);
		if (at[i] < 0x80)
			return i + 1;
	}
	return 0;
}

static bool too_long(const Wire *w, const uint8_t *at, const ProtobufCFieldDescriptor *field,
		     uint64_t wanted, uint64_t left)
{
	diag_error(w->diag, (Loc){ .file = w->file },
		   "truncated, or not a protobuf message: %s at byte %td has %" PRIu64
		   " bytes, only %" PRIu64 " are left",
		   field ? field->name : "a field", at - w->start, wanted, left);
	return false;
}

/* Where the field after this one begins, or NULL. Sets *body to the length of
 * a length-delimited one, whose bytes end there. */
static const uint8_t *skip_field(const Wire *w, const uint8_t *at, const uint8_t *end,
				 unsigned wire_type, const ProtobufCFieldDescriptor *field,
				 uint64_t *body)
{
	static const uint8_t fixed[8] = { [1] = 8, [5] = 4 };
	size_t n = wire_type == 0 || wire_type == 2 ? read_varint(at, end, body) : fixed[wire_type];

	if (n == 0 || n > (size_t)(end - at)) {
		malformed(w, at, wire_type == 3 || wire_type == 4 ? "a group" : "a broken field");
		return NULL;
	}
	at += n;
	if (wire_type != 2)
		return at;
	if (*body > (uint64_t)(end - at)) {
		too_long(w, at, field, *body, (uint64_t)(end - at));
		return NULL;
	}
	return at + *body;
}

static void append(Wire *w, const void *data, size_t n)
{
	while (w->room - w->n < n)
		w->copy = xrealloc(w->copy, w->room = w->room ? 2 * w->room : 4096);
	memcpy(w->copy + w->n, data, n);
	w->n += n;
}

/* The length of all that was appended since `hole`, which was left for it. */
static bool fill_length(Wire *w, size_t hole)
{
	size_t length = w->n - hole - LENGTH_BYTES;
	if (length > INT32_MAX) {
		diag_error(w->diag, (Loc){ .file = w->file }, "a message has more than 2^31 bytes");
		return false;
	}
	for (size_t i = 0; i < LENGTH_BYTES; i++, length >>= 7)
		w->copy[hole + i] = (length & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0);
	return true;
}

static void append_note(Wire *w, const uint8_t *data, size_t size)
{
	const uint8_t head[] = { (RAW_NOTE << 3 & 0x7f) | 2 | 0x80, RAW_NOTE >> 4,
				 sizeof(OnnxRaw) };
	const OnnxRaw note = { data, size };
	append(w, head, sizeof head);
	append(w, &note, sizeof note);
}

bool onnx_raw(const Onnx__TensorProto *t, OnnxRaw *raw)
{
	*raw = (OnnxRaw){ t->raw_data.data, t->raw_data.len };
	for (size_t i = 0; i < t->base.n_unknown_fields; i++) {
		const ProtobufCMessageUnknownField *f = &t->base.unknown_fields[i];
		if (f->tag != RAW_NOTE)
			continue;
		/* Behind the length, which takes one byte. */
		memcpy(raw, f->data + 1, sizeof *raw);
		return true;
	}
	return t->has_raw_data;
}

static bool copy_message(Wire *w, const ProtobufCMessageDescriptor *type, const uint8_t *at,
			 const uint8_t *end, int depth)
{
	static const uint8_t hole[LENGTH_BYTES];

	if (depth > MAX_NESTING) {
		diag_error(w->diag, (Loc){ .file = w->file },
			   "messages nest more than %d deep at byte %td", MAX_NESTING, at - w->start);
		return false;
	}
	for (const uint8_t *next; at < end; at = next) {
		uint64_t tag, body = 0;
		const size_t n = read_varint(at, end, &tag);
		if (n == 0 || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
			return malformed(w, at, "no field");
		const bool delimited = (tag & 7) == 2;
		const ProtobufCFieldDescriptor *field =
			protobuf_c_message_descriptor_get_field(type, (unsigned)(tag >> 3));
		next = skip_field(w, at + n, end, tag & 7, field, &body);
		if (!next)
			return false;
		if (!field)
			continue;
		if (delimited && type == &onnx__tensor_proto__descriptor && field->id == RAW_DATA &&
		    body >= RAW_LEAST) {
			append_note(w, next - body, body);
		} else if (delimited && field->type == PROTOBUF_C_TYPE_MESSAGE) {
			append(w, at, n);
			const size_t from = w->n;
			append(w, hole, sizeof hole);
			if (!copy_message(w, field->descriptor, next - body, next, depth + 1) ||
			    !fill_length(w, from))
				return false;
		} else {
			append(w, at, (size_t)(next - at));
		}
	}
	return true;
}

static void *take(void *allowance, size_t size)
{
	Allowance *b = allowance;
	if (size > b->left) {
		b->exceeded = true;
		return NULL;
	}
	b->left -= size;
	return arena_alloc(b->arena, size);
}

/* Arena memory goes with the arena. */
static void give_back(void *allowance, void *p)
{
	(void)allowance;
	(void)p;
}

static void *unpack(Wire *w, Arena *a, const ProtobufCMessageDescriptor *type)
{
	const size_t most = FREE_BYTES + 2 * w->n;
	Allowance b = { .arena = a, .left = most };

	b.allocator = (ProtobufCAllocator){ take, give_back, &b };
	void *message = protobuf_c_message_unpack(type, &b.allocator, w->n, w->copy);
	if (!message && b.exceeded)
		diag_error(w->diag, (Loc){ .file = w->file }, "unpacks to more than %zu bytes", most);
	else if (!message)
		diag_error(w->diag, (Loc){ .file = w->file },
			   "not a %s: a field is of the wrong kind", type->short_name);
	return message;
}

void *onnx_unpack(Arena *a, Diag *d, const char *file, const ProtobufCMessageDescriptor *type,
		  Bytes bytes)
{
	const uint8_t *data = (const uint8_t *)bytes.data;
	Wire w = { .diag = d, .file = file, .start = data };
	void *message = NULL;

	if (copy_message(&w, type, data, data + bytes.size, 0))
		message = unpack(&w, a, type);
	free(w.copy);
	return message;
}
