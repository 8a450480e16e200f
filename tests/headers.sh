#!/bin/sh
# headers.sh ROOT CC...: every header compiles with nothing before it, twice. Those of
# TT-Metal's kernels, and of the small one, are C++ and are compiled by each kernel.
cd "$1" || exit 2
shift
bad=0 n=0
for h in $(find frontend ir passes backend runtime tests -name '*.h' |
	grep -vE '^tests/metal/(include|kernel)/|^runtime/device/[a-z]+_metal\.h' | LC_ALL=C sort); do
	n=$((n + 1))
	printf '#include "%s"\n#include "%s"\ntypedef int not_empty;\n' "$h" "$h" |
		"$@" -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Wpedantic -Werror -Wundef \
			-I. -fsyntax-only -x c - || { echo "$h: does not stand alone"; bad=1; }
done
echo "$n headers"
exit $bad
