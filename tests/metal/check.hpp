// Claims, in the C++ tests of the small TT-Metal.
//
//     CLAIM(what_holds) { CHECK(...); REFUSED(call, "a part of what is said"); }
#pragma once

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

struct Claim {
	const char *name;
	void (*run)();
	static std::vector<Claim> &all()
	{
		static std::vector<Claim> list;
		return list;
	}
	Claim(const char *claim, void (*body)()) : name(claim), run(body)
	{
		all().push_back(*this);
	}
};

#define CLAIM(name)                                                                                \
	static void name();                                                                        \
	static const Claim claim_##name(#name, name);                                              \
	static void name()

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what))                                                                       \
			throw std::logic_error(std::string(__FILE__) + ":" +                       \
					       std::to_string(__LINE__) + ": " #what);             \
	} while (0)

#define REFUSED(call, said)                                                                        \
	do {                                                                                       \
		std::string text = "nothing";                                                      \
		try {                                                                              \
			call;                                                                      \
		} catch (const std::runtime_error &e) {                                            \
			text = e.what();                                                           \
		}                                                                                  \
		if (text.find(said) == std::string::npos)                                          \
			throw std::logic_error(std::string(__FILE__) + ":" +                       \
					       std::to_string(__LINE__) + ": " #call ": " + text); \
	} while (0)

inline int check_claims(int argc, char **argv)
{
	int wrong = 0, ran = 0;
	for (const Claim &c : Claim::all()) {
		if (argc > 1 && strcmp(argv[1], c.name) != 0)
			continue;
		ran++;
		try {
			c.run();
			printf("%s\n", c.name);
		} catch (const std::exception &e) {
			wrong++;
			printf("%s: WRONG: %s\n", c.name, e.what());
		}
		fflush(stdout);
	}
	printf("%d claims, %d wrong\n", ran, wrong);
	return wrong || !ran;
}
