/*
 * What NAME.cpp tells about a net: for each op its programs, as data.
 *
 *     void conv1(Network &net)
 *     {
 *             Op op(net, "conv1");
 *             op.cb(0, 0x1e2c0, 6272, 1);          // circular buffer 0 at an address of L1
 *             Params<TtTiles> p;                   // the structure its kernels get
 *             p.all.rows = 8;                      // ... on all cores
 *             p.on({60, 63}, &TtTiles::rows, 0);   // ... on cores 60 to 63
 *             op.compute({{0, 63}}, "conv_501f7ed96aa5b5c5", p);
 *             op.writer({{0, 63}}, "lists_37a3fb2ad0022e25");
 *             op.push({0, 62}, 1, 1).run(0x5a000, 0x4b000, 640);
 *     }
 *
 * Cores are counted row by row. Everything is plain data until Device makes TT-Metal
 * programs of it (program.hpp); addresses that the device decides are asked of the net.
 */
#ifndef RUNTIME_METAL_NETWORK_HPP
#define RUNTIME_METAL_NETWORK_HPP

#include <cstdint>
#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include "runtime/device/map.h"
#include "runtime/device/params.h"
#include "runtime/metal/tensor.hpp"
#include "runtime/metal/tessera_metal.h"

namespace tessera
{

/* Cores first, first + every, ... to last. */
struct Cores {
	unsigned first, last, every = 1;
};

using Words = std::vector<uint32_t>;

/* A structure of params.def on every core: `all`, but for what is told of some of them. */
template <typename T> class Params
{
      public:
	T all = {};

	/* `value` on the first of the cores, `step` more on each next one. */
	void on(Cores cores, uint32_t T::*field, uint32_t value, uint32_t step = 0)
	{
		T words = {};
		words.*field = 1;
		add(cores, words, value, step);
	}

	template <size_t N>
	void at(Cores cores, uint32_t (T::*field)[N], unsigned which, uint32_t value,
		uint32_t step = 0)
	{
		T words = {};
		(words.*field)[which] = 1;
		add(cores, words, value, step);
	}

	/* As the kernel's arguments on a core. */
	Words of(unsigned core) const
	{
		const uint32_t *from = reinterpret_cast<const uint32_t *>(&all);
		Words words(from, from + sizeof(T) / sizeof(uint32_t));
		for (const Difference &d : differences_)
			if (core >= d.cores.first && core <= d.cores.last &&
			    (core - d.cores.first) % d.cores.every == 0)
				words[d.word] =
					d.value + (core - d.cores.first) / d.cores.every * d.step;
		return words;
	}

      private:
	struct Difference {
		Cores cores;
		size_t word;
		uint32_t value, step;
	};
	std::vector<Difference> differences_;

	/* The word that is 1. */
	void add(Cores cores, const T &mark, uint32_t value, uint32_t step)
	{
		const uint32_t *words = reinterpret_cast<const uint32_t *>(&mark);
		size_t word = 0;
		while (!words[word])
			word++;
		differences_.push_back({ cores, word, value, step });
	}
};

/* Elements of the writer's lists (map.h), on each of the cores. */
struct ZeroRow {
	Cores cores;
	TtZero zero = { 0, 0, 1, 0, 1, 0 };

	ZeroRow &run(uint32_t at, uint32_t bytes);
	ZeroRow &times(uint32_t count, uint32_t step);
	ZeroRow &planes(uint32_t count, uint32_t step);
};

struct PushRow {
	Cores cores;
	int to, along; /* the core they go to, and what is added to it from core to core */
	unsigned more = 0; /* cores behind that one which get the same */
	TtPush rows = {};
	uint32_t count = 1;
	bool block = false;

	PushRow &run(uint32_t from, uint32_t to_address, uint32_t bytes);
	PushRow &also(unsigned cores_behind);
	PushRow &times(uint32_t runs, uint32_t step); /* on both sides */
	PushRow &times(uint32_t runs, uint32_t from_step, uint32_t to_step);
	PushRow &values(uint32_t from, uint32_t to_address); /* run() is of exponents */
};

struct MoveRow {
	Cores cores;
	TtMove move = { 0, 0, 0, 0, 0, 0, 1, 0 };
	uint32_t along = 0; /* added to the address in DRAM from core to core */

	MoveRow &dram(uint32_t bank, uint32_t at, uint32_t page_bytes, uint32_t added = 0);
	MoveRow &l1(uint32_t at, uint32_t bytes);
	MoveRow &times(uint32_t count, uint32_t step);
};

enum class KernelKind { compute, reader, writer };

struct KernelSpec {
	KernelKind kind;
	std::string stem; /* of its file */
	std::vector<Cores> cores;
	std::vector<Words> params; /* of every core of the net; empty: none */
};

struct CbSpec {
	unsigned id;
	uint32_t address, page_bytes, pages;
};

/* A TT-Metal program. */
struct ProgramSpec {
	std::string name;
	std::vector<CbSpec> cbs;
	bool ready = false, done = false;
	unsigned semaphores = 0;
	std::vector<KernelSpec> kernels;
	std::vector<std::variant<ZeroRow, PushRow, MoveRow>> rows;
};

class Network;

/* An op: one program, or several that next() parts. */
class Op
{
      public:
	Op(Network &net, const char *name);
	void kind(const char *kind, const char *source); /* where the model has it */
	void next();

	void cb(unsigned id, uint32_t address, uint32_t page_bytes, uint32_t pages);
	void ready(); /* TT_CB_READY: the writer tells compute that what it reads is there */
	void done();  /* TT_CB_DONE: compute tells the writer that the result is there */
	void semaphores(unsigned count); /* numbers 0, 1, ... */

	template <typename T>
	void compute(std::initializer_list<Cores> cores, const char *stem, const Params<T> &p)
	{
		kernel(KernelKind::compute, cores, stem, words_of(p));
	}
	template <typename T>
	void reader(std::initializer_list<Cores> cores, const char *stem, const Params<T> &p)
	{
		kernel(KernelKind::reader, cores, stem, words_of(p));
	}
	template <typename T>
	void writer(std::initializer_list<Cores> cores, const char *stem, const Params<T> &p)
	{
		kernel(KernelKind::writer, cores, stem, words_of(p));
	}
	void writer(std::initializer_list<Cores> cores, const char *stem);

	ZeroRow &zero(Cores cores);
	PushRow &push(Cores cores, int to, int along = 0);
	MoveRow &read(Cores cores, TtMoveWhen when);
	MoveRow &write(Cores cores, TtMoveWhen when);

      private:
	Network &net_;
	std::string name_, kind_, source_;

	ProgramSpec &program();
	MoveRow &move(Cores cores, uint32_t how);
	void kernel(KernelKind kind, std::initializer_list<Cores> cores, const char *stem,
		    std::vector<Words> params);
	unsigned core_count() const;

	template <typename T> std::vector<Words> words_of(const Params<T> &p) const
	{
		std::vector<Words> all;
		for (unsigned core = 0; core < core_count(); core++)
			all.push_back(p.of(core));
		return all;
	}
};

/* Where things are that a device decides; asked while programs are described. */
class Places
{
      public:
	virtual ~Places() = default;
	virtual uint32_t node(unsigned col, unsigned row) const = 0;
	virtual uint32_t weights(const std::string &name) const = 0;
	virtual uint32_t dram() const = 0;
	virtual uint32_t tensor(bool output, const std::string &name, unsigned slot) const = 0;
};

class Network
{
      public:
	/* ---- what describe() of NAME.cpp says ---- */

	void grid(unsigned cols, unsigned rows, unsigned cores);
	void mesh(unsigned rows, unsigned cols); /* of devices, unless the options say otherwise */
	void l1_from(uint32_t address);          /* to the end of L1 */
	void dram_bytes(uint32_t bytes);         /* of each bank, for tensors on their way */
	void arguments(uint32_t bytes);          /* that a run sends to the cores */
	void input(const char *name, TesseraType type, std::initializer_list<int64_t> shape);
	void output(const char *name, TesseraType type, std::initializer_list<int64_t> shape);
	PartSpec &part(const char *tensor, TtHost stored, std::initializer_list<int64_t> nchw,
		       uint32_t page_bytes);
	void op(void (*describe)(Network &));
	void op(void (*describe)(Network &, unsigned slot)); /* at an edge: one for each slot */

	/* ---- what ops ask ---- */

	uint32_t node(unsigned col, unsigned row) const { return places_->node(col, row); }
	uint32_t weights(const char *name) const { return places_->weights(name); }
	uint32_t dram(uint32_t at) const { return places_->dram() + at; }
	uint32_t input_at(const char *name, unsigned slot) const;
	uint32_t output_at(const char *name, unsigned slot) const;

	/* ---- what is made of it ---- */

	struct Step {
		void (*once)(Network &) = nullptr;
		void (*each)(Network &, unsigned) = nullptr;
	};

	unsigned cols = 0, rows = 0, cores = 0, mesh_rows = 1, mesh_cols = 1;
	uint32_t l1 = 0, dram_bank_bytes = 0, argument_bytes = 0;
	std::vector<EdgeSpec> inputs, outputs;
	std::vector<Step> steps;

	/* The programs of a step, for a slot. */
	std::vector<ProgramSpec> describe(const Step &step, unsigned slot, const Places &places);

      private:
	friend class Op;
	const Places *places_ = nullptr;
	std::vector<ProgramSpec> programs_;
	EdgeSpec *edge_ = nullptr; /* the one that parts belong to */
};

} // namespace tessera

/* What NAME.h declares. */
struct TesseraMetalNetwork {
	const char *name, *file, *compiler; /* of the model; of NAME.weights */
	void (*describe)(tessera::Network &);
};

#endif
