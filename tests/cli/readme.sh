#!/bin/sh
# readme.sh TESSERA README [write]: the commands of README.md work, and print what stands
# below them. With `write` the file is written anew from what they print; commands without
# anything below are run too, and keep nothing below.
tessera=$(realpath "$1") readme=$(realpath "$2")
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
ln -s "$(dirname "$tessera")" build
ln -s "$(dirname "$readme")/models" models
failed=0 commands=0 shown=0

run() { sh -c "$1" >out 2>err </dev/null || { echo "FAILED: $1"; cat err; false; }; }

below= # run: a command stands above; replaced: its output does
while IFS= read -r line; do
	case $line in
	'    $ '*)
		printf '%s\n' "$line" >&3
		run "${line#*\$ }" || failed=$((failed + 1))
		commands=$((commands + 1)) below=run
		;;
	'    '*)
		case $below in
		run) sed 's/[[:blank:]]*$//; s/^./    &/' out >&3; below=replaced shown=$((shown + 1)) ;;
		replaced) ;;
		*) printf '%s\n' "$line" >&3 ;;
		esac
		;;
	*)
		below=
		printf '%s\n' "$line" >&3
		;;
	esac
done <"$readme" 3>new
echo "$commands commands, $shown with output, $failed failed"
[ $failed = 0 ] && [ $shown -gt 0 ] || exit 1
if [ "$3" = write ]; then
	cat new >"$readme"
elif ! diff "$readme" new; then
	echo "README.md is stale (> is what is printed now): ./dev readme writes it anew"
	exit 1
fi
