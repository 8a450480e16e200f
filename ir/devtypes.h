/*
 * The formats a tensor may have on the device. Plain C and no includes: the
 * device library reads it too.
 *
 * A value of DevTypes is a set, which choose_dtypes fills and the plan
 * chooses one member from.
 */
#ifndef IR_DEVTYPES_H
#define IR_DEVTYPES_H

typedef enum DevTypes {
	DEV_UNSET = 0,
	DEV_BF16 = 1 << 0,   /* the upper half of an f32 */
	DEV_BFP8_B = 1 << 1, /* sign and 7 bits each, one 8-bit exponent for 16 values */
	DEV_F32 = 1 << 2,    /* as sums are in Dst; products read the bits that TF32 has */
} DevTypes;

enum { DEV_TYPE_COUNT = 3 };

/* Bytes of the 16 values of a pixel; exponents stand elsewhere. */
static inline int dev_pixel_bytes(DevTypes type)
{
	return type == DEV_F32 ? 64 : type == DEV_BFP8_B ? 16 : 32;
}

/* The spelling of each bit of DevTypes. */
extern const char *const dev_type_names[DEV_TYPE_COUNT];

/* Of one format; "no format" if it is none. */
const char *dev_type_name(DevTypes type);

#endif
