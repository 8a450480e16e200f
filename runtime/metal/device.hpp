/*
 * A device, or a mesh of them, with what a net keeps there: its region of L1, weights,
 * tensors on their way, and the inputs and outputs of every slot.
 */
#ifndef RUNTIME_METAL_DEVICE_HPP
#define RUNTIME_METAL_DEVICE_HPP

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tt-metalium/distributed.hpp>

#include "runtime/metal/network.hpp"
#include "runtime/metal/weights.hpp"

namespace tessera
{

using MeshBuffers = std::shared_ptr<tt::tt_metal::distributed::MeshBuffer>;

/* Opens the devices that are asked for; throws if they are not what the net is made for. */
std::shared_ptr<tt::tt_metal::distributed::MeshDevice> open_device(const Network &net,
								   const TesseraMetalOptions &o);

class Device : public Places
{
      public:
	Device(const Network &net, std::shared_ptr<tt::tt_metal::distributed::MeshDevice> mesh,
	       const Weights &weights, unsigned slots);

	tt::tt_metal::distributed::MeshDevice &mesh() const { return *mesh_; }
	const tt::tt_metal::Buffer &arena() const { return *arena_->get_reference_buffer(); }
	unsigned devices() const { return static_cast<unsigned>(mesh_->num_devices()); }

	/* The tensor of a part; on every device. */
	const MeshBuffers &buffer(bool output, const std::string &name, unsigned slot) const;

	uint32_t node(unsigned col, unsigned row) const override;
	uint32_t weights(const std::string &name) const override;
	uint32_t dram() const override;
	uint32_t tensor(bool output, const std::string &name, unsigned slot) const override;

      private:
	std::shared_ptr<tt::tt_metal::distributed::MeshDevice> mesh_;
	const Weights &file_;
	MeshBuffers arena_, weights_, dram_;
	std::map<std::pair<bool, std::string>, std::vector<MeshBuffers>> tensors_; /* by slot */

	MeshBuffers in_dram(uint64_t bytes, uint32_t page_bytes);
	void reserve_l1(const Network &net);
	void upload_weights();
	void add_tensors(const std::vector<EdgeSpec> &edges, bool output, unsigned slots);
};

} // namespace tessera

#endif
