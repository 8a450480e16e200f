/* Unpackers: L1 into SrcA, SrcB and Dst (Unpackers/README.md, UNPACR_Regular.md). */
#include "runtime/emu/tensix.h"

#include <string.h>

#include "ir/cost.h"
#include "runtime/emu/convert.h"
#include "runtime/emu/core.h"
#include "runtime/emu/shadow.h"

/* Configuration of unpacker 1 lies this many words after that of unpacker 0. */
enum { SECTION = 40 };

/* SrcA's first rows are counted from its fifth (UNPACR_Regular.md). */
enum { SRCA_SKIPPED = 64 };

static uint32_t section_field(const uint32_t *cfg, CfgField f, int unpacker)
{
	f.word = (uint8_t)(f.word + SECTION * unpacker);
	return cfg_field(cfg, f);
}

static bool formats_known(const UnpackPlan *p)
{
	if (p->in == FORMAT_FP32 && p->to_dst)
		return p->out == FORMAT_FP32 || p->out == FORMAT_TF32;
	if (p->in == FORMAT_FP32)
		return p->out == FORMAT_TF32 || p->out == FORMAT_BF16;
	return (p->in == FORMAT_BF16 || p->in == FORMAT_BFP8) && p->out == p->in && !p->to_dst;
}

static void plan_addresses(UnpackPlan *p, const uint32_t *cfg, int unpacker, uint32_t context)
{
	uint32_t descriptor = section_field(cfg, CFG_THCON_SEC0_REG0_TileDescriptor, unpacker);
	uint32_t sizes = cfg[CFG_THCON_SEC0_REG0_TileDescriptor.word + 1 + SECTION * unpacker];
	uint32_t widths = cfg[CFG_THCON_SEC0_REG5_Tile_x_dim_cntx0.word];
	uint32_t x = unpacker ? descriptor >> 16 : widths >> (16 * context) & 0xffff;
	uint32_t y = sizes & 0xff, z = sizes >> 16 & 0xff;
	uint32_t xy = cfg[unpacker ? CFG_UNP1_ADDR_CTRL_XY_REG_1_Ystride.word
	                           : CFG_UNP0_ADDR_CTRL_XY_REG_1_Ystride.word];
	uint32_t zw = cfg[unpacker ? CFG_UNP1_ADDR_CTRL_ZW_REG_1_Zstride.word
	                           : CFG_UNP0_ADDR_CTRL_ZW_REG_1_Zstride.word];

	z = z ? z : 1;
	p->y_step = x;
	p->z_step = x * y;
	p->w_step = x * y * z;
	p->to_y_step = xy >> 12 & 0xfff;
	p->to_z_step = zw & 0xfff;
	p->to_align = format_bits(p->out) / 8;
	refuse(&p->refusal, "Ystride or Zstride not a multiple of a datum",
	       (p->to_y_step | p->to_z_step | zw >> 12) & (p->to_align - 1));
	context += SECTION * (uint32_t)unpacker;
	p->base_word = CFG_THCON_SEC0_REG3_Base_address.word + context;
	p->offset = cfg[CFG_THCON_SEC0_REG7_Offset_address.word + context] & 0xffff;
	if (p->in == FORMAT_BFP8 && !p->forced_exponent) {
		refuse(&p->refusal, "NoBFPExpSection", descriptor >> 5 & 1);
		p->exponents = ((p->w_step + 15) / 16 + 15) & ~15u;
	}
	if (!unpacker) {
		uint32_t starts = cfg[CFG_THCON_SEC0_REG5_Dest_cntx0_address.word];

		p->to = starts >> (16 * context) & 0xffff;
		p->add_to = p->to_dst ||
		            cfg_field(cfg, CFG_UNP0_ADD_DEST_ADDR_CNTR_add_dest_addr_cntr);
	}
}

/* Modes of REG2: how rows are read, and how fast, which decides whether rows
 * of SrcA get lost. */
static void plan_modes(UnpackPlan *p, const uint32_t *cfg, int unpacker, uint32_t context)
{
	uint32_t shift = cfg[CFG_THCON_SEC0_REG2_Shift_amount_cntx0.word] >> 16;
	uint32_t throttle = section_field(cfg, CFG_THCON_SEC0_REG2_Throttle_mode, unpacker);

	p->haloize = section_field(cfg, CFG_THCON_SEC0_REG2_Haloize_mode, unpacker);
	p->tileize = section_field(cfg, CFG_THCON_SEC0_REG2_Tileize_mode, unpacker);
	p->forced_exponent = section_field(cfg, CFG_THCON_SEC0_REG2_Force_shared_exp, unpacker);
	p->exponent = cfg[unpacker ? CFG_UNP1_FORCED_SHARED_EXP_shared_exp.word
	                           : CFG_UNP0_FORCED_SHARED_EXP_shared_exp.word] & 0xff;
	refuse(&p->refusal, "Haloize_mode or Tileize_mode of unpacker", unpacker && (p->haloize || p->tileize));
	refuse(&p->refusal, "Haloize_mode into Dst", p->haloize && p->to_dst);
	refuse(&p->refusal, "Upsample_rate", section_field(cfg, CFG_THCON_SEC0_REG2_Upsample_rate, unpacker));
	refuse(&p->refusal, "Upsample_and_interleave",
	       section_field(cfg, CFG_THCON_SEC0_REG2_Upsample_and_interleave, unpacker));
	refuse(&p->refusal, "Ovrd_data_format",
	       section_field(cfg, CFG_THCON_SEC0_REG2_Ovrd_data_format, unpacker));
	refuse(&p->refusal, "Throttle_mode", throttle > 2);
	p->row_step = 2 * p->bits;
	if (p->tileize)
		p->row_step = (shift & 0xfff) << 4;
	else if (!unpacker)
		refuse(&p->refusal, "Shift_amount", shift >> (4 * context) & 15);
	p->burst = (16u << (p->tileize ? 2 : throttle & 3)) / (2 * p->bits);
	p->burst = p->burst < 1 ? 1 : p->burst > 8 ? 8 : p->burst;
}

static void make_plan(Tensix *t, int thread, int unpacker)
{
	const uint16_t *own = t->thread[thread].cfg;
	const uint32_t *cfg = tensix_cfg(t, thread);
	uint32_t context = thread_field(own, unpacker ? TCFG_UNPACK_MISC_CFG_CfgContextOffset_1
	                                              : TCFG_UNPACK_MISC_CFG_CfgContextOffset_0);
	uint32_t reg2 =
		cfg[CFG_THCON_SEC0_REG2_Disable_zero_compress_cntx0.word + SECTION * unpacker];
	UnpackPlan *p = &t->unpack[unpacker];
	bool by_address = thread_field(own, TCFG_SRCA_SET_SetOvrdWithAddr);

	*p = (UnpackPlan){ .version = t->version, .thread = thread };
	refuse(&p->refusal, "CfgContextOffset", context > 1 ? context : 0);
	if (p->refusal.field)
		return;
	p->in = section_field(cfg, CFG_THCON_SEC0_REG0_TileDescriptor, unpacker) & 15;
	p->out = section_field(cfg, CFG_THCON_SEC0_REG2_Out_data_format, unpacker);
	p->bits = format_bits(p->in);
	p->to_dst = !unpacker && reg2 >> (4 + context) & 1;
	refuse(&p->refusal, "tile that is compressed, context", reg2 >> context & 1 ? 0 : context + 1);
	refuse(&p->refusal, "data formats (in << 4 | out)", formats_known(p) ? 0 : p->in << 4 | p->out | 0x100);
	refuse(&p->refusal, "SRCA_SET_SetOvrdWithAddr", by_address == p->to_dst ? 1 + by_address : 0);
	plan_modes(p, cfg, unpacker, context);
	plan_addresses(p, cfg, unpacker, context);
}

/* Where one UNPACR reads and writes. */
typedef struct Run {
	uint32_t at;        /* bytes, in L1 */
	uint32_t exponents; /* sixteenths of a byte, in L1 */
	uint32_t row;       /* first one it writes */
	uint32_t count;     /* data */
} Run;

static uint64_t run_end(const UnpackPlan *p, const Run *r)
{
	uint32_t rows = (r->count - 1) / ROW_VALUES, bytes = p->bits / 8;
	uint64_t last = r->at + (uint64_t)p->row_step * rows + bytes * ((r->count - 1) % 16 + 1);
	uint64_t before = rows ? r->at + (uint64_t)p->row_step * (rows - 1) + bytes * 16 : 0;

	return last > before ? last : before;
}

/* NULL, or what is wrong with the run. */
static const char *place(const Tensix *t, int thread, int unpacker, Run *r)
{
	const UnpackPlan *p = &t->unpack[unpacker];
	const AdcChannel *from = &t->thread[thread].adc[unpacker].ch[0], *to = from + 1;
	uint32_t base = (tensix_cfg(t, thread)[p->base_word] + p->offset + 1) << 4;
	uint32_t first = from->x + from->y * p->y_step + from->z * p->z_step + from->w * p->w_step;
	uint32_t start = (to->y * p->to_y_step + to->z * p->to_z_step) / p->to_align;

	if (to->w)
		return "channel 1 w";
	if (from->x > to->x)
		return "x range that is empty";
	r->count = to->x - from->x + 1;
	r->exponents = (base << 4) + first;
	r->at = (((base + p->exponents) << 3) + first * p->bits) >> 3;
	if ((p->haloize || p->tileize) && r->at & 15)
		return "unaligned address";
	if (!unpacker) {
		start = p->add_to ? start + p->to : p->to;
		if (start < SRCA_SKIPPED)
			return "start in rows that are skipped";
		start -= SRCA_SKIPPED;
	}
	if (start % ROW_VALUES)
		return "start inside a row";
	r->row = start / ROW_VALUES;
	if (!p->to_dst && !unpacker && r->count > ROW_VALUES && r->row & (p->burst - 1))
		return "first row, at which writes get lost";
	if (start + r->count > (uint32_t)(p->to_dst ? DST_ROWS : SRC_ROWS) * ROW_VALUES)
		return "end outside the register file";
	if (run_end(p, r) > L1_BYTES)
		return "end outside L1";
	if (p->exponents && (r->exponents + r->count - 1) / 16 >= L1_BYTES)
		return "exponents outside L1";
	return NULL;
}

/* n data of one row, at most 16, starting with datum i of the run. */
static void fetch_row(const UnpackPlan *p, const uint8_t *l1, const Run *r, uint32_t i,
                      uint32_t n, uint32_t *to)
{
	const uint8_t *from = l1 + r->at + (size_t)p->row_step * (i / ROW_VALUES);

	if (p->in == FORMAT_BF16) {
		src_from_bf16(from, to, n);
	} else if (p->in == FORMAT_FP32) {
		if (p->to_dst)
			memcpy(to, from, 4 * n);
		else
			src_from_fp32(from, to, n, p->out == FORMAT_BF16);
	} else {
		for (uint32_t k = 0; k < n; k++)
			to[k] = src_from_bfp8(from[k], p->forced_exponent ? p->exponent
			                               : l1[(r->exponents + i + k) / 16]);
	}
}

static void to_src(const UnpackPlan *p, const uint8_t *l1, const Run *r,
                   uint32_t rows[SRC_ROWS][ROW_VALUES])
{
	bool dense = p->row_step == 2 * p->bits && !p->haloize;
	uint32_t row[ROW_VALUES];

	if (dense && p->in == FORMAT_BF16) {
		src_from_bf16(l1 + r->at, rows[r->row], r->count);
		return;
	}
	if (dense && p->in == FORMAT_BFP8 && !p->forced_exponent && r->exponents % 16 == 0) {
		src_from_bfp8_rows(l1 + r->at, l1 + r->exponents / 16, rows[r->row], r->count);
		return;
	}
	for (uint32_t i = 0; i < r->count; i += ROW_VALUES) {
		uint32_t n = r->count - i < ROW_VALUES ? r->count - i : ROW_VALUES;
		uint32_t at = r->row + i / ROW_VALUES;

		fetch_row(p, l1, r, i, n, p->haloize ? row : rows[at]);
		for (uint32_t k = 0; p->haloize && k < n; k++)
			rows[(at & ~15u) | k][at & 15] = row[k];
	}
}

static void to_dst(Tensix *t, const UnpackPlan *p, const Run *r)
{
	uint32_t row[ROW_VALUES];

	for (uint32_t i = 0; i < r->count; i += ROW_VALUES) {
		uint32_t n = r->count - i < ROW_VALUES ? r->count - i : ROW_VALUES;
		uint32_t at = dst32_row(r->row + i / ROW_VALUES);

		fetch_row(p, t->core->l1, r, i, n, row);
		for (uint32_t k = 0; k < n; k++) {
			t->dst[at][k] = (uint16_t)(row[k] >> 16);
			t->dst[at + DST32_LOW][k] = (uint16_t)row[k];
		}
		t->dst_valid[at] = true;
	}
}

static void show_row(const Tensix *t, int thread, const UnpackPlan *p, const Run *r, uint32_t i)
{
	uint32_t n = r->count - i < ROW_VALUES ? r->count - i : ROW_VALUES;
	uint32_t at = dst32_row(r->row + i / ROW_VALUES);

	shadow_unpack(t->core, thread, r->at + p->row_step * (i / ROW_VALUES), n * p->bits / 8, 1);
	if (!p->to_dst)
		return;
	shadow_dst_write(t->core, thread, DST_UNPACKER, at, 1);
	shadow_dst_write(t->core, thread, DST_UNPACKER, at + DST32_LOW, 1);
}

static void show_checks(const Tensix *t, int thread, const UnpackPlan *p, const Run *r)
{
	uint32_t i = 0;

	if (p->row_step == 2 * p->bits && !p->to_dst) {
		i = r->count - r->count % ROW_VALUES;
		shadow_unpack(t->core, thread, r->at, p->row_step, i / ROW_VALUES);
	}
	for (; i < r->count; i += ROW_VALUES)
		show_row(t, thread, p, r, i);
	if (p->exponents && !p->forced_exponent)
		shadow_unpack(t->core, thread, r->exponents / 16,
		              (r->exponents % 16 + r->count + 15) / 16, 1);
}

/* Operands the emulator knows one value of. */
static const struct { const char *name; uint8_t high, low, only; } fixed[] = {
	{ "last", 0, 0, 1 }, { "search_cache_flush", 1, 1, 0 }, { "row_search", 2, 2, 0 },
	{ "auto_inc_context_id", 3, 3, 0 }, { "zero_write2", 4, 4, 0 }, { "rareb_en", 5, 5, 0 },
	{ "ovrd_thread_id", 7, 7, 1 }, { "addr_cnt_context_id", 9, 8, 0 },
	{ "cfg_context_id", 12, 10, 0 }, { "cfg_context_cnt_inc", 13, 13, 0 },
};

static Exec refused_operand(Tensix *t, int thread, uint32_t i)
{
	size_t k = 0;

	while (op_bits(i, fixed[k].high, fixed[k].low) == fixed[k].only)
		k++;
	return tensix_unknown(t, thread, i, fixed[k].name, op_bits(i, fixed[k].high, fixed[k].low));
}

/* Gives the bank the unpacker has written to the matrix unit. */
static Exec hand_over(Tensix *t, int thread, uint32_t i, bool srcb)
{
	SrcFile *src = srcb ? &t->b : &t->a;

	if (src->valid[src->unpack_bank])
		return tensix_unknown(t, thread, i, "hands over a bank that is valid already", srcb);
	if (!srcb && thread_field(t->thread[thread].cfg, TCFG_SRCA_SET_Base))
		return tensix_unknown(t, thread, i, "SRCA_SET_Base", 1);
	src->valid[src->unpack_bank] = true;
	src->unpack_bank ^= 1;
	return EXEC_DONE;
}

static void step_counters(Adc *adc, uint32_t addr_mode)
{
	adc->ch[0].z = (adc->ch[0].z + (addr_mode & 3)) & 0xff;
	adc->ch[0].y = (adc->ch[0].y + (addr_mode >> 2 & 3)) & 0x1fff;
	adc->ch[1].z = (adc->ch[1].z + (addr_mode >> 4 & 3)) & 0xff;
	adc->ch[1].y = (adc->ch[1].y + (addr_mode >> 6 & 3)) & 0x1fff;
}

Exec emu_op_UNPACR(Tensix *t, int thread, uint32_t i)
{
	enum { FIXED = 0x3fbf, WANTED = 0x81 };
	int unpacker = (int)op_bits(i, 23, 23);
	SrcFile *src = unpacker ? &t->b : &t->a;
	UnpackPlan *p = &t->unpack[unpacker];
	const uint32_t *cfg = tensix_cfg(t, thread);
	Run run;

	if ((i & FIXED) != WANTED)
		return refused_operand(t, thread, i);
	if (src->valid[src->unpack_bank])
		return EXEC_WAIT;
	if (p->version != t->version || p->thread != thread)
		make_plan(t, thread, unpacker);
	if (p->refusal.field)
		return tensix_unknown(t, thread, i, p->refusal.field, p->refusal.value);
	const char *wrong = place(t, thread, unpacker, &run);
	if (wrong)
		return tensix_unknown(t, thread, i, wrong, cfg[p->base_word]);
	if (t->core->shadow)
		show_checks(t, thread, p, &run);
	if (p->to_dst) {
		to_dst(t, p, &run);
	} else {
		to_src(p, t->core->l1, &run, src->rows[src->unpack_bank]);
		src->changes[src->unpack_bank]++;
	}
	step_counters(&t->thread[thread].adc[unpacker], op_bits(i, 22, 15));
	if (t->core->counters)
		t->core->counters[COUNTER_unpack_bytes] += run.count * p->bits / 8 +
			(p->exponents ? (run.count + 15) / 16 : 0);
	if (op_bits(i, 6, 6))
		return hand_over(t, thread, i, unpacker);
	if (cfg_field(cfg, CFG_THCON_SEC0_REG2_Unpack_Src_Reg_Set_Upd) ||
	    cfg_field(cfg, CFG_THCON_SEC1_REG2_Unpack_Src_Reg_Set_Upd))
		return tensix_unknown(t, thread, i, "Unpack_Src_Reg_Set_Upd", 1);
	return EXEC_DONE;
}

Exec emu_op_UNPACR_NOP(Tensix *t, int thread, uint32_t i)
{
	enum { TO_ZERO = 1, TO_MINUS_INF = 5, SET_VALID = 7 };
	bool srcb = op_bits(i, 23, 23);
	uint32_t mode = op_bits(i, 4, 0), value = mode == TO_MINUS_INF ? 0xffffe000 : 0;
	SrcFile *src = srcb ? &t->b : &t->a;

	if (mode == SET_VALID)
		return hand_over(t, thread, i, srcb);
	if ((mode != TO_ZERO && mode != TO_MINUS_INF) || (srcb && mode == TO_MINUS_INF))
		return tensix_unknown(t, thread, i, "no_op", mode);
	if (src->valid[src->matrix_bank])
		return EXEC_WAIT;
	for (int row = 0; row < SRC_ROWS; row++)
		for (int k = 0; k < ROW_VALUES; k++)
			src->rows[src->unpack_bank][row][k] = value;
	src->changes[src->unpack_bank]++;
	return EXEC_DONE;
}

Exec emu_op_SETDVALID(Tensix *t, int thread, uint32_t i)
{
	uint32_t which = op_bits(i, 1, 0);

	if (which != 2 && which != 3)
		return tensix_unknown(t, thread, i, "setvalid", which);
	if (which & 1 && hand_over(t, thread, i, false) != EXEC_DONE)
		return EXEC_FAULT;
	return hand_over(t, thread, i, true);
}
