// Runs an emitted net on the small TT-Metal, with other inputs each time.
//
//     metal_drive NET.so FOLDER IN OUT RUNS [queues=N] [apart] [trace] [slots=N] [mesh=RxC]
//                 [precompiled=DIR] [again]
//
// IN has the inputs of all runs one behind the other, all inputs of a run together; OUT
// gets outputs likewise. NET.so has the net as `test_network`. Kernels are compiled into
// the folder of `precompiled`, and none is compiled later. With `again` the net is closed,
// something else leaves cores as it likes, and everything is done once more.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/metal/tessera_metal.h"
#include "tests/metal/dirty.hpp"

namespace
{

using Bytes = std::vector<char>;

struct Arguments {
	const TesseraMetalNetwork *net = nullptr;
	TesseraMetalOptions options = tessera_metal_options();
	Bytes in, out;
	size_t runs = 0;
	bool again = false;
};

void must(bool ok, const TesseraError &e)
{
	if (!ok)
		throw std::runtime_error(std::string(e.text) + "\n" + e.detail);
}

const TesseraMetalNetwork *load(const char *library)
{
	void *all = dlopen(library, RTLD_NOW);
	void *net = all ? dlsym(all, "test_network") : nullptr;
	if (!net)
		throw std::runtime_error(dlerror());
	return static_cast<const TesseraMetalNetwork *>(net);
}

Arguments parse(int argc, char **argv)
{
	Arguments a;
	TesseraError e = {};
	if (argc < 6)
		throw std::runtime_error("metal_drive NET.so FOLDER IN OUT RUNS ...");
	a.net = load(argv[1]);
	a.options.folder = argv[2];
	std::ifstream in(argv[3], std::ios::binary);
	a.in.assign(std::istreambuf_iterator<char>(in), {});
	a.runs = strtoul(argv[5], nullptr, 10);
	for (int i = 6; i < argc; i++) {
		const std::string o = argv[i];
		const size_t at = o.find('=');
		const std::string name = o.substr(0, at);
		const char *value = at == std::string::npos ? "" : argv[i] + at + 1;
		if (name == "queues")
			a.options.queues = atoi(value);
		else if (name == "apart")
			a.options.transfers_apart = true;
		else if (name == "trace")
			a.options.trace = true;
		else if (name == "slots")
			a.options.slots = atoi(value);
		else if (name == "again")
			a.again = true;
		else if (name == "precompiled")
			a.options.precompiled = value;
		else if (name != "mesh" ||
			 sscanf(value, "%dx%d", &a.options.mesh_rows, &a.options.mesh_cols) != 2)
			throw std::runtime_error("no option " + o);
	}
	if (a.options.precompiled) {
		must(tessera_metal_compile(a.net, &a.options, a.options.precompiled, &e), e);
		a.options.precompiled_only = true;
	}
	return a;
}

// All inputs or outputs of a run, in the caller's bytes from `at` on.
std::vector<TesseraArray> arrays(TesseraMetal *m, bool output, char *at)
{
	std::vector<TesseraArray> all;
	const size_t n = output ? tessera_metal_output_count(m) : tessera_metal_input_count(m);
	for (size_t i = 0; i < n; i++) {
		const TesseraTensor t =
			output ? tessera_metal_output(m, i) : tessera_metal_input(m, i);
		all.push_back(tessera_array(&t, at));
		at += t.bytes;
	}
	return all;
}

size_t bytes_of(const std::vector<TesseraArray> &arrays)
{
	size_t n = 0;
	for (const TesseraArray &a : arrays)
		n += a.bytes;
	return n;
}

// All runs, with as many under way as there are slots; outputs go behind `out`.
void run_all(Arguments &a, TesseraMetal *m)
{
	TesseraError e = {};
	const size_t in = bytes_of(arrays(m, false, nullptr)),
		     out = bytes_of(arrays(m, true, nullptr));
	const size_t slots = static_cast<size_t>(a.options.slots), before = a.out.size();
	if (a.in.size() != in * a.runs)
		throw std::runtime_error(std::to_string(a.in.size()) + " bytes of inputs, wanted " +
					 std::to_string(in * a.runs));
	a.out.resize(before + out * a.runs);
	Bytes given(in);
	for (size_t i = 0; i < a.runs + slots; i++) {
		if (i >= slots && i - slots < a.runs) {
			const auto to = arrays(m, true, a.out.data() + before + out * (i - slots));
			must(tessera_metal_wait(m, to.data(), to.size(), &e), e);
		}
		if (i < a.runs) {
			memcpy(given.data(), a.in.data() + in * i, in);
			const auto from = arrays(m, false, given.data());
			must(tessera_metal_submit(m, from.data(), from.size(), &e), e);
			memset(given.data(), 0x55, in); // it is free as soon as that is back
		}
	}
}

void open_and_run(Arguments &a)
{
	TesseraError e = {};
	TesseraMetal *m = tessera_metal_open(a.net, &a.options, &e);
	must(m, e);
	run_all(a, m);
	tessera_metal_close(m);
}

} // namespace

int main(int argc, char **argv)
{
	try {
		Arguments a = parse(argc, argv);
		open_and_run(a);
		if (a.again) {
			run_dirty();
			open_and_run(a);
		}
		std::ofstream(argv[4], std::ios::binary).write(a.out.data(), a.out.size());
		return 0;
	} catch (const std::exception &e) {
		fprintf(stderr, "%s\n", e.what());
		return 1;
	}
}
