#!/bin/sh
# cli_build.sh TESSERA [sanitized]: what a build system needs of the command.
. "$(dirname "$0")/cli_claims.sh"

# A model with every kind of file: a folder of .dat weights, a plan, a target that
# inherits from another.
expect 0 convert net.ir -o folder
printf 'inherit = wormhole_n150\ngrid_rows = 2\n' >small.ini
printf 'inherit = ./small.ini\ngrid_cols = 4\n' >smaller.ini
expect 0 plan folder --target ./smaller.ini -o net.plan

# names F.d: the files the first rule of a depfile depends on, a line each; rules F.d:
# those that have an empty rule.
names() { sed -n '2,/^$/{s/ \\$//;s/^  \(\.\/\)*//;/^$/d;p;}' "$1"; }
rules() { sed -n '3,$s/^\(\.\/\)*\(.*\):$/\2/p' "$1"; }

claim "-MD writes a depfile beside the output, with every file that was read"
expect 0 compile folder --plan net.plan --target ./smaller.ini -o unet.ttb -MD
silent
there unet.ttb unet.d
head -1 unet.d | grep -qx 'unet.ttb: \\' || wrong "$(head -1 unet.d)"
names unet.d | sort >got
{ find folder -type f; printf 'net.plan\nsmall.ini\nsmaller.ini\n'; } | sort >want
same got want
rules unet.d | sort >got
same got want
ok

claim "-MF names the depfile, and every file that was written is a target"
expect 0 opt net.ir -o deep.ir
expect 0 compile deep.ir --emit=object,ir -o both.o -MD -MF dep.file
head -1 dep.file | grep -qx 'both.h both.o both.ir both.safetensors: \\' || wrong "$(cat dep.file)"
names dep.file | sort >got
printf 'deep.ir\ndeep.safetensors\n' >want
same got want
absent both.d
ok

claim "a depfile names the weights, wherever they are"
mkdir elsewhere && mv deep.safetensors elsewhere/
for c in opt plan convert; do
	expect 0 $c deep.ir --weights elsewhere -o out.$c -MD -MF $c.d
	names $c.d | grep -qx elsewhere/deep.safetensors || wrong "$c: $(cat $c.d)"
done
grep -q '^out.convert/graph.nnef:' convert.d || wrong "$(cat convert.d)"
ok

claim "a depfile that is asked for wrongly is refused before anything is read"
expect 2 compile no-such.ir -o x.ttb -MF x.d
err_is "tessera: error: '-MF x.d' names a depfile that -MD does not ask for"
expect 2 opt no-such.ir -MD
err_is "tessera: error: '-MD' wants -o: a depfile is about a file that is written"
expect 1 compile net.ir -o y.ttb -MD -MF no-such/y.d
err_is "no-such/y.d: error: cannot write: No such file or directory"
cp net.ir kept.ir
expect 1 compile kept.ir -o y.ttb -MD -MF ./kept.ir
err_is "./kept.ir: error: the depfile would overwrite this file, which is read"
same kept.ir net.ir
ok

claim "ninja builds again when, and only when, something that was read changes"
if command -v ninja >/dev/null; then
	here='mit Leerzeichen und größe #1 $x'
	mkdir "$here" && cp -r folder "$here/das netz"
	cat >"$here/build.ninja" <<END
rule tessera
  command = '$tessera' compile \$in -o \$out -MD -MF out.d
  depfile = out.d
build netz$ ü.ttb: tessera das$ netz
END
	ninja -C "$here" >out 2>&1 || wrong "$(cat out)"
	ninja -C "$here" >out 2>&1
	grep -q 'no work to do' out || wrong "built again: $(cat out)"
	for f in "$here"/das\ netz/*; do
		touch -d 'now + 2 seconds' "$f"
		ninja -C "$here" -n >out 2>&1
		grep -q 'no work to do' out && wrong "not built again for $f"
	done
	ok
else
	echo "skipped: $about: no ninja here"
fi

end_claims
