#include "runtime/metal/npy.hpp"

#include <cctype>
#include <cstring>
#include <fstream>

namespace tessera
{

namespace
{

const char *descriptor(TesseraType type)
{
	switch (type) {
	case TESSERA_F32:
		return "<f4";
	case TESSERA_F16:
		return "<f2";
	case TESSERA_BF16:
		return "<u2";
	case TESSERA_U8:
		return "|u1";
	}
	return "";
}

std::string shape_text(const TesseraTensor &t)
{
	std::string text = "(";
	for (int i = 0; i < t.rank; i++)
		text += std::to_string(t.shape[i]) + (t.rank == 1      ? ","
						      : i + 1 < t.rank ? ", "
								       : "");
	return text + ")";
}

/* The value of a key in the header, without blanks. */
std::string value_of(const std::string &header, const std::string &key)
{
	const size_t at = header.find("'" + key + "':");
	if (at == std::string::npos)
		return "";
	std::string value;
	int depth = 0;
	for (size_t i = at + key.size() + 3; i < header.size(); i++) {
		const char c = header[i];
		if (!depth && (c == ',' || c == '}'))
			break;
		depth += (c == '(') - (c == ')');
		if (!std::isspace(static_cast<unsigned char>(c)))
			value += c;
	}
	return value;
}

std::string without_blanks(std::string text)
{
	std::string kept;
	for (char c : text)
		if (c != ' ')
			kept += c;
	return kept;
}

} // namespace

std::string read_npy(const std::string &path, const TesseraTensor &t, void *to)
{
	std::ifstream f(path, std::ios::binary);
	unsigned char head[12] = {};
	if (!f.read(reinterpret_cast<char *>(head), 10) || std::memcmp(head, "\x93NUMPY", 6) != 0)
		return "no .npy file that can be read";
	uint32_t bytes = head[8] | static_cast<uint32_t>(head[9]) << 8;
	if (head[6] > 1 && f.read(reinterpret_cast<char *>(head + 10), 2))
		bytes |= static_cast<uint32_t>(head[10]) << 16 | static_cast<uint32_t>(head[11])
									 << 24;
	std::string header(bytes < 1 << 16 ? bytes : 0, ' ');
	if (!f.read(header.data(), static_cast<std::streamsize>(header.size())))
		return "it ends in its header";
	const std::string type = value_of(header, "descr"), shape = value_of(header, "shape");
	const std::string want = "'" + std::string(descriptor(t.type)) + "'";
	if (type != want || shape != without_blanks(shape_text(t)))
		return "it has " + type + " " + shape + ", '" + t.name + "' wants " + want + " " +
		       shape_text(t);
	if (value_of(header, "fortran_order") != "False")
		return "its order is Fortran's";
	if (!f.read(static_cast<char *>(to), static_cast<std::streamsize>(t.bytes)))
		return "it ends before its last element";
	return "";
}

std::string write_npy(const std::string &path, const TesseraTensor &t, const void *from)
{
	std::string header = "{'descr': '" + std::string(descriptor(t.type)) +
			     "', 'fortran_order': False, 'shape': " + shape_text(t) + ", }";
	while ((10 + header.size() + 1) % 64)
		header += ' ';
	header += '\n';
	const char head[10] = { '\x93',
				'N',
				'U',
				'M',
				'P',
				'Y',
				1,
				0,
				static_cast<char>(header.size() & 255),
				static_cast<char>(header.size() >> 8) };
	std::ofstream f(path, std::ios::binary);
	f.write(head, sizeof head);
	f.write(header.data(), static_cast<std::streamsize>(header.size()));
	f.write(static_cast<const char *>(from), static_cast<std::streamsize>(t.bytes));
	f.close();
	return f ? "" : "cannot write";
}

} // namespace tessera
