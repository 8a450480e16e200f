#include "runtime/metal/pipeline.hpp"

#include <tt-metalium/mesh_command_queue.hpp>
#include <tt-metalium/mesh_event.hpp>
#include <tt-metalium/shard_data_transfer.hpp>

namespace tessera
{

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;

namespace
{

using Stages = std::vector<std::vector<std::vector<uint8_t>>>;

Stages stages(const std::vector<EdgeSpec> &edges, unsigned devices)
{
	Stages all;
	for (const EdgeSpec &edge : edges) {
		auto &parts = all.emplace_back();
		for (const PartSpec &part : edge.parts)
			parts.emplace_back(devices * part.pages() * part.page_bytes());
	}
	return all;
}

/* Parts of an edge that look at the same tensor share the stage of the first of them. */
size_t first_of(const EdgeSpec &edge, size_t part)
{
	size_t i = 0;
	while (edge.parts[i].tensor != edge.parts[part].tensor)
		i++;
	return i;
}

/* Where the tensors of an edge stand in its stages, for a device. */
std::vector<uint8_t *> on_device(const EdgeSpec &edge, std::vector<std::vector<uint8_t>> &stage,
				 unsigned device, unsigned devices)
{
	std::vector<uint8_t *> at;
	for (size_t i = 0; i < edge.parts.size(); i++) {
		std::vector<uint8_t> &bytes = stage[first_of(edge, i)];
		at.push_back(bytes.data() + bytes.size() / devices * device);
	}
	return at;
}

} // namespace

Pipeline::Pipeline(Network &net, const Device &device, const ProgramPlace &place,
		   const TesseraMetalOptions &o)
    : net_(net), device_(device), programs_(device.mesh().mesh_command_queue(0)),
      inputs_(device.mesh().mesh_command_queue(o.queues > 1 ? 1 : 0)),
      outputs_(device.mesh().mesh_command_queue(o.queues > 1 && o.transfers_apart ? 1 : 0)),
      slots_(static_cast<size_t>(o.slots))
{
	make_programs(place);
	for (Slot &slot : slots_) {
		slot.in = stages(net.inputs, device.devices());
		slot.out = stages(net.outputs, device.devices());
	}
	if (o.trace)
		record();
}

Pipeline::~Pipeline()
{
	Finish(programs_);
	Finish(inputs_);
	for (Slot &slot : slots_)
		if (slot.trace)
			device_.mesh().release_mesh_trace(*slot.trace);
}

/* Programs at the edges are those of a slot, the others are the same for all. */
void Pipeline::make_programs(const ProgramPlace &place)
{
	for (const Network::Step &step : net_.steps) {
		std::vector<Workload> shared;
		for (unsigned slot = 0; slot < slots_.size(); slot++) {
			if (step.each || slot == 0) {
				shared.clear();
				for (const ProgramSpec &spec : net_.describe(step, slot, device_)) {
					const Workload &w = shared.emplace_back(
						std::make_shared<MeshWorkload>());
					w->add_program(MeshCoordinateRange(device_.mesh().shape()),
						       make_program(spec, place));
				}
			}
			slots_[slot].workloads.insert(slots_[slot].workloads.end(), shared.begin(),
						      shared.end());
		}
	}
}

/* The first time kernels are compiled and sent, which is no part of a trace; and what that
 * reserves has to be there before the first trace is. */
void Pipeline::record()
{
	for (const Slot &slot : slots_)
		for (const Workload &w : slot.workloads)
			EnqueueMeshWorkload(programs_, *w, true);
	for (Slot &slot : slots_) {
		slot.trace = device_.mesh().begin_mesh_trace(programs_);
		for (const Workload &w : slot.workloads)
			EnqueueMeshWorkload(programs_, *w, false);
		device_.mesh().end_mesh_trace(programs_, *slot.trace);
	}
}

void Pipeline::transfer(Queue &queue, bool output, const PartSpec &part, unsigned slot,
			Stage &stage)
{
	const MeshBuffers &buffer = device_.buffer(output, part.tensor, slot);
	const size_t bytes = stage.size() / device_.devices();
	std::vector<ShardDataTransfer> shards;
	for (const MeshCoordinate &at : MeshCoordinateRange(device_.mesh().shape()))
		shards.push_back(
			ShardDataTransfer(at).host_data(stage.data() + bytes * shards.size()));
	if (output)
		queue.enqueue_read_shards(shards, buffer, false);
	else
		queue.enqueue_write_shards(buffer, shards, false);
}

void Pipeline::send(unsigned slot, const std::vector<const void *> &inputs)
{
	const unsigned devices = device_.devices();
	for (size_t i = 0; i < net_.inputs.size(); i++) {
		const EdgeSpec &edge = net_.inputs[i];
		std::vector<Stage> &stage = slots_[slot].in[i];
		for (unsigned d = 0; d < devices; d++)
			edge.to_stage(static_cast<const uint8_t *>(inputs[i]) + d * edge.bytes(),
				      on_device(edge, stage, d, devices));
		for (size_t k = 0; k < edge.parts.size(); k++)
			if (first_of(edge, k) == k)
				transfer(inputs_, false, edge.parts[k], slot, stage[k]);
	}
}

void Pipeline::fetch(unsigned slot)
{
	if (&outputs_ != &programs_)
		outputs_.enqueue_wait_for_event(*slots_[slot].through);
	for (size_t i = 0; i < net_.outputs.size(); i++) {
		const EdgeSpec &edge = net_.outputs[i];
		for (size_t k = 0; k < edge.parts.size(); k++)
			if (first_of(edge, k) == k)
				transfer(outputs_, true, edge.parts[k], slot,
					 slots_[slot].out[i][k]);
	}
	slots_[slot].through = outputs_.enqueue_record_event_to_host();
}

void Pipeline::submit(const std::vector<const void *> &inputs)
{
	const unsigned slot = next_;
	send(slot, inputs);
	if (&inputs_ != &programs_)
		programs_.enqueue_wait_for_event(inputs_.enqueue_record_event());
	if (slots_[slot].trace) {
		device_.mesh().replay_mesh_trace(programs_, *slots_[slot].trace, false);
	} else {
		for (const Workload &w : slots_[slot].workloads)
			EnqueueMeshWorkload(programs_, *w, false);
	}
	if (&outputs_ == &programs_)
		fetch(slot);
	else
		slots_[slot].through = programs_.enqueue_record_event();
	under_way_.push_back(slot);
	next_ = (next_ + 1) % static_cast<unsigned>(slots_.size());
}

void Pipeline::wait(const std::vector<void *> &outputs)
{
	const unsigned slot = under_way_.front(), devices = device_.devices();
	if (&outputs_ != &programs_)
		fetch(slot);
	EventSynchronize(*slots_[slot].through);
	for (size_t i = 0; i < net_.outputs.size(); i++) {
		const EdgeSpec &edge = net_.outputs[i];
		for (unsigned d = 0; d < devices; d++)
			edge.from_stage(static_cast<uint8_t *>(outputs[i]) + d * edge.bytes(),
					on_device(edge, slots_[slot].out[i], d, devices));
	}
	under_way_.pop_front();
}

} // namespace tessera
