#!/bin/sh
# real_headers.sh CLANG CXX CACHE FOLDER...: projects for TT-Metal, against the headers of the tree
# TT_METAL_HOME names. Every kernel goes through the file that TT-Metal builds it in, for each
# RISC-V it runs on, with the defines and flags of its build (jit_build, hal) for Wormhole; the
# host program and all that stands beside it through the public headers. Warnings of ours are
# errors; those headers' own are nobody's business here.
#
# Kernels are compiled by the vendor's compiler where it is (runtime/sfpi of the tree, or
# /opt/tenstorrent/sfpi). Elsewhere CLANG parses those of data movement; what compute kernels
# include is for the vendor's compiler alone.
#
# The host's headers want others (fmt, nlohmann/json, ...) that are in a tree once it was
# configured: those in its .cpmcache, what a build folder's compile_commands.json names, and
# TT_METAL_INCLUDES, more folders with blanks between. Where they are not, the host program is
# not parsed. What was left out is said. CACHE remembers what was parsed.
set -u
clang=$1 cxx=$2 cache=$3
shift 3
tree=${TT_METAL_HOME:?names no tree of TT-Metal}
metal=$tree/tt_metal
[ -f "$metal/hw/inc/api/dataflow/dataflow_api.h" ] || { echo "$tree is no tree of TT-Metal"; exit 1; }
mkdir -p "$cache/gnu"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 kernels=0 hosts=0

sfpi=
for d in "$tree/runtime/sfpi" /opt/tenstorrent/sfpi; do
	[ -n "$sfpi" ] || [ ! -x "$d/compiler/bin/riscv-tt-elf-g++" ] || sfpi=$d
done

# systems FOLDER...: as options of a compiler
systems() { for d; do printf ' -isystem %s' "$d"; done; }

# What the compiler for this machine looks through, for the C++ library; its 32-bit part of
# the C library is seldom there, but for one file that says nothing.
: >"$cache/gnu/stubs-32.h"
library=$(echo | $cxx -x c++ -E -v - 2>&1 |
	sed -n '/^#include </,/^End/{s/^ \(\/.*\)/\1/p}' | grep -v '/lib/gcc/\|/lib/clang/')
own=$($clang -print-resource-dir)/include

below() { for d; do echo "$metal/$d"; done; }
device=$(systems "$tree" "$metal" $(below hw/inc tt-llk/common hostdevcommon/api api \
	hw/ckernels/wormhole_b0/metal/llk_io \
	hw/inc/internal/tt-1xx hw/inc/internal/tt-1xx/wormhole \
	hw/inc/internal/tt-1xx/wormhole/wormhole_b0_defines hw/inc/internal/tt-1xx/wormhole/noc \
	tt-llk/tt_llk_wormhole_b0/common/inc tt-llk/tt_llk_wormhole_b0/llk_lib \
	hw/ckernels/wormhole_b0/metal/llk_api hw/ckernels/wormhole_b0/metal/llk_api/llk_sfpu \
	hw/firmware/src/tt-1xx))

# Compute kernels are included by a file of this folder; what a system's header includes is one.
around="-I$metal/hw/ckernels/wormhole_b0/metal/common"

# What TT-Metal prints for each kernel; no routine of ours looks at it.
descriptors() {
	echo '#pragma once'
	echo '#if defined(UCK_CHLKC_MATH) || defined(UCK_CHLKC_PACK)'
	echo '#include "llk_defs.h"'
	echo 'constexpr ckernel::MathFidelity MATH_FIDELITY = static_cast<ckernel::MathFidelity>(4);'
	echo 'constexpr bool APPROX = false;'
	echo '#endif'
	echo '#ifdef COMPILE_FOR_TRISC'
	echo 'constexpr bool DST_ACCUM_MODE = true;'
	echo '#define DST_SYNC_MODE DstSync::SyncHalf'
	echo '#endif'
	for side in unpack pack; do
		for name in src_format dst_format tile_num_faces partial_face tile_face_r_dim narrow_tile \
			tile_r_dim tile_c_dim num_faces_r_dim num_faces_c_dim; do
			echo "constexpr unsigned char ${side}_$name[32] = {};"
		done
		echo "constexpr uint16_t ${side}_tile_size[32] = {};"
	done
}

# compile CPU LEVEL OPTION...: with the vendor's compiler if there is one
compile() {
	cpu=$1 level=$2
	shift 2
	if [ -n "$sfpi" ]; then
		"$sfpi/compiler/bin/riscv-tt-elf-g++" -std=c++17 -ftt-nttp -ftt-constinit -ftt-consteval \
			-ftt-no-dyninit -flto=auto -ffast-math -fno-finite-math-only -fsigned-zeros -fno-associative-math \
			-fno-exceptions -fno-rtti -fno-use-cxa-atexit "-mcpu=$cpu" "-$level" -c -o "$work/o" \
			$device -isystem "$sfpi/include" "$@"
	else
		$clang --target=riscv32-unknown-elf -march=rv32im -mabi=ilp32 -std=c++17 -fsyntax-only \
			-ffreestanding -fno-exceptions -fno-rtti -Wno-unknown-attributes -nostdinc $device \
			$(systems "$cache" $library "$own") "$@"
	fi
}

# parse PROJECT KERNEL RISC CPU LEVEL FILE OPTION...: FILE is TT-Metal's that has the kernel in it
parse() {
	project=$1 kernel=$2 risc=$3 cpu=$4 level=$5 file=$6
	shift 6
	mark=$cache/$kernel.$risc.${sfpi:+built}
	[ ! -e "$mark" ] || return 0
	kernels=$((kernels + 1))
	if compile $cpu $level -Wall -Wextra -Werror -Werror=deprecated-declarations \
		-DKERNEL_BUILD -DARCH_WORMHOLE -DTENSIX_FIRMWARE -DLOCAL_MEM_EN=0 \
		-DDISPATCH_MESSAGE_ADDR=0 -DPROGRAMMABLE_CORE_TYPE=0 -DNOC_MODE=0 \
		-DNUM_DRAM_BANKS=12 -DIS_NOT_POW2_NUM_DRAM_BANKS=1 -DNUM_L1_BANKS=64 \
		-DLOG_BASE_2_OF_NUM_L1_BANKS=6 -DPCIE_NOC_X=0 -DPCIE_NOC_Y=3 -DKERNEL_COMPILE_TIME_ARGS= \
		"$@" "$around" -I"$work" -I"$project/kernels" "$metal/hw/firmware/src/tt-1xx/$file" 2>"$work/said"; then
		: >"$mark"
	else
		echo "$project: $kernel for $risc"
		head -20 "$work/said"
		failed=1
	fi
}

data() { # data PROJECT KERNEL RISC CPU LEVEL FILE OPTION...
	echo "#include \"$1/kernels/$2.cpp\"" >"$work/kernel_includes.hpp"
	parse "$@"
}

compute() { # compute PROJECT KERNEL
	t=0
	for thread in UNPACK MATH PACK; do
		low=$(echo $thread | tr '[:upper:]' '[:lower:]')
		printf '#define TRISC_%s\n#include "defines_generated.h"\n#include "%s"\n' $thread \
			"$1/kernels/$2.cpp" >"$work/chlkc_$low.cpp"
		parse "$1" "$2" "$low" tt-wh-tensix O3 trisck.cc "-DUCK_CHLKC_$thread" -DCOMPILE_FOR_TRISC=$t \
			-DPROCESSOR_INDEX=$((t + 2))
		t=$((t + 1))
	done
}

# Kernels of one kind, by the host program's lines.
kernels_of() { grep -ohE "op\.$2\(.*\"[a-z_0-9]+_[0-9a-f]{16}\"" "$1"/*.cpp | grep -oE '[a-z_0-9]+_[0-9a-f]{16}' | sort -u; }

# The folders of what the host's headers include, once.
others() {
	echo "$metal/api" "$metal/hostdevcommon/api" "$tree/tt_stl" "$metal/third_party/umd/device/api"
	for d in "$tree"/.cpmcache/*/*/include "$tree"/build*/include "$tree"/build*/_deps/*-src/include; do
		[ ! -d "$d" ] || echo "$d"
	done
	cat "$tree"/build*/compile_commands.json 2>/dev/null | grep -oE '(-I|-isystem )/[^ "\\]+' |
		sed 's/^-I//; s/^-isystem //' | sort -u
	echo "${TT_METAL_INCLUDES:-}"
}
: >"$work/defines_generated.h"
descriptors >"$work/chlkc_descriptors.h"
public=$(systems $(others))
echo '#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>' >"$work/probe.cpp"
if $cxx -std=c++20 -fsyntax-only $public "$work/probe.cpp" 2>"$work/lacks"; then there=1; else there=0; fi

host() { # host PROJECT
	for f in "$1"/*.cpp "$1"/tessera/runtime/metal/*.cpp; do
		mark=$cache/$(basename "$f").$(sha256sum <"$f" | cut -c1-16)
		[ ! -e "$mark" ] || continue
		hosts=$((hosts + 1))
		if $cxx -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Werror=deprecated-declarations \
			-DTESSERA_PROJECT_FOLDER="\"$1\"" -I"$1" -I"$1/tessera" -I"$1/kernels" $public "$f" \
			2>"$work/said"; then
			: >"$mark"
		else
			echo "$f"
			head -20 "$work/said"
			failed=1
		fi
	done
}

for project; do
	for k in $(kernels_of "$project" compute); do
		[ -z "$sfpi" ] || compute "$project" "$k"
	done
	for k in $(kernels_of "$project" reader); do
		data "$project" "$k" ncrisc tt-wh O2 ncrisck.cc -DCOMPILE_FOR_NCRISC -DPROCESSOR_INDEX=1 -DNOC_INDEX=0
	done
	for k in $(kernels_of "$project" writer); do
		data "$project" "$k" brisc tt-wh O2 brisck.cc -DCOMPILE_FOR_BRISC -DPROCESSOR_INDEX=0 -DNOC_INDEX=1
	done
	[ $there = 0 ] || host "$project"
done
echo "$kernels kernels that were new and $hosts files of the host, against $tree"
[ -n "$sfpi" ] || echo "compute kernels were not compiled: there is no $tree/runtime/sfpi"
[ $there = 1 ] || echo "the host program was not parsed: $(grep -m1 error "$work/lacks")"
exit $failed
