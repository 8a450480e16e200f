// A mesh of chips, its memory, its queues.
//
// Chips stay as they are when a mesh is closed: whoever opens them next finds L1, DRAM
// and Tensix state as they were left. They end with the process.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "tests/metal/chip.h"
#include "tests/metal/host/memory.hpp"
#include "tests/metal/host/program_impl.hpp"
#include <tt-metalium/mesh_command_queue.hpp>

namespace tt::tt_metal::metal_emu
{

// One chip with the firmware running.
class Chip
{
      public:
	explicit Chip(const std::string &spec);
	~Chip();
	Chip(const Chip &) = delete;
	Chip &operator=(const Chip &) = delete;

	void write(const BufferState &b, const uint8_t *from, uint64_t offset, uint64_t n);
	void read(const BufferState &b, uint8_t *to, uint64_t offset, uint64_t n);
	void run(const Launch &l);
	void allow(const BufferState &b);

	// The i-th of this process, opened when it is first wanted, again when it failed.
	static Chip &number(size_t i);

      private:
	void put(uint32_t core, uint32_t at, const void *from, size_t n);
	void get(uint32_t core, uint32_t at, void *to, size_t n);
	void tell(const CoreLaunch &c);
	void start_firmware();
	void await(const Launch &l);
	template <typename Move>
	void by_runs(const BufferState &b, uint64_t offset, uint64_t n, Move move);

	MetalChip *chip_;
	std::string spec_;
	uint32_t launches_ = 0;
	bool broken_ = false;                 // a launch failed: the next mesh gets a new chip
	std::array<uint32_t, CORES> count_{}; // of launches of a core
	std::array<std::array<std::shared_ptr<const Text>, TT_RISCS>, CORES> loaded_;
};

// A launch on each chip of the mesh; none where a workload has no program.
using MeshLaunch = std::vector<std::optional<Launch>>;

class Queue final : public distributed::MeshCommandQueue
{
      public:
	Queue(distributed::MeshDevice *mesh, uint32_t id) : MeshCommandQueue(mesh, id) {}

	std::optional<distributed::MeshTraceId> trace_id() const override { return tracing_; }
	void enqueue_mesh_workload(distributed::MeshWorkload &mesh_workload,
				   bool blocking) override;
	void enqueue_write_mesh_buffer(const std::shared_ptr<distributed::MeshBuffer> &buffer,
				       const void *host_data, bool blocking) override;
	void enqueue_write_shards(
		const std::shared_ptr<distributed::MeshBuffer> &mesh_buffer,
		const std::vector<distributed::ShardDataTransfer> &shard_data_transfers,
		bool blocking) override;
	void enqueue_read_mesh_buffer(void *host_data,
				      const std::shared_ptr<distributed::MeshBuffer> &buffer,
				      bool blocking) override;
	void
	enqueue_read_shards(const std::vector<distributed::ShardDataTransfer> &shard_data_transfers,
			    const std::shared_ptr<distributed::MeshBuffer> &mesh_buffer,
			    bool blocking) override;
	distributed::MeshEvent enqueue_record_event(
		ttsl::Span<const SubDeviceId> sub_device_ids,
		const std::optional<distributed::MeshCoordinateRange> &device_range) override;
	distributed::MeshEvent enqueue_record_event_to_host(
		ttsl::Span<const SubDeviceId> sub_device_ids,
		const std::optional<distributed::MeshCoordinateRange> &device_range) override;
	void enqueue_wait_for_event(const distributed::MeshEvent &sync_event) override;
	void finish(ttsl::Span<const SubDeviceId> sub_device_ids) override;
	void enqueue_trace(const distributed::MeshTraceId &trace_id, bool blocking) override;

	// Carries out commands until this event has come.
	void reach(uint32_t event);
	// One command, and what it waits for; false if there is none.
	bool step();
	bool has_reached(uint32_t event) const { return reached_ >= event; }
	bool is_for_host(uint32_t event) const { return for_host_.contains(event); }
	void record_begin(const distributed::MeshTraceId &id);
	std::vector<MeshLaunch> record_end();

      private:
	void add(std::function<void()> command, bool blocking);
	distributed::MeshEvent record(bool to_host,
				      const std::optional<distributed::MeshCoordinateRange> &range);
	void not_while_tracing(const char *what) const;

	std::deque<std::function<void()>> commands_;
	uint32_t recorded_ = 0, reached_ = 0;
	std::set<uint32_t> for_host_;
	std::optional<distributed::MeshTraceId> tracing_;
	std::vector<MeshLaunch> traced_;
};

} // namespace tt::tt_metal::metal_emu

namespace tt::tt_metal::distributed
{

class MeshDeviceImpl
{
      public:
	MeshDeviceImpl(MeshShape shape, std::vector<int> ids, size_t queues, size_t l1_small,
		       size_t trace_region);

	MeshShape shape;
	std::vector<int> ids;
	std::shared_ptr<metal_emu::Memory> memory;
	std::vector<std::unique_ptr<metal_emu::Queue>> queues;
	std::map<uint32_t, std::vector<metal_emu::MeshLaunch>> traces;
	uint32_t next_trace = 0;
	bool open = true;

	metal_emu::Chip &chip(const MeshCoordinate &at) const;
	metal_emu::Chip &chip(size_t i) const
	{
		return metal_emu::Chip::number(static_cast<size_t>(ids[i]));
	}
	uint64_t l1_lowest() const { return memory->l1.lowest().value_or(memory->l1.end()); }
	void run(const metal_emu::MeshLaunch &l) const;
	// With TESSERA_METAL_ORDER=SEED: commands of any queue, some now, some later.
	void stir();

      private:
	std::optional<std::minstd_rand> order_;
};

} // namespace tt::tt_metal::distributed
