// The small TT-Metal with kernels by hand: it runs them, in the order that queues and
// traces say, and refuses what TT-Metal refuses.
#include <numeric>

#include "tests/metal/check.hpp"
#include "tests/metal/machine.h"
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/experimental/mock_device/mock_device.hpp>
#include <tt-metalium/experimental/offline_kernel_compile.hpp>
#include <tt-metalium/host_api.hpp>

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;

using Mesh = std::shared_ptr<MeshDevice>;
using Mem = std::shared_ptr<MeshBuffer>;
using KernelConfig = std::variant<DataMovementConfig, ComputeConfig>;

enum { PAGE = 256, PAGES = 40, WORDS = PAGES * PAGE / 4 };

static std::string kernel(const char *name)
{
	return std::string(METAL_ROOT "/tests/metal/kernels/") + name + ".cpp";
}

static Mesh open(size_t queues = 1, uint32_t chips = 1)
{
	return MeshDevice::create(MeshDeviceConfig(MeshShape(1, chips)), 0, 1 << 20, queues);
}

static Mem dram(const Mesh &d, uint32_t bytes = PAGES * PAGE, uint32_t page = PAGE)
{
	return MeshBuffer::create(ReplicatedBufferConfig{ .size = bytes },
				  { .page_size = page, .buffer_type = BufferType::DRAM }, d.get());
}

// One page on each core of the first column.
static Mem arena(const Mesh &d, uint32_t bytes, uint32_t cores = 8)
{
	const CoreRangeSet grid(CoreRange({ 0, 0 }, { 0, cores - 1 }));
	const ShardSpecBuffer shards(grid, { 1, bytes }, ShardOrientation::ROW_MAJOR, { 1, bytes },
				     { cores, 1 });
	return MeshBuffer::create(
		ReplicatedBufferConfig{ .size = uint64_t(bytes) * cores },
		{ .page_size = bytes,
		  .buffer_type = BufferType::L1,
		  .sharding_args = BufferShardingArgs(shards, TensorMemoryLayout::HEIGHT_SHARDED) },
		d.get());
}

// Adds a number to every word on the way from one buffer to another, on 4 cores.
struct Adder {
	Mem space;
	MeshWorkload work;

	Adder(const Mesh &d, const Mem &from, const Mem &to, uint32_t number)
	    : space(arena(d, 4 * PAGE, 4))
	{
		const CoreRange cores({ 0, 0 }, { 0, 3 });
		Program p = CreateProgram();
		for (uint8_t cb : { 0, 1 }) {
			CircularBufferConfig c(2 * PAGE, { { cb, tt::DataFormat::RawUInt32 } });
			c.set_page_size(cb, PAGE).set_globally_allocated_address(
				*space->get_backing_buffer());
			c.set_address_offset(PAGE);
			CreateCircularBuffer(p, cores, c);
		}
		const auto in = CreateKernel(
			p, kernel("reader"), cores,
			DataMovementConfig{ .processor = DataMovementProcessor::RISCV_1,
					    .noc = NOC::NOC_0 });
		const auto out = CreateKernel(
			p, kernel("writer"), cores,
			DataMovementConfig{ .processor = DataMovementProcessor::RISCV_0,
					    .noc = NOC::NOC_1 });
		const auto add = CreateKernel(p, kernel("add"), cores, ComputeConfig{});
		for (uint32_t i = 0; i < 4; i++) {
			const CoreCoord core(0, i);
			SetRuntimeArgs(p, in, core,
				       { uint32_t(from->address()), PAGE, i, 4, PAGES / 4 });
			SetRuntimeArgs(p, out, core,
				       { uint32_t(to->address()), PAGE, i, 4, PAGES / 4 });
			SetRuntimeArgs(p, add, core, { number, PAGE / 4, PAGES / 4 });
		}
		work.add_program(MeshCoordinateRange(d->shape()), std::move(p));
	}
};

static std::vector<uint32_t> numbers(uint32_t first)
{
	std::vector<uint32_t> all(WORDS);
	std::iota(all.begin(), all.end(), first);
	return all;
}

CLAIM(pages_pass_through_five_kernels)
{
	const Mesh d = open();
	Mem a = dram(d), b = dram(d);
	Adder adder(d, a, b, 7);
	std::vector<uint32_t> got;
	EnqueueWriteMeshBuffer(d->mesh_command_queue(), a, numbers(100));
	EnqueueMeshWorkload(d->mesh_command_queue(), adder.work, false);
	EnqueueReadMeshBuffer(d->mesh_command_queue(), got, b, true);
	CHECK(got == numbers(107));
}

CLAIM(the_same_memory_goes_through_again_and_again)
{
	const Mesh d = open();
	MeshCommandQueue &q = d->mesh_command_queue();
	Mem a = dram(d), b = dram(d);
	Adder there(d, a, b, 1), back(d, b, a, 2);
	std::vector<uint32_t> got;
	EnqueueWriteMeshBuffer(q, a, numbers(0));
	for (int i = 0; i < 5; i++) {
		EnqueueMeshWorkload(q, there.work, false);
		EnqueueMeshWorkload(q, back.work, false);
	}
	EnqueueReadMeshBuffer(q, got, a, true);
	CHECK(got == numbers(15));
}

CLAIM(results_are_not_there_before_somebody_waits)
{
	const Mesh d = open();
	MeshCommandQueue &q = d->mesh_command_queue();
	Mem a = dram(d), b = dram(d);
	Adder adder(d, a, b, 1);
	std::vector<uint32_t> got;
	EnqueueWriteMeshBuffer(q, a, numbers(0));
	EnqueueMeshWorkload(q, adder.work, false);
	EnqueueReadMeshBuffer(q, got, b, false);
	CHECK(got == std::vector<uint32_t>(WORDS, 0));
	Finish(q);
	CHECK(got == numbers(1));
}

CLAIM(what_is_written_is_what_it_was_when_it_was_enqueued)
{
	const Mesh d = open();
	MeshCommandQueue &q = d->mesh_command_queue();
	Mem a = dram(d);
	std::vector<uint32_t> from = numbers(3), got;
	EnqueueWriteMeshBuffer(q, a, from, false);
	from.assign(WORDS, 9);
	EnqueueReadMeshBuffer(q, got, a, true);
	CHECK(got == numbers(3));
}

CLAIM(queues_are_in_step_only_by_events)
{
	const Mesh d = open(2);
	MeshCommandQueue &q = d->mesh_command_queue(0), &io = d->mesh_command_queue(1);
	Mem a = dram(d), b = dram(d);
	Adder adder(d, a, b, 1);
	std::vector<uint32_t> early, late;
	EnqueueWriteMeshBuffer(q, b, numbers(50), true);
	EnqueueWriteMeshBuffer(q, a, numbers(0), true);
	EnqueueMeshWorkload(q, adder.work, false);
	EnqueueReadMeshBuffer(io, early, b, true);
	CHECK(early == numbers(50));
	const MeshEvent done = q.enqueue_record_event();
	io.enqueue_wait_for_event(done);
	EnqueueReadMeshBuffer(io, late, b, true);
	CHECK(late == numbers(1));
}

CLAIM(a_trace_does_again_what_was_recorded)
{
	const Mesh d = open();
	MeshCommandQueue &q = d->mesh_command_queue();
	Mem a = dram(d), b = dram(d);
	Adder there(d, a, b, 1), back(d, b, a, 1);
	std::vector<uint32_t> got;
	EnqueueWriteMeshBuffer(q, a, numbers(0));
	EnqueueMeshWorkload(q, there.work, false);
	EnqueueMeshWorkload(q, back.work, false);
	const MeshTraceId id = d->begin_mesh_trace(q);
	EnqueueMeshWorkload(q, there.work, false);
	EnqueueMeshWorkload(q, back.work, false);
	REFUSED(EnqueueReadMeshBuffer(q, got, a, true), "while a trace is recorded");
	REFUSED(EnqueueWriteMeshBuffer(q, a, numbers(0)), "while a trace is recorded");
	REFUSED(EnqueueMeshWorkload(q, there.work, true), "could be waited for");
	d->end_mesh_trace(q, id);
	EnqueueReadMeshBuffer(q, got, a, true);
	CHECK(got == numbers(2));
	for (int i = 0; i < 3; i++)
		d->replay_mesh_trace(q, id, false);
	EnqueueReadMeshBuffer(q, got, a, true);
	CHECK(got == numbers(8));
	d->release_mesh_trace(id);
	REFUSED(d->replay_mesh_trace(q, id, true), "no trace");
}

CLAIM(what_never_ran_is_not_recorded)
{
	const Mesh d = open();
	MeshCommandQueue &q = d->mesh_command_queue();
	Mem a = dram(d), b = dram(d);
	Adder adder(d, a, b, 1);
	d->begin_mesh_trace(q);
	REFUSED(EnqueueMeshWorkload(q, adder.work, false), "never ran");
}

CLAIM(the_host_waits_for_events_meant_for_it)
{
	const Mesh d = open();
	MeshCommandQueue &q = d->mesh_command_queue();
	Mem a = dram(d), b = dram(d);
	Adder adder(d, a, b, 4);
	std::vector<uint32_t> got;
	EnqueueWriteMeshBuffer(q, a, numbers(0));
	EnqueueMeshWorkload(q, adder.work, false);
	EnqueueReadMeshBuffer(q, got, b, false);
	REFUSED(EventSynchronize(q.enqueue_record_event()), "not recorded for the host");
	const MeshEvent done = q.enqueue_record_event_to_host();
	EventSynchronize(done);
	CHECK(EventQuery(done));
	CHECK(got == numbers(4));
}

CLAIM(devices_of_a_mesh_get_their_shards)
{
	const Mesh d = open(1, 2);
	MeshCommandQueue &q = d->mesh_command_queue();
	const distributed::ShardedBufferConfig cut{ .global_size = 2 * PAGES * PAGE,
						    .global_buffer_shape = { 2, WORDS },
						    .shard_shape = { 1, WORDS } };
	const DeviceLocalBufferConfig local{ .page_size = PAGE, .buffer_type = BufferType::DRAM };
	Mem a = MeshBuffer::create(cut, local, d.get()),
	    b = MeshBuffer::create(cut, local, d.get());
	Adder adder(d, a, b, 5);
	std::vector<uint32_t> all = numbers(0), got;
	const std::vector<uint32_t> second = numbers(1000);
	all.insert(all.end(), second.begin(), second.end());
	EnqueueWriteMeshBuffer(q, a, all);
	EnqueueMeshWorkload(q, adder.work, false);
	EnqueueReadMeshBuffer(q, got, b, true);
	for (uint32_t &v : all)
		v += 5;
	CHECK(got == all);
	ReadShard(q, got, b, MeshCoordinate(0, 1));
	CHECK(got == numbers(1005));
}

CLAIM(memory_is_given_by_tt_metals_rules)
{
	const Mesh d = open();
	const Mem top = arena(d, 4096), next = arena(d, 1024);
	CHECK(top->address() == 1499136 - 4096);
	CHECK(next->address() == 1499136 - 4096 - 1024);
	const Mem a = dram(d), b = dram(d);
	CHECK(a->address() % 32 == 0);
	CHECK(b->address() == a->address() + (PAGES + 11) / 12 * PAGE);
	CHECK(arena(d, 1499136 - 105664 - 5120)->address() == 105664);
	REFUSED(arena(d, 1499136 - 105664), "out of memory");
	REFUSED(dram(d, 100, 48), "no whole pages");
	REFUSED(dram(d, 102, 102), "whole number of words");
}

static Program program_of(const char *name, DataMovementProcessor p, NOC noc = NOC::NOC_0)
{
	Program program = CreateProgram();
	CreateKernel(program, kernel(name), CoreCoord(0, 0),
		     DataMovementConfig{ .processor = p, .noc = noc });
	return program;
}

CLAIM(what_tt_metal_refuses_is_refused)
{
	const Mesh d = open();
	Program p = program_of("reader", DataMovementProcessor::RISCV_1);
	const CoreCoord core(0, 0);
	REFUSED(CreateKernel(p, kernel("nothing"), core, ComputeConfig{}), "no such kernel");
	REFUSED(CreateKernel(p, kernel("writer"), core,
			     DataMovementConfig{ .processor = DataMovementProcessor::RISCV_1,
						 .noc = NOC::NOC_1 }),
		"same RISC-V");
	REFUSED(CreateKernel(p, kernel("writer"), core,
			     DataMovementConfig{ .processor = DataMovementProcessor::RISCV_0,
						 .noc = NOC::NOC_0 }),
		"same NoC");
	REFUSED(CreateKernel(p, kernel("add"), CoreCoord(8, 0), ComputeConfig{}),
		"not all on the grid");
	for (int i = 0; i < 16; i++)
		CHECK(CreateSemaphore(p, CoreRange(core), 0) == uint32_t(i));
	REFUSED(CreateSemaphore(p, CoreRange(core), 0), "semaphores are in use");
	SetRuntimeArgs(p, 0, core, std::vector<uint32_t>(341));
	REFUSED(SetRuntimeArgs(p, 0, core, std::vector<uint32_t>(342)), "341 are allowed");
	REFUSED(SetRuntimeArgs(p, 0, core, std::vector<uint32_t>(5)), "had 341 argument words");
	REFUSED(SetRuntimeArgs(p, 0, CoreCoord(1, 0), { 1 }), "does not run on");
	REFUSED(CircularBufferConfig(64, { { 32, tt::DataFormat::RawUInt32 } }),
		"circular buffer 32 of 32");
	CircularBufferConfig c(96, { { 3, tt::DataFormat::RawUInt32 } });
	REFUSED(c.set_page_size(3, 64), "no whole pages");
	REFUSED(CreateCircularBuffer(p, core, c), "no page size");
	c.set_page_size(3, 24);
	REFUSED(CreateCircularBuffer(p, core, c), "no multiple of 16");
	c.set_page_size(3, 32);
	const CBHandle handle = CreateCircularBuffer(p, core, c);
	REFUSED(CreateCircularBuffer(p, core, c), "there twice");
	const Mem space = arena(d, 1024);
	REFUSED(UpdateDynamicCircularBufferAddress(p, handle, *space->get_backing_buffer(), 8),
		"multiple of 16");
	REFUSED(UpdateDynamicCircularBufferAddress(p, handle, *space->get_backing_buffer(), 960),
		"960 bytes into");
}

CLAIM(circular_buffers_and_tensors_do_not_meet)
{
	const Mesh d = open();
	const Mem space = arena(d, 1499136 - 105664 - 512);
	for (uint32_t bytes : { 512, 528 }) {
		Program p = program_of("nothing_to_do", DataMovementProcessor::RISCV_0);
		CircularBufferConfig c(bytes, { { 0, tt::DataFormat::RawUInt32 } });
		c.set_page_size(0, 16);
		CreateCircularBuffer(p, CoreCoord(0, 0), c);
		MeshWorkload w;
		w.add_program(MeshCoordinateRange(d->shape()), std::move(p));
		if (bytes == 512)
			EnqueueMeshWorkload(d->mesh_command_queue(), w, true);
		else
			REFUSED(EnqueueMeshWorkload(d->mesh_command_queue(), w, true),
				"reach into a buffer");
	}
}

static void run_alone(const Mesh &d, const char *name, const KernelConfig &config)
{
	Program p = CreateProgram();
	CreateKernel(p, kernel(name), CoreCoord(0, 0), config);
	MeshWorkload w;
	w.add_program(MeshCoordinateRange(d->shape()), std::move(p));
	EnqueueMeshWorkload(d->mesh_command_queue(), w, true);
}

CLAIM(code_has_to_fit)
{
	const Mesh d = open();
	const DataMovementConfig brisc{ .processor = DataMovementProcessor::RISCV_0,
					.noc = NOC::NOC_1 };
	const DataMovementConfig ncrisc{ .processor = DataMovementProcessor::RISCV_1,
					 .noc = NOC::NOC_0 };
	run_alone(d, "nothing_to_do", brisc);
	REFUSED(run_alone(d, "long", ncrisc), "16384 fit");
	REFUSED(run_alone(d, "deep", brisc), "variables and stack");
	REFUSED(run_alone(d, "wrong", brisc), "does not compile");
}

CLAIM(a_program_that_cannot_go_on_is_told)
{
	const Mesh d = open(1, 3);
	REFUSED(run_alone(d, "waits",
			  DataMovementConfig{ .processor = DataMovementProcessor::RISCV_0,
					      .noc = NOC::NOC_1 }),
		"stuck");
}

CLAIM(kernels_are_compiled_ahead_of_time)
{
	using namespace experimental;
	const std::string dir = METAL_CACHE "/../precompiled", file = kernel("nothing_to_do");
	const DataMovementConfig config{ .defines = { { "ONCE", "1" } } };
	Program p = CreateProgram();
	std::filesystem::remove_all(dir);
	const PrecompiledKernelConfig must{ .precompiled_dir = dir };
	bool missing = false;
	try {
		CreateKernelFromPrecompiled(p, file, CoreCoord(0, 0), config, must);
	} catch (const PrecompiledKernelNotFoundError &e) {
		missing = e.kernel_name() == file;
	}
	CHECK(missing);
	const CoreCoord other(1, 0);
	CreateKernelFromPrecompiled(p, file, other, config,
				    { dir, PrecompiledKernelConfig::FallbackPolicy::JitCompile });
	bool lost = false;
	try {
		CompileKernelOffline(file, config, { .output_dir = dir });
	} catch (const std::exception &e) {
		lost = true; // without anything that looks like a device
	}
	CHECK(lost);
	configure_mock_mode(tt::ARCH::WORMHOLE_B0, 1);
	CompileKernelOffline(file, config, { .output_dir = dir });
	disable_mock_mode();
	CreateKernelFromPrecompiled(p, file, CoreCoord(0, 0), config, must);
}

int main(int argc, char **argv)
{
	return check_claims(argc, argv);
}
