/* Packers: Dst into L1 (Packers/README.md, PACR.md). */
#include "runtime/emu/tensix.h"

#include <string.h>

#include "ir/cost.h"
#include "runtime/emu/convert.h"
#include "runtime/emu/core.h"
#include "runtime/emu/shadow.h"

enum { PACKERS = 4, MOST = 256 /* data a packer takes at once */ };

/* First of the four words that configure each packer: sizes, address, formats,
 * modes. */
static const uint8_t section[PACKERS] = { 56, 84, 96, 124 };

/* What has to be zero in each of them. */
enum { ZERO_SIZES = 0xffff, ZERO_FORMATS = 0x1f00e, ZERO_MODES = 0x1fffff };

/* Where Dst is wide, in and out: the ways values can be converted. */
static bool formats_known(const PackPlan *p)
{
	if (p->wide && p->in == FORMAT_FP32)
		return p->out == FORMAT_FP32 || p->out == FORMAT_BFP8;
	if (p->in != FORMAT_BF16 && p->in != FORMAT_BFP8)
		return false;
	if (p->wide)
		return p->out == p->in;
	return p->out == FORMAT_FP32 || p->out == FORMAT_BF16 || p->out == FORMAT_BFP8;
}

static void plan_packers(PackPlan *p, const uint32_t *cfg)
{
	const uint32_t *first = cfg + section[0];

	for (int k = 0; k < PACKERS; k++) {
		const uint32_t *s = cfg + section[k];
		uint32_t reads = cfg[CFG_PACK_COUNTERS_SEC0_pack_reads_per_xy_plane.word + k];
		uint32_t dst = cfg[CFG_DEST_TARGET_REG_CFG_PACK_SEC0_Offset.word + k];

		refuse(&p->refusal, "Row_start_section_size", s[0] & ZERO_SIZES);
		refuse(&p->refusal, "mode in the word of formats", s[2] & ZERO_FORMATS);
		refuse(&p->refusal, "Downsample, Read_mode or Exp_threshold", s[3] & ZERO_MODES);
		refuse(&p->refusal, "formats that differ between packers", (s[2] ^ first[2]) & 0xff0);
		refuse(&p->refusal, "Pack_L1_Acc that differs between packers", (s[3] ^ first[3]) & 1 << 21);
		p->exponents[k] = s[0] >> 16;
		p->offset[k] = dst & 0xfff;
		refuse(&p->refusal, "ZOffset", dst >> 12);
		refuse(&p->refusal, "pack_yz_transposed", reads >> 23 & 1);
		reads = reads >> 8 & 0xff;
		if (k == 0)
			p->reads_per_plane = reads;
		refuse(&p->refusal, "pack_reads_per_xy_plane (plus 1)",
		       reads != p->reads_per_plane || reads < 1 || reads > 16 ? reads + 1 : 0);
	}
	p->in = first[2] >> 8 & 15;
	p->out = first[2] >> 4 & 15;
	p->accumulate = first[3] >> 21 & 1;
}

/* Which columns of which rows are kept (PCK_EDGE_*). */
static void plan_edges(PackPlan *p, const uint32_t *cfg)
{
	uint32_t select = cfg_field(cfg, CFG_PCK_EDGE_TILE_ROW_SET_SELECT_select);

	for (int k = 0; k < PACKERS; k++) {
		uint32_t set = select >> (2 * k) & 3;

		p->no_set[k] = set > 1;
		for (int row = 0; row < 16 && set <= 1; row++) {
			uint32_t first = CFG_TILE_ROW_SET_MAPPING_0_row_set_mapping_0.word;
			uint32_t which = cfg[first + set] >> (2 * row) & 3;
			uint32_t mask = cfg[CFG_PCK_EDGE_OFFSET_SEC0_mask.word + which] & 0xffff;

			p->mask[k][row] = (uint16_t)mask;
			if (which <= 1 && (mask <= 1 || mask == 0xffff))
				p->known[k] |= (uint16_t)(1u << row);
		}
	}
	if (cfg_field(cfg, CFG_PCK_EDGE_MODE_mode))
		memset(p->known, 0, sizeof p->known);
}

static void make_plan(Tensix *t, int thread)
{
	const uint32_t *cfg = tensix_cfg(t, thread);
	uint32_t read = cfg[CFG_PCK_DEST_RD_CTRL_Read_32b_data.word];
	uint32_t xy = cfg[CFG_PCK0_ADDR_CTRL_XY_REG_0_Xstride.word];
	uint32_t zw = cfg[CFG_PCK0_ADDR_CTRL_ZW_REG_0_Zstride.word];
	PackPlan *p = &t->pack;

	*p = (PackPlan){ .version = t->version, .thread = thread };
	plan_packers(p, cfg);
	plan_edges(p, cfg);
	p->wide = read & 1;
	refuse(&p->refusal, "formats (wide << 8 | in << 4 | out)",
	       formats_known(p) ? 0 : 0x1000u | (uint32_t)p->wide << 8 | p->in << 4 | p->out);
	refuse(&p->refusal, "Read_int8 or Round_10b_mant", read & (p->in == FORMAT_FP32 ? 8 : 12));
	refuse(&p->refusal, "format of Dst other than the packers'",
	       cfg_field(cfg, CFG_ALU_FORMAT_SPEC_REG2_Dstacc) ^ p->in);
	p->in_align = format_bits(p->in) / 8;
	p->out_bits = format_bits(p->out);
	p->y_step = xy >> 12 & 0xfff;
	p->z_step = zw & 0xfff;
	p->w_step = zw >> 12 & 0xffff;
	refuse(&p->refusal, "stride not a multiple of a datum",
	       (xy | p->y_step | p->z_step | p->w_step) & (p->in_align - 1));
	refuse(&p->refusal, "Pack_L1_Acc of bfp8", p->accumulate && p->out == FORMAT_BFP8);
	p->relu = cfg_field(cfg, CFG_STACC_RELU_ApplyRelu);
	p->threshold = cfg_field(cfg, CFG_STACC_RELU_ReluThreshold);
	refuse(&p->refusal, "ApplyRelu", p->relu > 3 ? p->relu : 0);
	refuse(&p->refusal, "ReluThreshold below zero", p->relu ? p->threshold & 0x8000 : 0);
}

/* ---- values ---- */

static void read_dst(const Tensix *t, uint32_t row, uint32_t n, uint16_t mask, uint32_t *v)
{
	const bool wide = t->pack.wide;
	uint32_t at = wide ? dst32_row(row) : row;
	const uint16_t *high = t->dst[at], *low = t->dst[at + (wide ? DST32_LOW : 0)];

	if (!t->dst_valid[at] || !mask) {
		memset(v, 0, n * sizeof *v);
		return;
	}
	if (wide)
		for (uint32_t k = 0; k < n; k++)
			v[k] = (uint32_t)high[k] << 16 | low[k];
	else
		for (uint32_t k = 0; k < n; k++)
			v[k] = high[k];
	if (mask != 0xffff)
		memset(v + 1, 0, (n - 1) * sizeof *v); /* else only column 0 is kept */
}

/* Values of a packer before conversion, those outside the mask zero. False if
 * the mask is not known. */
static bool gather(const Tensix *t, int packer, uint32_t row, uint32_t count, PackerState *s,
                   uint32_t *v)
{
	const PackPlan *p = &t->pack;

	for (uint32_t i = 0, n; i < count; i += n) {
		uint32_t y = s->tile_y & 15, column = i % ROW_VALUES;
		uint32_t left = ROW_VALUES - s->tile_x, whole[ROW_VALUES];

		if (!(p->known[packer] >> y & 1))
			return false;
		n = count - i < ROW_VALUES - column ? count - i : ROW_VALUES - column;
		n = n < left ? n : left;
		if (n == ROW_VALUES) {
			read_dst(t, row + i / ROW_VALUES, n, p->mask[packer][y], v + i);
		} else {
			read_dst(t, row + i / ROW_VALUES, ROW_VALUES, p->mask[packer][y], whole);
			memcpy(v + i, whole + column, n * sizeof *v);
		}
		s->tile_x = (s->tile_x + n) % ROW_VALUES;
		if (!s->tile_x && ++s->tile_y == p->reads_per_plane) {
			s->tile_y = 0;
			s->tile_z++;
		}
	}
	return true;
}

/* ApplyRelu: 1 negative to zero, 2 all up to a threshold to zero, 3 above it to
 * the threshold. `drop` bits of a value do not count in that comparison. */
static void relu(uint32_t *v, uint32_t n, uint32_t mode, uint32_t sign, uint32_t threshold,
                 unsigned drop)
{
	for (uint32_t k = 0; k < n; k++)
		v[k] = v[k] & sign ? 0 : v[k];
	for (uint32_t k = 0; mode == 2 && k < n; k++)
		v[k] = v[k] <= threshold ? 0 : v[k];
	for (uint32_t k = 0; mode == 3 && k < n; k++)
		v[k] = v[k] >> drop > threshold >> drop ? threshold : v[k];
}

static void convert(const PackPlan *p, uint32_t *v, uint32_t n)
{
	if (p->in == FORMAT_FP32) {
		if (p->relu)
			relu(v, n, p->relu, 0x80000000, p->threshold << 16, 13);
		for (uint32_t k = 0; p->out == FORMAT_BFP8 && k < n; k++)
			v[k] = (v[k] >> 16 & 0x7fff) < 0x80 ? 0 : v[k] >> 16;
		return;
	}
	if (!p->wide)
		bf16_from_bf16(v, n, p->in == FORMAT_BFP8);
	else if (p->in == FORMAT_BF16)
		bf16_from_fp32(v, n);
	else
		bfp8_from_fp32(v, n);
	if (p->relu)
		relu(v, n, p->relu, 0x8000, p->threshold, 0);
	for (uint32_t k = 0; p->out == FORMAT_FP32 && k < n; k++)
		v[k] <<= 16;
}

static void add_there(const PackPlan *p, uint32_t *v, const uint8_t *l1, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t there = 0;

		memcpy(&there, l1 + (size_t)k * p->out_bits / 8, p->out_bits / 8);
		v[k] = p->out == FORMAT_FP32 ? l1_add_fp32(there, v[k])
		                             : l1_add_bf16((uint16_t)there, (uint16_t)v[k]);
	}
}

/* ---- addresses ---- */

/* Where a packer starts a tile. */
static void start(const Tensix *t, int thread, int packer, PackerState *s)
{
	const uint32_t *cfg = tensix_cfg(t, thread);
	uint32_t at = cfg[section[0] + 1] + 1;

	if (packer) /* from packer 0's address on, if that says so */
		at = cfg[section[packer] + 1] + 1 + (at & 0x80000000 ? at : 0);
	*s = (PackerState){ .exponent_at = at << 4 };
	if (t->pack.out == FORMAT_BFP8)
		at += t->pack.exponents[packer];
	s->at = at << 4;
}

/* Moves on over n bytes; at the end of a tile, with zeros up to the next 16. */
static void written(EmuCore *c, uint32_t *at, uint32_t n, bool ends)
{
	uint32_t zeros = ends ? -(*at + n) & 15 : 0;

	if (zeros)
		memset(c->l1 + *at + n, 0, zeros);
	if (n + zeros)
		core_l1_written(c, *at, n + zeros);
	*at += n;
}

static bool inside(const PackPlan *p, const PackerState *s, uint32_t count)
{
	if (p->out == FORMAT_BFP8 && (uint64_t)s->exponent_at + count / 16 > L1_BYTES)
		return false;
	return (uint64_t)s->at + count * p->out_bits / 8 <= L1_BYTES;
}

/* What a packer reads and writes, for the strict checks. It writes whole 16 bytes. */
static void show_checks(const Tensix *t, uint32_t row, uint32_t count, const PackerState *s)
{
	const PackPlan *p = &t->pack;

	for (uint32_t k = row; k < row + (count + ROW_VALUES - 1) / ROW_VALUES; k++) {
		uint32_t at = p->wide ? dst32_row(k) : k;

		shadow_dst_read(t->core, p->thread, DST_PACKER, at, 1);
		if (p->wide)
			shadow_dst_read(t->core, p->thread, DST_PACKER, at + DST32_LOW, 1);
	}
	shadow_pack(t->core, p->thread, s->at, (count * p->out_bits / 8 + 15) & ~15u);
	if (p->out == FORMAT_BFP8)
		shadow_pack(t->core, p->thread, s->exponent_at, (count / 16 + 15) & ~15u);
}

/* One packer's share of a PACR. NULL, or what is wrong. */
static const char *pack(Tensix *t, int packer, uint32_t row, uint32_t count, bool ends)
{
	const PackPlan *p = &t->pack;
	PackerState *s = &t->packer[packer];
	uint8_t *l1 = t->core->l1;
	uint32_t v[MOST];

	if (p->no_set[packer])
		return "row set selected for packer";
	if (row + (count + ROW_VALUES - 1) / ROW_VALUES > DST_ROWS)
		return "end outside Dst";
	if (p->out == FORMAT_BFP8 && count & 15)
		return "x range of bfp8 not a multiple of 16";
	if (count && !inside(p, s, count))
		return "end outside L1";
	if (t->core->shadow)
		show_checks(t, row, count, s);
	if (!gather(t, packer, row, count, s, v))
		return "edge mask, mode or set of packer";
	convert(p, v, count);
	if (p->accumulate)
		add_there(p, v, l1 + s->at, count);
	if (p->out == FORMAT_FP32)
		memcpy(l1 + s->at, v, 4 * count);
	else if (p->out == FORMAT_BF16)
		l1_from_bf16(v, l1 + s->at, count);
	else
		l1_from_bfp8(v, l1 + s->exponent_at, l1 + s->at, count);
	written(t->core, &s->at, count * p->out_bits / 8, ends);
	if (p->out == FORMAT_BFP8)
		written(t->core, &s->exponent_at, count / 16, ends);
	return NULL;
}

/* Address counters after a PACR, by its modifier; false if it is not known. */
static bool step_counters(TensixThread *th, uint32_t mode)
{
	uint32_t m = th->cfg[TCFG_ADDR_MOD_PACK_SEC0_YsrcIncr.word + mode];
	AdcChannel *from = &th->adc[ADC_PACK].ch[0], *to = from + 1;

	if (m >> 10 & 1)
		return false;
	if (m >> 5 & 1)
		from->y = from->y_cr = 0;
	else if (m >> 4 & 1)
		from->y = from->y_cr = (from->y_cr + (m & 15)) & 0x1fff;
	else
		from->y = (from->y + (m & 15)) & 0x1fff;
	if (m >> 11 & 1)
		to->y = to->y_cr = 0;
	else
		to->y = (to->y + (m >> 6 & 15)) & 0x1fff;
	if (m >> 13 & 1)
		from->z = from->z_cr = 0;
	else
		from->z = (from->z + (m >> 12 & 1)) & 0xff;
	if (m >> 15 & 1)
		to->z = to->z_cr = 0;
	else
		to->z = (to->z + (m >> 14 & 1)) & 0xff;
	return true;
}

Exec emu_op_PACR(Tensix *t, int thread, uint32_t i)
{
	bool flush = op_bits(i, 1, 1), ends = flush || op_bits(i, 0, 0);
	uint32_t select = op_bits(i, 11, 8), packers = (uint32_t)__builtin_popcount(select);
	PackPlan *p = &t->pack;
	const AdcChannel *from = &t->thread[thread].adc[ADC_PACK].ch[0], *to = from + 1;
	uint32_t count = flush ? 0 : to->x - from->x + 1;

	if (op_bits(i, 7, 7) || op_bits(i, 12, 12))
		return tensix_unknown(t, thread, i, "ovrd_thread_id or zero_write", 1);
	if (select != 1 && select != 3 && select != 15)
		return tensix_unknown(t, thread, i, "pack_sel", select);
	if (p->version != t->version || p->thread != thread)
		make_plan(t, thread);
	if (p->refusal.field)
		return tensix_unknown(t, thread, i, p->refusal.field, p->refusal.value);
	uint32_t at = from->y * p->y_step + from->z * p->z_step + from->w * p->w_step;
	at /= p->in_align;
	if (from->x || at % ROW_VALUES)
		return tensix_unknown(t, thread, i, "start inside a row", from->x ? from->x : at);
	if (count > MOST || count & (count - 1))
		return tensix_unknown(t, thread, i, "x range", count);
	if (!t->packing && (to->y || to->z || to->w))
		return tensix_unknown(t, thread, i, "channel 1 y, z or w", to->y | to->z | to->w);
	for (uint32_t k = 0; k < packers; k++) {
		if (!t->packing)
			start(t, thread, (int)k, &t->packer[k]);
		uint32_t row = (at / ROW_VALUES + p->offset[k]) & (DST_ROWS - 1);
		const char *wrong = pack(t, (int)k, row, count, ends);
		if (wrong)
			return tensix_unknown(t, thread, i, wrong, k);
	}
	t->packing = !ends;
	if (t->core->counters)
		t->core->counters[COUNTER_pack_bytes] += packers * (count * p->out_bits / 8 +
			(p->out == FORMAT_BFP8 ? count / 16 : 0));
	if (!step_counters(&t->thread[thread], op_bits(i, 16, 15)))
		return tensix_unknown(t, thread, i, "YdstCR", 1);
	return EXEC_DONE;
}
