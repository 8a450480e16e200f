#!/bin/sh
# bad.sh TESSERA FOLDER: every file of tests/bad is refused as it should be.
#
# NAME.err beside NAME.onnx, NAME.nnef or NAME.ir holds exactly what must be
# said; the exit status must be 1, nothing may be printed as a result or
# written, within 20 seconds and a bounded amount of memory.
tessera=$(realpath "$1")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cp -r "$2/." "$work" && cd "$work" || exit 2
said=$(mktemp -d) || exit 2
trap 'rm -rf "$work" "$said"' EXIT
find . | sort >"$said/before"

# Sanitizers reserve terabytes of address space, so they get a limit of their own.
if grep -q __asan_init "$tessera"; then
	export ASAN_OPTIONS="hard_rss_limit_mb=1500:max_allocation_size_mb=1500:$ASAN_OPTIONS"
else
	ulimit -v 4000000
fi

passed=0 failed=0
fail() {
	echo "FAILED $1: $2"
	failed=$((failed + 1))
}
for err in *.err; do
	name=${err%.err}
	for model in "$name.onnx" "$name.nnef" "$name.ir"; do
		[ -f "$model" ] && break
	done
	timeout 20 "$tessera" opt "$model" >"$said/out" 2>"$said/err" </dev/null
	status=$?
	if [ $status != 1 ]; then
		fail "$model" "exit status $status"
		head -5 "$said/err"
	elif [ -s "$said/out" ]; then
		fail "$model" "something was printed as a result"
	elif ! diff "$err" "$said/err"; then
		fail "$model" "says something else (> is what it says)"
	else
		passed=$((passed + 1))
	fi
done
for model in *.onnx *.nnef *.ir; do
	[ -f "${model%.*}.err" ] || fail "$model" "has no .err"
done
find . | sort | diff "$said/before" - || fail "the folder" "something was written"
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
