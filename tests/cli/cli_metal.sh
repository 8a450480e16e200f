#!/bin/sh
# cli_metal.sh TESSERA: --emit=metal, the project it writes and what becomes of the folder.
# That what is printed compiles and runs is for tests/metal.
tests=$(realpath "$(dirname "$0")/..")
. "$(dirname "$0")/cli_claims.sh"

files() { (cd "$1" && find . -type f | sort); }
listed() { files "$1" >listed; grep -qxF "./$2" listed || wrong "$1 has no $2"; }

claim "a project has a host program, weights, kernels and the libraries they use"
expect 0 compile net.ir --emit=metal -o made
silent
[ ! -s out ] || wrong "something is printed"
for f in CMakeLists.txt README.md main.cpp net.cpp net.h net.weights .clang-format \
	tessera/runtime/metal/tessera_metal.h tessera/runtime/host/view.c \
	kernels/runtime/device/kernel_metal.h kernels/runtime/device/tensix_ops.h; do
	listed made $f
done
ls made/kernels/*.cpp >kernels
grep -qE 'conv_[0-9a-f]{16}\.cpp' kernels || wrong "no kernel for the convolution"
grep -rl '@[A-Z]*@' made --include=* >marks && wrong "a mark of a template is left: $(cat marks)"
ok

claim "every file that is included is in the project, and every kernel is used"
grep -rhoE '^#include "[^"]+"' made | sort -u | sed 's/.*"\(.*\)"/\1/' | while read -r f; do
	for root in made made/tessera made/kernels made/kernels/runtime/device; do
		[ ! -e "$root/$f" ] || continue 2
	done
	echo "$f"
done >missing
[ ! -s missing ] || wrong "included but not there: $(cat missing)"
sed 's|.*/||; s|\.cpp$||' kernels | while read -r stem; do
	grep -q "\"$stem\"" made/net.cpp || echo "$stem"
done >unused
[ ! -s unused ] || wrong "unused: $(cat unused)"
grep -oE '"[a-z_]+_[0-9a-f]{16}"' made/net.cpp | tr -d '"' | sort -u | while read -r stem; do
	[ -e "made/kernels/$stem.cpp" ] || echo "$stem"
done >missing
[ ! -s missing ] || wrong "no kernel $(cat missing)"
ok

claim "the same model gives the same bytes, wherever it lies; another mesh one line of net.cpp"
mkdir -p else
cp net.ir else/net.ir
expect 0 compile else/net.ir --emit=metal -o again
diff -r made again >differ || wrong "$(head -5 differ)"
expect 0 compile net.ir --emit=metal --mesh=1x2 -o pair
diff -r -q made pair | grep -vE 'net\.cpp|\.tessera-project' >differ
[ ! -s differ ] || wrong "$(cat differ)"
[ "$(diff made/net.cpp pair/net.cpp | grep -c '^>')" = 1 ] || wrong "more than a line differs"
ok

claim "kernels say which op they are of, where the model has it, and how it is cut"
grep -q ' c (net.ir:8:6, with n, r): conv' made/kernels/conv_*.cpp || wrong "no op"
grep -qE 'height, [0-9]+ bands of rows, .* cores, .*cb [0-9]+: [0-9]+ page' made/kernels/conv_*.cpp ||
	wrong "no layout"
ok

claim "a constant that is read like a tensor is with the weights, and one line for all cores"
expect 0 compile "$tests/metal/constants.nnef" --random-weights=1 --emit=metal -o read
for name in all row column; do
	[ "$(grep -c "\.dram(0, net\.weights(\"$name\")" read/constants.cpp)" = 1 ] || wrong "$name"
done
ok

claim "what is printed is clean under the project's own .clang-format"
if command -v clang-format >/dev/null; then
	for f in made/net.cpp made/net.h made/main.cpp made/kernels/*.cpp read/constants.cpp; do
		(cd "${f%%/*}" && clang-format "${f#*/}") | cmp -s - "$f" || wrong "$f is not"
	done
fi
ok

claim "an earlier project of ours is replaced, whatever it held"
expect 0 compile net.ir --emit=metal --mesh=2x2 -o made
[ -z "$(find . -name 'made.*')" ] || wrong "something is left beside it"
diff -r made again >/dev/null && wrong "it is still the old one"
expect 0 compile net.ir --emit=metal -o made/
diff -r made again >differ || wrong "$(head -5 differ)"
mkdir empty
expect 0 compile net.ir --emit=metal -o empty
diff -r empty again >differ || wrong "$(head -5 differ)"
ok

claim "files that are not ours, or that somebody changed, are kept, and so is all the rest"
untouched() { # untouched FOLDER FILE: refused because of FILE
	cp -r "$1" kept
	expect 1 compile net.ir --emit=metal --mesh=2x2 -o "$1"
	err_is "$1: error: cannot write: there is '$2', which no tessera wrote like that; take it away, or choose another folder"
	diff -r "$1" kept >differ || wrong "$(head -5 differ)"
	rm -rf kept
	[ -z "$(find . -name "$1.*")" ] || wrong "something is left beside it"
}
mkdir theirs
echo mine >theirs/notes.txt
untouched theirs notes.txt
mkdir -p again/kernels/build
echo mine >again/kernels/build/x.o
untouched again kernels/build/x.o
rm -r again/kernels/build
sed -i 's/int main/int  main/' again/main.cpp
untouched again main.cpp
rm -rf again
expect 1 compile net.ir --emit=metal -o net.ir/sub
err_has "net.ir/sub: error: cannot write: "
expect 1 compile net.ir --emit=metal -o kernels
err_is "kernels: error: cannot write: it is there and no folder"
ok

claim "what cannot be written whole is not written at all"
cp -r made kept
(
	trap '' XFSZ
	ulimit -f 40
	expect 1 compile net.ir --emit=metal --mesh=2x2 -o made
	err_has "error: cannot write: File too large"
	expect 1 compile net.ir --emit=metal -o new
	[ -z "$bad" ]
) || wrong "on a disk that is full"
absent new
[ -z "$(find . -name 'made.*' -o -name 'new*')" ] || wrong "something is left"
diff -r made kept >differ || wrong "$(head -5 differ)"
ok

claim "a name that is no identifier becomes one; one that is a file of the project another"
sed 's/graph "net"/graph "2x net-a.b"/' net.ir >odd.ir
expect 0 compile odd.ir --emit=metal -o odd
listed odd _2x_net_a_b.cpp
grep -q 'extern const TesseraMetalNetwork _2x_net_a_b_network;' odd/_2x_net_a_b.h || wrong "no net"
sed 's/graph "net"/graph "main"/' net.ir >odd.ir
expect 0 compile odd.ir --emit=metal -o odd
listed odd main_net.cpp
sed 's/^%c = /%"c *\/ \/* d" = /; s/ %c, / %"c *\/ \/* d", /' net.ir >odd.ir
expect 0 compile odd.ir --emit=metal -o odd
grep -rn 'c \*/' odd --include='*.cpp' | grep -v '"c \*/' >ended
[ ! -s ended ] || wrong "a name ends a comment: $(head -1 ended)"
ok

claim "it stands beside other kinds"
expect 0 compile net.ir --emit=plan,metal,package -o all.ttb
there all.plan all.ttb
listed all.metal net.cpp
rm all.plan all.ttb
echo changed >>all.metal/net.cpp
expect 1 compile net.ir --emit=plan,metal,package -o all.ttb
absent all.plan all.ttb
ok

claim "options that make no sense are refused before anything is done"
expect 2 compile net.ir --emit=metal
err_is "tessera: error: '--emit=metal' wants -o DIR"
expect 2 compile net.ir --mesh=1x2 -o none
err_is "tessera: error: '--mesh' is for --emit=metal"
for mesh in 0x1 1x 1x2x3 x2 2 65x1 -1x1 1x1k; do
	expect 2 compile net.ir --emit=metal "--mesh=$mesh" -o none
	err_has "'--mesh' wants rows and columns of devices as 1x2, each up to 64, not '$mesh'"
done
expect 2 compile net.ir --emit=metal --cache-dir=cache -o none
err_has "'--cache-dir' keeps files, and '--emit=metal' makes a folder"
absent none cache
ok

claim "Blackhole is refused, and a plan for another target"
expect 3 compile net.ir --emit=metal --target=blackhole_p150 -o none
err_has "target 'blackhole_p150' is a blackhole"
expect 0 compile net.ir --emit=plan --target=wormhole_n300 -o n300.plan
expect 1 compile net.ir --emit=metal --plan n300.plan -o none
err_has "n300.plan: error: a plan for target wormhole_n300, and kernels are for wormhole_n150; --target=wormhole_n300 makes them for that"
absent none
ok

claim "L1 that is TT-Metal's own is an error with both ranges"
printf 'inherit = wormhole_n150\nl1_first = 98304\n' >low.ini
expect 3 compile net.ir --emit=metal --target=./low.ini -o none
err_is "net: error: the plan's L1, bytes 98304 to 1499136, is not within TT-Metal's user area, 105664 to 1499136: below it TT-Metal keeps its own, 0 to 105664"
absent none
ok
end_claims
