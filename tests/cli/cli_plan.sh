#!/bin/sh
# cli_plan.sh TESSERA: plan files, pins, prices and summaries on the command line. Each
# claim is printed.
unet=$(realpath "$(dirname "$0")/../../models/tiny_unet.nnef")
. "$(dirname "$0")/cli_claims.sh"

# Fewer cores: plans are found sooner.
printf 'inherit = wormhole_n150\ngrid_rows = 4\ngrid_cols = 8\n' >few.ini
few=$PWD/few.ini
net="$unet --random-weights=1 --target=$few"

# pinned F: every field of F with `!`, and no notes.
pinned() { sed -e 's/ *;.*//' -e '/^plan/!s/\([a-z0-9_]*=[^ ]*\)/\1!/g' "$1"; }

# cycles: what --format=json says a plan takes.
cycles() { sed -n 's/^"predicted_cycles":\([0-9]*\),$/\1/p' "$1"; }

claim "a plan is a file that reads back to the same plan, byte by byte"
expect 0 plan $net
silent
cp out a.plan
out_has "plan tiny_unet target=few cores=32"
grep -qE '^op enc1.c1.conv conv .* ; [0-9.]+ us: ' out || wrong "no predicted time"
grep -qE '^tensor enc1.c1.conv .* ; at=0x[0-9a-f]+ bytes=[0-9]+ ' out || wrong "no address"
expect 0 plan $net --plan a.plan
same out a.plan
expect 0 compile $net --emit=plan
same out a.plan
expect 0 plan $net -o b.plan
same b.plan a.plan
silent
pinned a.plan >whole.plan
expect 0 plan $net --plan whole.plan
sed 's/ *;.*//' out >stripped
same stripped whole.plan
cp out whole.plan
expect 0 plan $net --plan whole.plan
same out whole.plan
sed 's/!//g' whole.plan >plain
same plain a.plan
ok

claim "a value without ! that is planned otherwise is told of; --whole-plan keeps all"
sed '/^op head /s/fidelity=[a-z0-9]*/fidelity=lofi/; /^op dec1.c1.conv/s/fidelity=[a-z0-9]*/fidelity=lofi/' a.plan >slow.plan
head=$(grep -n '^op head ' slow.plan | cut -d: -f1)
first=$(grep -n '^op dec1.c1.conv' slow.plan | cut -d: -f1)
[ "$first" -lt "$head" ] || wrong "the head is not the last"
expect 0 plan $net --plan slow.plan
err_has "slow.plan:$first:"
err_has "note: dec1.c1.conv: fidelity=lofi has no ! and is now hifi2, and 1 more like it; --whole-plan keeps all"
same out a.plan
expect 0 plan $net --plan a.plan --pin 'op dec1.c1.conv fidelity=hifi4'
grep -q 'note: dec1.c1.conv: fidelity=' err && wrong "a pin from elsewhere is told of"
sed '/^op dec1.c1.conv/s/fidelity=[a-z0-9]*/fidelity=hifi4/' a.plan >slow.plan
expect 0 plan $net --plan slow.plan --whole-plan
silent
grep '^op dec1.c1.conv' out | grep -q 'fidelity=hifi4 ' || wrong "it was planned otherwise"
sed '/^op dec1.c1.conv/d; s/ *;.*//' out >left
sed '/^op dec1.c1.conv/d; s/ *;.*//' a.plan >right
same left right
expect 2 plan $net --whole-plan
err_is "tessera: error: '--whole-plan' is about a file: it wants --plan F.plan"
ok

claim "remarks stay where they stand"
awk 'NR == 1 { print "# first"; print $0 " # of the header"; print ""; next }
     /^op head/ { print "# the last op"; print $0 " # narrow"; next }
     { print } END { print "# end" }' whole.plan >remarks.plan
expect 0 plan $net --plan remarks.plan
same out remarks.plan
ok

claim "the plan does not depend on addresses, locale or folder"
mkdir -p else
if setarch -R true 2>/dev/null; then
	setarch -R "$tessera" plan $net >out 2>err
	same out a.plan
fi
for l in C C.UTF-8 de_DE.UTF-8 tr_TR.UTF-8; do
	LC_ALL=$l "$tessera" plan $net >out 2>err
	same out a.plan
done
(cd else && "$tessera" plan $net >../out 2>../err)
same out a.plan
cp "$unet" else/tiny_unet.nnef
(cd else && "$tessera" plan ./tiny_unet.nnef --random-weights=1 --target=$few >../out 2>../err)
same out a.plan
ok

claim "pins of a file and of the command line are obeyed, and marked"
printf 'plan tiny_unet\ntensor enc1.c1.conv bands=16!\nop enc1.c1.conv fidelity=lofi\n' >pin.plan
expect 0 plan $net --plan pin.plan
grep -q '^tensor enc1.c1.conv bands=16! ' out || wrong "not 16 bands"
grep -q '^op enc1.c1.conv .* fidelity=hifi4 ' out || wrong "a field without ! was obeyed"
expect 0 plan $net --plan pin.plan --pin 'tensor enc1.c1.conv bands=32' --pin 'op enc1.c1.conv fidelity=lofi' \
	--pin 'op enc1.c1.conv prefetch=no'
grep -q '^tensor enc1.c1.conv bands=32! ' out || wrong "the command line is not heard"
grep -q '^op enc1.c1.conv .* fidelity=lofi! .* prefetch=no! ' out || wrong "two pins of an op"
expect 0 plan $net --cores=8 -o eight.plan
grep -q 'target=few cores=8$' eight.plan || wrong "other cores"
expect 0 plan $net --plan eight.plan
same out eight.plan
expect 0 plan $net --plan eight.plan --cores=4
out_has "cores=4"
ok

claim "built-in < target < model hints < plan pins < command line"
sed 's/{pads/{hints = [bands = "3", fetchers = "2", fidelity = "lofi"], pads/' net.ir >hints.ir
printf 'plan net cores=16\nop c fidelity=hifi2! fetchers=3!\n' >levels.plan
config() { expect 0 plan hints.ir --print-effective-config "$@"; }
said() { tr -s ' ' <out | grep -qxF -e "$1" || wrong "no line '$1' in $(cat out)"; }
config
said "target = wormhole_n150 # built-in"
said "cores = 64 # target wormhole_n150"
said "objective = time # built-in"
said "tensor c bands=3 # model hint, hints.ir:8:6"
said "op c fidelity=lofi # model hint, hints.ir:8:6"
config --plan levels.plan
said "cores = 16 # plan file, levels.plan"
said "op c fidelity=hifi2 # plan file, levels.plan:2:6; not fidelity=lofi of model hint, hints.ir:8:6"
said "tensor c bands=3 # model hint, hints.ir:8:6"
config --plan levels.plan --cores=8 --l1=50% --pin 'op c fidelity=hifi4' --objective=reshards --effort=2
said "cores = 8 # command line, --cores"
said "l1 = 696736 # command line, --l1"
said "objective = reshards # command line, --objective"
said "effort = 2 # command line, --effort"
said "op c fidelity=hifi4 # command line, --pin:1:6; not fidelity=hifi2 of plan file, levels.plan:2:6; not fidelity=lofi of model hint, hints.ir:8:6"
said "op c fetchers=3 # plan file, levels.plan:2:22; not fetchers=2 of model hint, hints.ir:8:6"
config --pin 'tensor c shard=width'
said "# tensor c bands=3 # model hint, hints.ir:8:6; gives way to a later pin"
[ ! -e none ] || wrong "something was written"
expect 0 plan hints.ir --plan levels.plan --pin 'op c fidelity=hifi4'
out_has "cores=16"
grep -q '^op c .* fidelity=hifi4! .* fetchers=3! ' out || wrong "pins of both levels"
grep -q '^tensor c bands=3 ' out || wrong "the hint"
ok

claim "score prices a plan as it stands, and chooses what is not given"
expect 0 plan $net -o x.plan --format=json
is_json out
best=$(cycles out)
expect 0 score $net --plan a.plan --format=json
silent
is_json out
[ "$(cycles out)" = "$best" ] || wrong "$(cycles out) cycles, the plan has $best"
expect 0 score $net --plan a.plan --format=csv
[ "$(awk -F, 'NR > 1 { n += $3 } END { print n }' out)" = "$best" ] || wrong "ops do not add up"
awk -F, 'NR > 1 { n = 0; for (i = 4; i <= NF; i++) n += $i; if (n != $3) exit 1 }' out ||
	wrong "causes do not add up"
sed -e '/^op enc2.c1.conv/s/ fetchers=[0-9]*//' -e '/^tensor head/d' a.plan >open.plan
expect 0 score $net --plan open.plan
err_is "open.plan: note: 5 fields are not given: chosen best"
sed 's/fidelity=hifi2/fidelity=hifi4/' a.plan >slow.plan
expect 0 score $net --plan slow.plan --format=json
[ "$(cycles out)" -gt "$best" ] || wrong "four phases are no slower than two"
slow=$(cycles out)
expect 2 score $net
err_is "tessera: error: 'score' wants --plan F.plan"
ok

claim "diff says where the time went, and that is all of it"
expect 0 diff $net a.plan slow.plan
out_has "fidelity hifi2 -> hifi4"
tail -n 1 out | grep -q ' all, predicted: .*; B / A is 1\.' || wrong "no totals"
head -n 2 out | tail -n 1 | grep -qE '^ +[0-9]+\.[0-9] ' || wrong "the largest is not first"
expect 0 diff $net a.plan slow.plan --format=csv
[ "$(awk -F, 'NR > 1 { n += $5 } END { print n }' out)" = $((slow - best)) ] || wrong "ops do not add up"
awk -F, 'NR > 1 { n = 0; for (i = 6; i <= NF; i++) n += $i; if (n != $5 || $4 - $3 != $5) exit 1 }' out ||
	wrong "causes do not add up"
awk -F, 'NR > 1 { d = $5 < 0 ? -$5 : $5; if (NR > 2 && d > last) exit 1; last = d }' out ||
	wrong "not in order of size"
expect 0 diff $net slow.plan a.plan --format=json
is_json out
out_has "\"difference_cycles\":$((best - slow)),"
printf 'plan tiny_unet\ntensor enc1.c2.conv bands=16!\n' >bands.plan
expect 0 plan $net --plan bands.plan -o bands.plan
expect 0 diff $net a.plan bands.plan --format=csv
grep -q ',moves,' out || wrong "no moves"
moved=$(awk -F, 'NR > 1 { n += $5 } END { print n }' out)
expect 0 score $net --plan bands.plan --format=json
[ "$(cycles out)" = $((best + moved)) ] || wrong "moves do not add up"
expect 0 diff $net a.plan a.plan
out_has "B / A is 1.000"
expect 2 diff $net a.plan
err_is "tessera: error: 'diff' wants two plan files behind the model"
expect 2 diff $net a.plan a.plan a.plan
ok

claim "the summary is one screen and says what is predicted and what is proved"
expect 0 plan $net -o x.plan
[ "$(wc -l <out)" -le 24 ] || wrong "more than 24 lines"
for w in "17 ops" "us predicted" "frames/s" "by cause" "bytes (" "DRAM " "reshards " "2048 MACs a cycle" \
	"hifi2 " "after dominance" "proof "; do out_has "$w"; done
cp out summary
expect 0 compile $net -o x.ttb --summary
same err summary
[ ! -s out ] || wrong "something on stdout"
grep -qa '^op enc1.c1.conv conv ' x.ttb || wrong "the package has no plan"
expect 0 compile $net -o x.ttb
silent
expect 0 compile $net -o x.ttb --format=csv
out_has "op,kind,cycles,unpack,math"
expect 2 compile $net --emit=plan --format=json
err_has "'--format' wants -o FILE"
expect 2 plan $net --format=json
expect 2 plan $net -o x.plan --format=xml
expect 0 plan net.ir -o x.plan
out_has "optimal under the model"
expect 0 plan net.ir -o x.plan --pin 'tensor c bands=1'
out_has "optimal under the model and the 1 pin given"
expect 0 score net.ir --plan x.plan
out_has "every field was given, nothing was searched"
expect 0 plan net.ir -o x.plan --objective=reshards
grep -q 'proof .*optimal' out && wrong "proof of another objective"
ok

claim "what is wrong in a plan file is said with line, column and what was meant"
printf 'plan tiny_unet\nop enc1.c1.conf k_block=1\nop enc1.c1.conv k_blok=1 cout_block=x\n' >wrong.plan
expect 1 plan $net --plan wrong.plan
err_has "wrong.plan:2:4: error: no op 'enc1.c1.conf'"
err_has "did you mean 'enc1.c1.conv'?"
err_has "wrong.plan:3:17: error: enc1.c1.conv: no field 'k_blok'"
err_has "did you mean 'k_block'?"
err_has "wrong.plan:3:26: error: enc1.c1.conv: field cout_block wants a number, found 'x'"
printf 'plan tiny_unet\ntensor enc1.c1.conv bands=65!\n\nop head fetchers=9!\n' >wrong.plan
expect 1 compile $net --plan wrong.plan -o none
err_has "wrong.plan:2:21: error: enc1.c1.conv: bands=65 is not within the 32 cores of the plan; 32 is"
err_has "wrong.plan:4:9: error: head: fetchers=9 is not from 1 to 4; 4 is"
printf 'plan tiny_unet\ntensor head shard=height splits=2!\n' >wrong.plan
expect 1 plan $net --plan wrong.plan
err_has "head: pins shard=height and splits=2 contradict each other"
sed 's/bands=32/bands=31/' a.plan | sed 's/cores=31/cores=32/' | sed '/^op enc1.c2.conv/s/k_block=[0-9]*/k_block=99/' >wrong.plan
expect 1 score $net --plan wrong.plan
err_has "k_block=99 is no multiple of"
expect 1 plan net.ir --plan a.plan
err_has "a plan for model 'tiny_unet', this is 'net'"
expect 1 plan $net --plan no-such.plan
absent none
ok

claim "what is wrong on the command line exits with 2"
expect 2 plan $net --pin 'tensor enc1.c1.conv bands=65'
err_has "--pin:1:21: error: enc1.c1.conv: bands=65 is not within the 32 cores"
expect 2 plan $net --pin 'op head fetchers=1' --pin 'op haed fetchers=1'
err_has "--pin:2:4: error: no op 'haed'"
expect 2 plan $net --pin 'op head'
expect 2 plan $net --pin ''
cat >thirds.ir <<'END'
graph "thirds"
%x = input : f32[1,8,6,6]
%w = constant splat 0.5 : f32[8,8,3,3]
%u = conv_transpose %x, %w {strides = [3,3], pads = [0,0,0,0], dilations = [1,1], groups = 1, output_padding = [0,0]} : f32[1,8,18,18]
%o = output %u : f32[1,8,18,18]
END
expect 2 plan thirds.ir --pin 'op u.phases@2 cout_block=4' --pin 'op u.phases@2 weights_buffer=double'
err_has "--pin:1:15: error: u.phases@2: cout_block=4 is no 1, 2 or 4 that divides 1 output tiles; 1 is"
for o in cores=65 cores=0 l1=0 l1=101% l1=99999999 l1=half l1=5%% effort=0 objective=tmie; do
	expect 2 plan $net --$o
	err_has "tessera: error: '--${o%%=*}'"
done
err_has "did you mean 'time'?"
for o in plan=a.plan pin=x=1 cores=4 l1=50% effort=1 objective=time; do
	expect 2 verify net.ir --random-input=1 --$o
	err_has "only a device (--device=emu) has a plan"
	expect 2 run x.ttb --random-input=1 --output none --$o
	err_has "a package has its plan"
done
absent none
ok

claim "what does not fit exits with 3"
expect 3 plan $net --l1=4000
err_has "4000 bytes of L1 on 32 cores"
expect 3 compile $net --l1=4000 --plan whole.plan -o none
err_has "the plan needs"
err_has "fields are pinned; --print-effective-config says by whom"
absent none
expect 0 plan $net --l1=60000 -o small.plan --format=json
[ "$(sed -n 's/^"l1_peak_bytes":\([0-9]*\),$/\1/p' out)" -le 60000 ] || wrong "more than 60000 bytes"
ok

claim "run and verify carry out the plan they are given"
printf 'plan net\ntensor c bands=2!\n' >two.plan
expect 0 verify net.ir --random-input=1 --device=emu --plan two.plan
expect 0 run net.ir --random-input=1 --device=emu --pin 'tensor c bands=3' --cores=3 --output there
there there/out_0.npy
ok

end_claims
