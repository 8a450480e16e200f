#include "tests/metal/host/jit.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>

#include "tests/metal/host/refuse.hpp"
#include "tests/metal/link_kernel.h"
#include "tests/metal/machine.h"

extern char **environ;

namespace tt::tt_metal::metal_emu
{

namespace fs = std::filesystem;

// Private memory of a RISC-V, and what TT-Metal's own firmware keeps of it: a kernel has
// the rest, less here by the circular buffers that are the kernel's own in our mirror.
struct Ram {
	uint32_t bytes, firmware;
};

static const Ram rams[TT_RISCS] = {
	{ 4096, 512 }, { 4096, 512 }, { 2048, 32 }, { 2048, 32 }, { 2048, 32 }
};

static std::string read_file(const fs::path &path)
{
	std::ifstream in(path, std::ios::binary);
	if (!in)
		refuse("%s: cannot be read", path.c_str());
	std::ostringstream all;
	all << in.rdbuf();
	return all.str();
}

// FNV-1a of two different starts, as hexadecimal digits.
class Hash
{
      public:
	void add(const std::string &s)
	{
		for (unsigned char c : s + '\0') {
			a_ = (a_ ^ c) * 1099511628211u;
			b_ = (b_ ^ c) * 1099511628211u + 0x9e3779b9;
		}
	}
	std::string text() const
	{
		char to[40];
		snprintf(to, sizeof to, "%016llx%016llx", static_cast<unsigned long long>(a_),
			 static_cast<unsigned long long>(b_));
		return to;
	}

      private:
	uint64_t a_ = 14695981039346656037u, b_ = 1469598103934665603u;
};

// All headers below a folder, once in a process.
static const std::string &hash_of_headers(const fs::path &folder)
{
	static std::map<std::string, std::string> known;
	static std::mutex lock;
	const std::lock_guard<std::mutex> hold(lock);
	std::string &text = known[folder.string()];
	if (!text.empty())
		return text;
	std::vector<fs::path> files;
	for (const auto &e : fs::recursive_directory_iterator(folder))
		if (e.is_regular_file() &&
		    (e.path().extension() == ".h" || e.path().extension() == ".def"))
			files.push_back(e.path());
	std::sort(files.begin(), files.end());
	Hash h;
	for (const fs::path &f : files) {
		h.add(fs::relative(f, folder).string());
		h.add(read_file(f));
	}
	text = h.text();
	return text;
}

static std::string opt_flag(KernelBuildOptLevel level)
{
	switch (level) {
	case KernelBuildOptLevel::O0:
		return "-O0";
	case KernelBuildOptLevel::O1:
		return "-O1";
	case KernelBuildOptLevel::O2:
		return "-O2";
	case KernelBuildOptLevel::O3:
		return "-O3";
	case KernelBuildOptLevel::Os:
		return "-Os";
	case KernelBuildOptLevel::Oz:
		return "-Oz";
	case KernelBuildOptLevel::Ofast:
		return "-O3";
	}
	return "-O2";
}

// As TT-Metal's jit_build has them for Wormhole.
static void add_defines(std::vector<std::string> &flags, const Source &s)
{
	static const char *const thread[] = { "UNPACK", "MATH", "PACK" };
	std::string args = "-DKERNEL_COMPILE_TIME_ARGS=";
	for (size_t i = 0; i < s.compile_args.size(); i++)
		args += (i ? "," : "") + std::to_string(s.compile_args[i]);
	for (const char *d : { "KERNEL_BUILD", "ARCH_WORMHOLE", "TENSIX_FIRMWARE", "LOCAL_MEM_EN=0",
			       "NUM_DRAM_BANKS=12", "NUM_L1_BANKS=64", "DISPATCH_MESSAGE_ADDR=0",
			       "NOC_MODE=0", "PCIE_NOC_X=0", "PCIE_NOC_Y=3" })
		flags.push_back(std::string("-D") + d);
	flags.push_back(args);
	if (s.risc == TT_BRISC || s.risc == TT_NCRISC) {
		flags.push_back(s.risc == TT_BRISC ? "-DCOMPILE_FOR_BRISC"
						   : "-DCOMPILE_FOR_NCRISC");
		flags.push_back("-DPROCESSOR_INDEX=" + std::to_string(s.risc));
		flags.push_back("-DNOC_INDEX=" + std::to_string(s.noc));
	} else {
		const int t = s.risc - TT_TRISC0;
		flags.push_back("-DCOMPILE_FOR_TRISC=" + std::to_string(t));
		flags.push_back("-DPROCESSOR_INDEX=" + std::to_string(s.risc));
		flags.push_back(std::string("-DTRISC_") + thread[t]);
		flags.push_back(std::string("-DUCK_CHLKC_") + thread[t]);
		flags.push_back(std::string("-DNAMESPACE=chlkc_") + (t == 0   ? "unpack"
								     : t == 1 ? "math"
									      : "pack"));
	}
	for (const auto &[name, value] : s.defines)
		flags.push_back("-D" + name + (value.empty() ? "" : "=" + value));
}

static std::vector<std::string> flags_of(const Source &s)
{
	std::vector<std::string> flags = { "--target=riscv32-unknown-elf",
					   "-march=rv32im",
					   "-mabi=ilp32",
					   "-mcmodel=medany",
					   "-ffreestanding",
					   "-fno-builtin",
					   "-msmall-data-limit=0",
					   "-Wall",
					   "-Wextra",
					   "-Werror",
					   "-Werror=deprecated-declarations",
					   opt_flag(s.opt_level) };
	if (s.firmware) {
		flags.push_back("-std=c11");
		flags.push_back("-DTT_RISC=" + std::to_string(s.risc));
		return flags;
	}
	for (const char *f :
	     { "-std=c++17", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics" })
		flags.push_back(f);
	add_defines(flags, s);
	return flags;
}

static std::vector<std::string> folders_of(const Source &s)
{
	std::vector<std::string> folders;
	for (const fs::path &p : s.include_paths)
		folders.push_back(p.string());
	for (const char *own :
	     { METAL_ROOT "/tests/metal/include", METAL_ROOT "/tests/metal/kernel/std", METAL_ROOT,
	       METAL_GENERATED })
		folders.push_back(own);
	return folders;
}

std::string compile_key(const Source &s)
{
	Hash h;
	h.add(METAL_CLANG);
	for (const std::string &f : flags_of(s))
		h.add(f);
	h.add(read_file(s.file));
	for (const fs::path &p : s.include_paths)
		h.add(hash_of_headers(p));
	for (const char *own : { "tests/metal", "runtime/device", "backend" })
		h.add(hash_of_headers(fs::path(METAL_ROOT) / own));
	return h.text();
}

static void run(const std::vector<std::string> &words, const fs::path &said)
{
	std::vector<char *> argv;
	for (const std::string &w : words)
		argv.push_back(const_cast<char *>(w.c_str()));
	argv.push_back(nullptr);
	posix_spawn_file_actions_t files;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 2, said.c_str(), 01101,
					 0644); // write, create, empty
	pid_t child;
	const int failed = posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), environ);
	posix_spawn_file_actions_destroy(&files);
	int status = 0;
	if (failed)
		refuse("%s: %s", argv[0], strerror(failed));
	waitpid(child, &status, 0);
	if (status != 0)
		refuse("a kernel does not compile:\n%s", read_file(said).c_str());
}

static fs::path results()
{
	const char *told = getenv("TESSERA_METAL_CACHE");
	return told ? told : METAL_CACHE;
}

// The object file of a source, made if it is not there yet.
static fs::path object_of(const Source &s, const std::string &key, const fs::path &folder)
{
	const fs::path object = folder / (key + ".o");
	if (fs::exists(object))
		return object;
	fs::create_directories(folder);
	std::ostringstream unique;
	unique << key << "." << getpid() << "." << s.risc;
	const fs::path base = folder / unique.str();
	const fs::path module = base.string() + (s.firmware ? ".c" : ".cpp");
	{
		std::ofstream out(module);
		if (!s.firmware)
			out << "#include \"tests/metal/kernel/start.h\"\n";
		out << "#include \"" << fs::absolute(s.file).string() << "\"\n";
	}
	std::vector<std::string> words = { METAL_CLANG };
	for (const std::string &f : flags_of(s))
		words.push_back(f);
	for (const std::string &f : folders_of(s))
		words.push_back("-I" + f);
	const fs::path made = base.string() + ".o", said = base.string() + ".said";
	for (const std::string &w :
	     { std::string("-c"), module.string(), std::string("-o"), made.string() })
		words.push_back(w);
	run(words, said);
	fs::rename(made, object);
	fs::remove(module);
	fs::remove(said);
	return object;
}

// Where a kernel runs, and where the host puts it, and how long it may be there.
struct Room {
	uint32_t run, put, bytes;
};

static Room room_of(const Source &s)
{
	if (s.firmware) {
		const uint32_t at =
			METAL_FIRMWARE + static_cast<uint32_t>(s.risc) * METAL_FIRMWARE_STEP;
		return { at, at, METAL_FIRMWARE_STEP };
	}
	if (s.risc == TT_BRISC)
		return { METAL_TEXT_BRISC, METAL_TEXT_BRISC, METAL_TEXT_NCRISC - METAL_TEXT_BRISC };
	if (s.risc == TT_NCRISC)
		return { TT_IRAM, METAL_TEXT_NCRISC, TT_IRAM_BYTES };
	const uint32_t at = METAL_TEXT_TRISC +
			    static_cast<uint32_t>(s.risc - TT_TRISC0) * METAL_TEXT_TRISC_STEP;
	return { at, at, METAL_TEXT_TRISC_STEP };
}

static std::shared_ptr<const Text> link(const Source &s, const fs::path &object)
{
	const std::string file = read_file(object);
	const Room room = room_of(s);
	const Ram ram = rams[s.risc];
	char why[METAL_LINK_WHY] = "";
	MetalText t;
	if (!metal_link(&t, s.file.c_str(), file.data(), file.size(), room.run, ram.bytes,
			!s.firmware, why))
		refuse("%s: %s", s.file.c_str(), why);
	auto text = std::make_shared<Text>();
	text->bytes.assign(t.bytes, t.bytes + t.size);
	text->entry = t.entry;
	text->at = room.put;
	free(t.bytes);
	if (t.size > room.bytes)
		refuse("%s: %u bytes of code for RISC-V %d, %u fit", s.file.c_str(), t.size, s.risc,
		       room.bytes);
	if (s.firmware ? t.local != 0 : t.local + ram.firmware > ram.bytes)
		refuse("%s: %u bytes of variables and stack for RISC-V %d, %u fit", s.file.c_str(),
		       t.local, s.risc, s.firmware ? 0 : ram.bytes - ram.firmware);
	return text;
}

std::shared_ptr<const Text> compile_into(const Source &s, const fs::path &folder)
{
	return link(s, object_of(s, compile_key(s), folder));
}

std::shared_ptr<const Text> compile(const Source &s)
{
	static std::map<std::string, std::shared_ptr<const Text>> known;
	static std::mutex lock;
	const std::string key = compile_key(s);
	{
		const std::lock_guard<std::mutex> hold(lock);
		const auto it = known.find(key);
		if (it != known.end())
			return it->second;
	}
	auto text = link(s, object_of(s, key, results()));
	const std::lock_guard<std::mutex> hold(lock);
	return known[key] = text;
}

} // namespace tt::tt_metal::metal_emu
