/* The C interface: what throws inside becomes an error here. */
#include "runtime/metal/tessera_metal.h"

#include <cstring>
#include <memory>

#include <tt-metalium/host_api.hpp>

#include "runtime/metal/device.hpp"
#include "runtime/metal/open.hpp"
#include "runtime/metal/pipeline.hpp"

extern "C" {
#include "runtime/host/arrays.h"
#include "runtime/host/error.h"
}

using namespace tessera;
using tt::tt_metal::distributed::MeshDevice;

struct TesseraMetal {
	Network net;
	std::shared_ptr<MeshDevice> mesh;
	bool own_mesh = false;
	std::unique_ptr<Weights> weights;
	std::unique_ptr<Device> device;
	std::unique_ptr<Pipeline> pipeline;
	bool failed = false; /* a run failed: nobody knows what is on the device */

	~TesseraMetal();
};

TesseraMetal::~TesseraMetal()
{
	try {
		pipeline.reset();
		device.reset();
		if (own_mesh && mesh)
			mesh->close();
	} catch (...) { /* there is nobody to tell */
	}
}

namespace
{

/* Nothing when a test of the folder's existence would only repeat what opening files says. */
std::string folder_of(const TesseraMetalOptions &o)
{
	if (o.folder)
		return o.folder;
#ifdef TESSERA_PROJECT_FOLDER
	return TESSERA_PROJECT_FOLDER;
#else
	throw std::runtime_error("the options name no folder");
#endif
}

/* An installed TT-Metal knows where its kernels, headers and compiler are; of one that is used
 * from its source tree it has to be told, unless TT_METAL_RUNTIME_ROOT does. */
void name_tree()
{
#ifdef TESSERA_METAL_TREE
	tt::tt_metal::SetRootDir(TESSERA_METAL_TREE);
#endif
}

void check(const TesseraMetalOptions &o)
{
	const bool queues = o.queues == 1 || o.queues == 2;
	if (!queues || o.slots < 1 || o.mesh_rows < 0 || o.mesh_cols < 0 ||
	    !o.mesh_rows != !o.mesh_cols)
		throw std::invalid_argument(
			"options: queues are 1 or 2, slots at least 1, a mesh has both "
			"rows and columns");
	if (o.transfers_apart && o.queues != 2)
		throw std::invalid_argument("options: transfers_apart wants two queues");
	if (o.precompiled_only && !o.precompiled)
		throw std::invalid_argument("options: precompiled_only wants precompiled");
}

/* What TT-Metal throws goes on with the host's stack, which nobody can read. */
std::string without_stack(const std::exception &x)
{
	const std::string text = x.what();
	return text.substr(0, text.find("\nbacktrace:"));
}

/* What `work` throws, as an error; false then. */
template <typename Work> bool guarded(TesseraError *e, TesseraCode code, Work work)
{
	try {
		work();
		return true;
	} catch (const std::invalid_argument &x) {
		return rt_fail(e, TESSERA_MISUSE, "%s", x.what());
	} catch (const std::bad_alloc &) {
		return rt_fail(e, TESSERA_NO_MEMORY, "out of memory");
	} catch (const std::exception &x) {
		return rt_fail(e, code, "%s", without_stack(x).c_str());
	}
}

void open(TesseraMetal &m, const TesseraMetalNetwork &n, const TesseraMetalOptions &o)
{
	check(o);
	n.describe(m.net);
	const std::string folder = folder_of(o);
	m.weights = std::make_unique<Weights>(folder + "/" + n.file + ".weights");
	if (!m.mesh) {
		name_tree();
		m.mesh = open_device(m.net, o);
		m.own_mesh = true;
	}
	m.device =
		std::make_unique<Device>(m.net, m.mesh, *m.weights, static_cast<unsigned>(o.slots));
	ProgramPlace place = { m.net,
			       m.device->arena(),
			       folder,
			       { o.precompiled ? o.precompiled : "", o.precompiled_only },
			       {} };
	for (unsigned core = 0; core < m.net.cores; core++)
		place.nodes.push_back(m.device->node(core % m.net.cols, core / m.net.cols));
	m.pipeline = std::make_unique<Pipeline>(m.net, *m.device, place, o);
}

TesseraMetal *opened(std::shared_ptr<MeshDevice> mesh, const TesseraMetalNetwork *n,
		     const TesseraMetalOptions *o, TesseraError *e)
{
	auto m = std::make_unique<TesseraMetal>();
	m->mesh = std::move(mesh);
	return guarded(e, TESSERA_DEVICE, [&] { open(*m, *n, *o); }) ? m.release() : nullptr;
}

bool check_arrays(const std::vector<EdgeSpec> &edges, unsigned devices, const char *what,
		  const TesseraArray *a, size_t n, TesseraError *e)
{
	if (n != edges.size())
		return rt_fail(e, TESSERA_BAD_INPUT, "%zu %s given, the net has %zu", n, what,
			       edges.size());
	for (size_t i = 0; i < n; i++) {
		const TesseraTensor t = edges[i].tensor(devices);
		if (!array_check(&t, &a[i], e))
			return false;
	}
	return true;
}

bool usable(const TesseraMetal *m, TesseraError *e)
{
	return !m->failed || rt_fail(e, TESSERA_MISUSE, "a run failed; open the net again");
}

/* Addresses of nowhere, when kernels are only compiled. */
class NoPlaces : public Places
{
      public:
	uint32_t node(unsigned, unsigned) const override { return 0; }
	uint32_t weights(const std::string &) const override { return 0; }
	uint32_t dram() const override { return 0; }
	uint32_t tensor(bool, const std::string &, unsigned) const override { return 0; }
};

} // namespace

TesseraMetal *tessera::open_on(std::shared_ptr<MeshDevice> mesh, const TesseraMetalNetwork *n,
			       const TesseraMetalOptions *o, TesseraError *e)
{
	return opened(std::move(mesh), n, o, e);
}

TesseraMetalOptions tessera_metal_options(void)
{
	TesseraMetalOptions o = {};
	o.queues = 1;
	o.slots = 2;
	return o;
}

TesseraMetal *tessera_metal_open(const TesseraMetalNetwork *n, const TesseraMetalOptions *o,
				 TesseraError *e)
{
	return opened(nullptr, n, o, e);
}

void tessera_metal_close(TesseraMetal *m)
{
	delete m;
}

size_t tessera_metal_input_count(const TesseraMetal *m)
{
	return m->net.inputs.size();
}

size_t tessera_metal_output_count(const TesseraMetal *m)
{
	return m->net.outputs.size();
}

TesseraTensor tessera_metal_input(const TesseraMetal *m, size_t i)
{
	return i < m->net.inputs.size() ? m->net.inputs[i].tensor(m->device->devices())
					: TesseraTensor{};
}

TesseraTensor tessera_metal_output(const TesseraMetal *m, size_t i)
{
	return i < m->net.outputs.size() ? m->net.outputs[i].tensor(m->device->devices())
					 : TesseraTensor{};
}

bool tessera_metal_submit(TesseraMetal *m, const TesseraArray *inputs, size_t count,
			  TesseraError *e)
{
	if (!usable(m, e) ||
	    !check_arrays(m->net.inputs, m->device->devices(), "inputs", inputs, count, e))
		return false;
	if (m->pipeline->full())
		return rt_fail(e, TESSERA_MISUSE, "all slots are under way, wait for one");
	std::vector<const void *> data;
	for (size_t i = 0; i < count; i++)
		data.push_back(inputs[i].data);
	m->failed = !guarded(e, TESSERA_DEVICE, [&] { m->pipeline->submit(data); });
	return !m->failed;
}

bool tessera_metal_wait(TesseraMetal *m, const TesseraArray *outputs, size_t count, TesseraError *e)
{
	if (!usable(m, e) ||
	    !check_arrays(m->net.outputs, m->device->devices(), "outputs", outputs, count, e))
		return false;
	if (m->pipeline->idle())
		return rt_fail(e, TESSERA_MISUSE, "nothing was submitted");
	std::vector<void *> data;
	for (size_t i = 0; i < count; i++)
		data.push_back(outputs[i].data);
	m->failed = !guarded(e, TESSERA_DEVICE, [&] { m->pipeline->wait(data); });
	return !m->failed;
}

bool tessera_metal_run(TesseraMetal *m, const TesseraArray *inputs, size_t input_count,
		       const TesseraArray *outputs, size_t output_count, TesseraError *e)
{
	if (!usable(m, e))
		return false;
	if (!m->pipeline->idle())
		return rt_fail(e, TESSERA_MISUSE, "runs are under way, wait for them");
	return check_arrays(m->net.outputs, m->device->devices(), "outputs", outputs, output_count,
			    e) &&
	       tessera_metal_submit(m, inputs, input_count, e) &&
	       tessera_metal_wait(m, outputs, output_count, e);
}

bool tessera_metal_compile(const TesseraMetalNetwork *n, const TesseraMetalOptions *o,
			   const char *to, TesseraError *e)
{
	return guarded(e, TESSERA_DEVICE, [&] {
		Network net;
		name_tree();
		KernelCompiler compiler(folder_of(*o), to);
		n->describe(net);
		for (const Network::Step &step : net.steps)
			for (const ProgramSpec &program : net.describe(step, 0, NoPlaces()))
				compiler.compile(program);
	});
}
