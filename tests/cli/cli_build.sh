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
head -1 dep.file | grep -qx 'both.o both.h both.ir both.safetensors: \\' || wrong "$(cat dep.file)"
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

# everything DIR ARGUMENT...: compiles into DIR/net.*, all there is.
everything() {
	into=$1
	shift
	expect 0 compile "$@" --emit=ir,plan,program,package,object -o "$into/net.ttb"
}

claim "the same bytes come of the same model, wherever, whenever and by whomever"
mkdir first second third
everything first net.ir
cd second || exit 2
export SOURCE_DATE_EPOCH=86400 TZ=Asia/Tokyo LC_ALL=tr_TR.UTF-8 USER=nobody HOME=/
everything . ../net.ir
unset SOURCE_DATE_EPOCH TZ LC_ALL
cd ..
everything third "$PWD/net.ir"
there first/net.h first/net.ir first/net.o first/net.plan first/net.program first/net.ttb
for f in first/*; do
	same "$f" "second/${f#first/}"
	same "$f" "third/${f#first/}"
done
grep -rlaF "$PWD" third && wrong "a path of this machine is in it"
ok

claim "what is kept comes back byte by byte, with what was said"
everything_kept() { expect 0 compile net.ir -o hit/net.ttb --emit=ir,plan,program,package,object \
	--cache-dir kept/results --min-pcc=0.9 --summary "$@"; }
hit() { expect 0 compile "$@" --cache-dir kept/results --timing; grep -q '^cache hit' err; }
mkdir hit
everything_kept
cp -r hit missed && mv err err.missed && rm hit/*
[ "$(ls kept/results | wc -l)" = 1 ] || wrong "kept: $(ls kept/results)"
everything_kept
grep -q 'pcc .* nothing had to be raised' err && grep -q 'frames/s' err || wrong "nothing is said"
same err err.missed
for f in missed/*; do same "$f" "hit/${f#missed/}"; done
for form in json csv; do
	expect 0 compile net.ir -o hit/net.ttb --format=$form && mv out want
	hit net.ir -o hit/net.ttb --format=$form
	hit net.ir -o hit/net.ttb --format=$form || wrong "not used for $form"
	same out want
done
rm -r kept missed hit
ok

claim "nothing is kept unless asked for, and depfiles know nothing of it"
expect 0 compile net.ir -o net.ttb
absent .cache
hit net.ir -o net.ttb && wrong "a hit of what was not kept"
hit net.ir -o net.ttb -MD || wrong "no hit"
names net.d >got
echo net.ir >want
same got want
ok

claim "whatever determines the result is part of the key"
printf 'inherit = wormhole_n150\n' >own.ini
expect 0 plan net.ir --target ./own.ini -o own.plan
ask() { hit net.ir -o net.ttb --plan own.plan --target ./own.ini "$@"; }
missed() { ask "$@" && wrong "not made again for $about_what"; ask "$@" || wrong "not kept: $about_what"; }
about_what="a new model" missed
about_what="an option" missed --cores=4
about_what="another name" missed --l1=90%
sed -i 's/0.1,0.2,0.3/0.1,0.2,0.4/' net.ir
about_what="another weight" missed
echo 'clock_mhz = 900' >>own.ini
about_what="another clock" missed
sed -i 's/act_block_h=[0-9]*/&!/' own.plan
about_what="a pin" missed
cp net.ir other.ir
hit other.ir -o net.ttb --plan own.plan --target ./own.ini && wrong "where ops are told to be is another place"
cp "$tessera" ./tessera-with-a-byte-more && echo >>tessera-with-a-byte-more
./tessera-with-a-byte-more compile net.ir -o net.ttb --plan own.plan --target ./own.ini \
	--cache-dir kept/results --timing 2>err || wrong "exit $?"
grep -q '^cache hit' err && wrong "another program made it"
ok

claim "a damaged entry is told, not used, and made again"
rm -r kept
hit net.ir -o net.ttb
cp net.ttb want.ttb
entry=kept/results/$(ls kept/results)
cp "$entry" whole
size=$(wc -c <whole)
for damage in "head -c 100 whole" "head -c $((size - 1)) whole" "sed s/op/pp/ whole" "true" \
	"cat whole whole" "printf %s hello"; do
	$damage >"$entry"
	rm net.ttb
	hit net.ir -o net.ttb && wrong "used after: $damage"
	err_has "$entry: warning: this cache entry is damaged and not used; it is made again"
	same net.ttb want.ttb
	same "$entry" whole
done
rm "$entry" && mkdir "$entry"
hit net.ir -o net.ttb && wrong "a folder is used"
err_has "warning: the result is not kept in the cache: $entry: error: cannot write: Is a directory"
same net.ttb want.ttb
ok

claim "processes that share a cache neither hinder nor damage each other"
rm -rf kept
for i in 1 2 3 4 5 6; do
	mkdir shared$i
	"$tessera" compile net.ir -o shared$i/net.ttb --cache-dir kept/results 2>shared$i/err &
done
wait
for i in 1 2 3 4 5 6; do
	same shared$i/net.ttb want.ttb
	[ ! -s shared$i/err ] || wrong "$(cat shared$i/err)"
done
[ "$(ls kept/results | wc -l)" = 1 ] || wrong "left: $(ls kept/results)"
hit net.ir -o net.ttb || wrong "no hit"
same net.ttb want.ttb
ok

claim "a cache that cannot be used as asked is refused"
expect 2 compile no-such.ir --emit=plan --cache-dir kept
err_is "tessera: error: '--cache-dir' wants -o: what it keeps are files"
expect 2 compile no-such.ir -o net.ttb --cache-dir kept --dump-dir=dumps
err_is "tessera: error: '--dump-dir' wants passes to run, and with --cache-dir they may not; leave one of them out"
echo text >file
expect 1 compile net.ir -o net.ttb --cache-dir file/in
err_is "file/in: error: cannot make the folder: Not a directory"
ok

# on_terminal COMMAND: what the command shows there.
on_terminal() { script -qec "$1" /dev/null </dev/null >out; }
escape=$(printf '\033')

claim "a terminal gets progress and colours, anything else neither; NO_COLOR and TERM=dumb hold"
if command -v script >/dev/null; then
	unset NO_COLOR
	export TERM=xterm
	on_terminal "'$tessera' compile net.ir -o net.ttb"
	out_has "planning ...$(printf '\r')$escape[K"
	on_terminal "'$tessera' opt no-such.ir"
	out_has "$escape[1;31merror:$escape[0m cannot read"
	NO_COLOR=1 on_terminal "'$tessera' opt no-such.ir"
	out_has "no-such.ir: error: cannot read"
	NO_COLOR='' on_terminal "'$tessera' opt no-such.ir"
	out_has "$escape[1;31merror:"
	TERM=dumb on_terminal "'$tessera' compile net.ir -o net.ttb"
	grep -q "$escape" out && wrong "escapes on a dumb terminal"
	TERM=dumb on_terminal "'$tessera' opt no-such.ir"
	grep -q "$escape" out && wrong "escapes on a dumb terminal"
	expect 1 opt no-such.ir
	err_is "no-such.ir: error: cannot read: No such file or directory"
	ok
else
	echo "skipped: $about: no script here"
fi

end_claims
