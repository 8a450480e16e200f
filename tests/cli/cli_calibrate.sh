#!/bin/sh
# cli_calibrate.sh TESSERA: constants of the cost model fitted to measured times. What is
# measured is what the model predicts for a device with other constants. Each claim is
# printed.
here=$(realpath "$(dirname "$0")")
models=$here/../../models
. "$here/cli_claims.sh"
tiny="$models/tiny_unet.nnef --random-weights=1"

cat >card.ini <<'END'
inherit = wormhole_n150
noc_issue = 41
mvmul_cost = 1300
mcast_latency = 700
noc_rate = 24000
END
expect 0 plan $tiny -o tiny.plan --format=csv
expect 0 score $tiny --plan tiny.plan --target=./card.ini --format=csv
cut -d, -f1-3 out >measured.csv

# fitted NAME: what came out for it, in thousandths of what it is.
fitted() {
	got=$(sed -n "s/^$1 = \([0-9]*\) .*/\1/p" fitted.ini)
	is=$(sed -n "s/^$1 = //p" card.ini)
	echo $((${got:-0} * 1000 / is))
}

claim "constants come out as those of the device, and the target file predicts its times"
expect 0 calibrate $tiny measured.csv --plan tiny.plan -o fitted.ini
silent
for c in noc_issue mvmul_cost mcast_latency noc_rate; do
	[ "$(fitted $c)" -ge 970 ] && [ "$(fitted $c)" -le 1030 ] || wrong "$c: $(fitted $c)/1000"
	grep -qE "^  $c +[0-9]+ -> [0-9]+ .*, within [0-9.]+%$" out || wrong "$c is not told"
done
grep -qE '^  error +half of them within 1[0-9]\.[0-9]% -> 0\.[0-9]%; at most ' out || wrong "no errors"
out_has "pack_rate"
out_has "nothing that was measured depends on them"
grep -q '^pack_rate' fitted.ini && wrong "what was not fitted is in the file"
grep -q '^inherit = wormhole_n150$' fitted.ini || wrong "it does not inherit"
expect 0 score $tiny --plan tiny.plan --target=./fitted.ini --format=json
now=$(sed -n 's/^"predicted_cycles":\([0-9]*\),$/\1/p' out)
want=$(awk -F, 'NR > 1 { n += $3 } END { print n }' measured.csv)
[ $((now * 1000 / want)) -ge 998 ] && [ $((now * 1000 / want)) -le 1002 ] || wrong "$now, not $want"
ok

claim "the same file again, and none without -o"
expect 0 calibrate $tiny measured.csv --plan tiny.plan -o again.ini
same fitted.ini again.ini
rm -f again.ini fitted2.ini
expect 0 calibrate $tiny measured.csv --plan tiny.plan
absent again.ini
ok

claim "the same as JSON; as CSV row by row, whose sums are those of the text"
expect 0 calibrate $tiny measured.csv --plan tiny.plan
total=$(sed -n 's/^  in all *\([0-9.]*\) us measured, \([0-9.]*\) -> \([0-9.]*\) us predicted$/\1 \2 \3/p' out)
expect 0 calibrate $tiny measured.csv --plan tiny.plan --format=csv
sums=$(awk -F, 'NR > 1 { a += $2; b += $3; c += $4 } END { printf "%.1f %.1f %.1f", a / 1e3, b / 1e3, c / 1e3 }' out)
[ "$total" = "$sums" ] || wrong "$total in the text, $sums in the rows"
expect 0 calibrate $tiny measured.csv --plan tiny.plan --format=json
is_json out
out_has '{"name":"noc_issue","unit":"cycles","state":"fitted","before":30,"after":41,'
out_has '{"name":"pack_rate","unit":"bytes/cycle","state":"unseen","before":64,"after":64}'
expect 2 calibrate $tiny measured.csv --plan tiny.plan --format=xml
ok

claim "the unit is that of the header; an op's moves are its own where there are no kinds"
awk -F, 'NR == 1 { print "OP CODE,DEVICE KERNEL DURATION [ns]"; next }
	{ if (!($1 in sum)) order[++n] = $1; sum[$1] += $3 }
	END { for (i = 1; i <= n; i++) print order[i] "," sum[order[i]] }' measured.csv >ns.csv
expect 0 calibrate $tiny ns.csv --plan tiny.plan -o fitted.ini
out_has "column 'DEVICE KERNEL DURATION [ns]'"
for c in noc_issue mvmul_cost noc_rate; do
	[ "$(fitted $c)" -ge 950 ] && [ "$(fitted $c)" -le 1050 ] || wrong "$c: $(fitted $c)/1000"
done
ok

claim "a target that is no built-in one is written whole"
expect 0 calibrate $tiny measured.csv --plan tiny.plan --target=./card.ini -o whole.ini
err_has "warning: the plan was made for target wormhole_n150"
out_has "need not change for these times"
grep -q '^inherit' whole.ini && wrong "it inherits"
grep -q '^l1_bytes = 1499136 ' whole.ini || wrong "no l1_bytes"
expect 0 plan --print-target --target=./whole.ini
sed '/^#/d; s/ *#.*//' whole.ini >got && sed '/^#/d; s/ *#.*//' out | cmp -s - got || wrong "it reads back to others"
ok

claim "rows of nothing in the plan are told; if all are, nothing is fitted"
(cat measured.csv; echo "Total,conv,41000") >more.csv
expect 0 calibrate $tiny more.csv --plan tiny.plan
err_is "more.csv:$(wc -l <more.csv):1: warning: 1 row of ops that the plan of tiny_unet does not have, 'Total' (conv) first: left out"
sed '2,$s/^/x/' measured.csv >others.csv
expect 1 calibrate $tiny others.csv --plan tiny.plan -o none.ini
err_has "others.csv:2:1: error: no row names an op of the plan of tiny_unet; the first is 'ximage' (edge_in)"
err_has "did you mean 'image'?"
absent none.ini
ok

claim "too few times, or in another unit than they say, fit nothing"
head -4 measured.csv >few.csv
expect 1 calibrate $tiny few.csv --plan tiny.plan -o none.ini
err_is "few.csv: error: 3 of the ops and moves of the plan: at least 4 have to be measured"
sed '1s/cycles/measured_us/' measured.csv >us.csv
expect 1 calibrate $tiny us.csv --plan tiny.plan -o none.ini
err_has "error: the times of column 'measured_us' are 1.1"
err_has "e+03 times those predicted: what is their unit?"
awk -F, 'BEGIN { OFS = "," } NR > 1 { $3 = 500 + NR % 3 * 20000 } { print }' measured.csv >noise.csv
"$tessera" calibrate $tiny noise.csv --plan tiny.plan >out 2>err
[ -s err ] || wrong "times of something else are taken without a word"
absent none.ini
ok

claim "its command line is checked"
expect 2 calibrate measured.csv
err_is "tessera: error: 'calibrate' wants the model and, behind it, its times: tessera calibrate MODEL MEASURED.csv"
expect 2 calibrate $tiny a.csv b.csv
expect 2 calibrate $tiny measured.csv --plan tiny.plan -o measured.csv
err_is "tessera: error: '-o': 'measured.csv' would be overwritten, which is read"
expect 2 calibrate $tiny measured.csv --plan tiny.plan --target=./card.ini -o card.ini
err_is "tessera: error: '-o': 'card.ini' would be overwritten, which is read"
expect 1 calibrate $tiny none.csv
err_is "none.csv: error: cannot read: No such file or directory"
expect 1 calibrate $tiny measured.csv --plan tiny.plan -o none/fitted.ini
err_has "none/fitted.ini"
expect 0 calibrate $tiny measured.csv --plan tiny.plan -o fitted.ini -MD
grep -q measured.csv fitted.d || wrong "the table is not in the depfile"
ok

# profile F.json: programs in their order as tt-metal's profiler writes them, once.
profile() {
	echo "OP CODE,OP TYPE,DEVICE KERNEL DURATION [ns],OP TO OP LATENCY [ns]"
	echo "start,signpost,,"
	grep -oE '\{"name":"[a-z0-9_]+","times":1,"l1_bytes":[0-9]+,"predicted_ns":[0-9]+' "$1" |
		sed 's/convert_to_\(...\)/ConvertTo\1/; s/{"name":"\([^"]*\)".*:\([0-9]*\)$/\1DeviceOperation,tt_dnn_device,\2,2255/'
}

claim "what ttnn's programs cost is fitted to a profile of them"
printf 'inherit = wormhole_n150\nttnn_local = 800\nttnn_untilize = 1500\nttnn_gap = 1100\n' >card.ini
expect 0 plan $tiny --kernels=ttnn -o tiny.ttnn
expect 0 score $tiny --kernels=ttnn --plan tiny.ttnn --target=./card.ini --format=json
profile out >profile.csv
expect 0 calibrate $tiny profile.csv --kernels=ttnn --plan tiny.ttnn -o fitted.ini
silent
for c in ttnn_local ttnn_untilize ttnn_gap; do
	[ "$(fitted $c)" -ge 970 ] && [ "$(fitted $c)" -le 1030 ] || wrong "$c: $(fitted $c)/1000"
done
ok

claim "over several runs with other programs among them; without a trace gaps tell nothing"
profile=$(sed '1,2d' profile.csv)
(head -2 profile.csv; echo "$profile"; echo "Typecast,tt_dnn_device,900,9"; echo "$profile") |
	sed '4,$s/,2255$/,400000/' >twice.csv
expect 0 calibrate $tiny twice.csv --kernels=ttnn --plan tiny.ttnn -o fitted.ini
err_has "warning: 1 row of programs that the plan does not run: left out"
err_has "400 us between programs: ttnn_gap stays as it is, it is that of a trace"
[ "$(fitted ttnn_local)" -ge 970 ] && [ "$(fitted ttnn_local)" -le 1030 ] || wrong "$(cat out)"
grep -q '^ttnn_gap' fitted.ini && wrong "a gap was fitted"
ok

claim "a profile of another net is refused"
expect 1 calibrate net.ir profile.csv --kernels=ttnn -o none.ini
err_has "another plan or net was measured"
expect 1 calibrate $tiny profile.csv --plan tiny.plan -o none.ini
err_has "rows of ttnn's own programs are for --kernels=ttnn"
absent none.ini
ok
end_claims
