/*
 * Runs of a net: inputs to the device, its programs or their trace, outputs back, with as
 * many under way as there are slots. tessera_metal.h says what the modes are.
 *
 *     one queue          in 0, run 0, out 0, in 1, run 1, out 1
 *     two                second: in 0, in 1, ...     first: run 0, out 0, run 1, ...
 *     transfers apart    second: in 0, in 1, out 0   first: run 0, run 1, ...
 *
 * A slot is free again when its outputs have been waited for, so nothing on the device waits
 * for inputs to be read; events only keep the queues of a run in order.
 */
#ifndef RUNTIME_METAL_PIPELINE_HPP
#define RUNTIME_METAL_PIPELINE_HPP

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <tt-metalium/distributed.hpp>
#include <tt-metalium/mesh_workload.hpp>

#include "runtime/metal/device.hpp"
#include "runtime/metal/program.hpp"

namespace tessera
{

class Pipeline
{
      public:
	Pipeline(Network &net, const Device &device, const ProgramPlace &place,
		 const TesseraMetalOptions &o);
	~Pipeline();
	Pipeline(const Pipeline &) = delete;
	Pipeline &operator=(const Pipeline &) = delete;

	bool full() const { return under_way_.size() == slots_.size(); }
	bool idle() const { return under_way_.empty(); }

	/* One array for each input or output, of all devices. */
	void submit(const std::vector<const void *> &inputs);
	void wait(const std::vector<void *> &outputs); /* the oldest */

      private:
	using Workload = std::shared_ptr<tt::tt_metal::distributed::MeshWorkload>;
	using Queue = tt::tt_metal::distributed::MeshCommandQueue;
	using Event = tt::tt_metal::distributed::MeshEvent;

	/* Bytes of a part's tensor, device by device. */
	using Stage = std::vector<uint8_t>;

	struct Slot {
		std::vector<Workload> workloads;
		std::optional<tt::tt_metal::distributed::MeshTraceId> trace;
		std::vector<std::vector<Stage>> in, out; /* by edge and part */
		std::optional<Event> through;            /* its programs are, or its outputs */
	};

	Network &net_;
	const Device &device_;
	Queue &programs_, &inputs_, &outputs_;
	std::vector<Slot> slots_;
	std::deque<unsigned> under_way_;
	unsigned next_ = 0;

	void make_programs(const ProgramPlace &place);
	void record();
	void send(unsigned slot, const std::vector<const void *> &inputs);
	void fetch(unsigned slot);
	void transfer(Queue &queue, bool output, const PartSpec &part, unsigned slot, Stage &stage);
};

} // namespace tessera

#endif
