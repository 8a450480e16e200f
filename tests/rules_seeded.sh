#!/bin/sh
# rules_seeded.sh RULES: rules.sh accepts a small clean tree and catches each
# breach planted in it.
rules=$(cd "$(dirname "$1")" && pwd)/rules.sh
tree=$(mktemp -d) || exit 2
trap 'rm -rf "$tree"' EXIT
failed=0 seeds=0

clean() {
	rm -rf "$tree"
	mkdir -p "$tree/ir" "$tree/frontend" "$tree/passes" "$tree/backend" "$tree/tests"
	cd "$tree" || exit 2
	printf '#ifndef IR_A_H\n#define IR_A_H\nint a(void);\n#endif\n' >ir/a.h
	printf '#include "ir/a.h"\n\nint a(void)\n{\n\treturn 1;\n}\n' >ir/a.c
	printf "files(\n  'a.c',\n  'b.c',\n)\n" >ir/meson.build
	printf '#include <llvm-c/Core.h>\n' >backend/llvm.c
	printf '#include "passes/pass.h"\n#include "backend/llvm.h"\n' >frontend/main.c
	echo 'What it is.' >README.md
}

expect() {
	seeds=$((seeds + 1))
	said=$(sh "$rules" "$tree")
	case $said in
	*"$1"*) ;;
	*) echo "not caught: $1"; echo "$said"; failed=1 ;;
	esac
	clean
}

lines() { awk -v n="$1" -v text="$2" 'BEGIN { while (n--) print text }'; }
body() { printf '\nint %s(int x)\n{\n\tx = x * 3 + 17;\n\tx = x * 5 + 19;\n\treturn x * 7 + 23 + x / 29 - x / 31;\n}\n' "$1"; }

clean
sh "$rules" "$tree" || { echo "a clean tree is refused"; failed=1; }
mkdir util; expect 'util: not part of the fixed top level'
touch NOTES.md; expect 'NOTES.md: prose belongs'
touch ir/log.txt; expect 'ir/log.txt: prose belongs'
lines 501 '/* x */' >>ir/a.c; expect 'ir/a.c: over 500 lines'
{ printf 'int b(void)\n{\n'; lines 61 '	a();'; echo '}'; } >>ir/a.c; expect 'function over 60 lines'
{ printf '\t/* '; lines 1 "$(lines 1 "$(printf '%090d' 0)")"; } >>ir/a.c; expect 'ir/a.c:7: over 100 columns'
{ body one; body two; } >>ir/a.c; expect 'same body as ir/a.c:9'
printf "files(\n  'b.c',\n  'a.c',\n)\n" >ir/meson.build; expect 'ir/meson.build:3: a.c is not in order'
printf "foreach n, d : {\n  'b': [x],\n  'a': [x],\n}\n" >tests/meson.build; expect 'a is not in order'
echo '#include "passes/pass.h"' >frontend/read.c; expect 'frontend stands on ir'
echo '#include "frontend/model.h"' >passes/p.c; expect 'passes stands on ir'
echo '#include "passes/pass.h"' >backend/b.c; expect 'backend stands on ir'
echo '#include "backend/llvm.h"' >ir/b.c; expect 'ir stands on ir'
mkdir runtime; echo '#include "passes/pass.h"' >runtime/r.c; expect 'runtime stands on ir'
echo '#include <llvm-c/Core.h>' >>passes/p.c; expect 'LLVM stays in backend'
echo 'int b;' >ir/b.h; expect 'ir/b.h: no include guard IR_B_H'
echo '/* TODO: more */' >>ir/a.c; expect 'finish it or leave it out'
echo "const char *p = \"/$(echo home)/me/x\";" >>ir/a.c; expect 'a path of one machine'
echo "const char *p = \"/$(echo tmp)/x\";" >>ir/a.c; expect 'a path of one machine'
echo 'PASS(p,  "do it")' >passes/passes.def; expect 'README.md: pass p is not listed'
echo 'see `ir/none.c`' >>README.md; expect 'README.md: there is no ir/none.c'
echo "$seeds breaches planted"
exit $failed
