/*
 * Protobuf messages from untrusted bytes.
 *
 * protobuf-c recurses as deep as the bytes tell it to and allocates what they
 * ask for. So the bytes are walked once before it sees them, with the
 * message's descriptor as guide: every length must fit into what encloses it
 * and messages may nest only so far. Then it unpacks through an allocator
 * that has a budget in proportion to the file.
 */
#include "frontend/onnx_import.h"

#include <inttypes.h>

enum { MAX_NESTING = 100 };

/* What small files may unpack to; empty sub-messages grow by about 100. */
#define FREE_BYTES ((size_t)256 << 20)

typedef struct Wire {
	Diag *diag;
	const char *file;
	const uint8_t *start; /* of the file */
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

static bool scan(const Wire *w, const ProtobufCMessageDescriptor *type, const uint8_t *at,
		 const uint8_t *end, int depth)
{
	if (depth > MAX_NESTING) {
		diag_error(w->diag, (Loc){ .file = w->file },
			   "messages nest more than %d deep at byte %td", MAX_NESTING, at - w->start);
		return false;
	}
	while (at < end) {
		uint64_t tag, body = 0;
		size_t n = read_varint(at, end, &tag);
		if (n == 0 || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
			return malformed(w, at, "no field");
		const unsigned wire_type = tag & 7;
		const ProtobufCFieldDescriptor *field =
			protobuf_c_message_descriptor_get_field(type, (unsigned)(tag >> 3));
		const uint8_t *next = skip_field(w, at + n, end, wire_type, field, &body);
		if (!next)
			return false;
		if (field && field->type == PROTOBUF_C_TYPE_MESSAGE && wire_type == 2 &&
		    !scan(w, field->descriptor, next - body, next, depth + 1))
			return false;
		at = next;
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

void *onnx_unpack(Arena *a, Diag *d, const char *file, const ProtobufCMessageDescriptor *type,
		  Bytes bytes)
{
	const uint8_t *data = (const uint8_t *)bytes.data;
	const Wire w = { d, file, data };
	Allowance b = { .arena = a, .left = FREE_BYTES + 2 * bytes.size };

	b.allocator = (ProtobufCAllocator){ take, give_back, &b };
	if (!scan(&w, type, data, data + bytes.size, 0))
		return NULL;
	void *message = protobuf_c_message_unpack(type, &b.allocator, bytes.size, data);
	if (!message && b.exceeded)
		diag_error(d, (Loc){ .file = file }, "unpacks to more than %zu bytes",
			   FREE_BYTES + 2 * bytes.size);
	else if (!message)
		diag_error(d, (Loc){ .file = file }, "not a %s: a field is of the wrong kind",
			   type->short_name);
	return message;
}
