#include "runtime/metal/weights.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/device/map.h"

namespace tessera
{

Weights::Weights(const std::string &path)
{
	map(path);
	try {
		read(path);
	} catch (...) {
		munmap(const_cast<char *>(bytes_), size_);
		throw;
	}
}

Weights::~Weights()
{
	munmap(const_cast<char *>(bytes_), size_);
}

void Weights::map(const std::string &path)
{
	struct stat st;
	const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
	const bool there = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
	const int why = errno;
	void *at = there ? mmap(nullptr, static_cast<size_t>(st.st_size), PROT_READ, MAP_PRIVATE,
				fd, 0)
			 : MAP_FAILED;
	if (fd >= 0)
		close(fd);
	if (at == MAP_FAILED)
		throw std::runtime_error(
			path + ": cannot read: " +
			(fd < 0 ? std::strerror(why) : "no file with something in it"));
	bytes_ = static_cast<const char *>(at);
	size_ = static_cast<size_t>(st.st_size);
}

void Weights::read(const std::string &path)
{
	const char magic[8] = WEIGHTS_MAGIC;
	const std::runtime_error wrong(path + ": not the weights of a net, or not all of them");
	if (size_ < sizeof head_)
		throw wrong;
	std::memcpy(&head_, bytes_, sizeof head_);
	const uint64_t row = static_cast<uint64_t>(head_.page_bytes) * head_.banks;
	const uint64_t names = sizeof head_ + head_.entries * sizeof(WeightsEntry);
	if (std::memcmp(head_.magic, magic, sizeof magic) != 0 ||
	    head_.version != WEIGHTS_VERSION || head_.banks != TT_DRAM_BANKS || names > size_ ||
	    head_.at > size_ || head_.bytes != size_ - head_.at || names > head_.at ||
	    (head_.bytes && !row))
		throw wrong;
	for (uint32_t i = 0; i < head_.entries; i++) {
		WeightsEntry e;
		std::memcpy(&e, bytes_ + sizeof head_ + i * sizeof e, sizeof e);
		if (e.name >= head_.at || !std::memchr(bytes_ + e.name, 0, head_.at - e.name) ||
		    e.at >= head_.bytes || e.at % row)
			throw wrong;
		images_[bytes_ + e.name] = static_cast<uint32_t>(e.at / head_.banks);
	}
}

uint32_t Weights::at(const std::string &name) const
{
	const auto found = images_.find(name);
	if (found == images_.end())
		throw std::runtime_error("NAME.weights has nothing of '" + name +
					 "': it belongs to another NAME.cpp");
	return found->second;
}

} // namespace tessera
