#!/bin/sh
# cli_memory.sh TESSERA: what `tessera report --memory` writes, and whether it agrees with
# itself, with the plan and with a run. Each claim is printed.
here=$(realpath "$(dirname "$0")")
unet=$here/../../models/tiny_unet.nnef
. "$here/cli_claims.sh"

# Fewer cores: plans are found sooner.
printf 'inherit = wormhole_n150\ngrid_rows = 4\ngrid_cols = 8\n' >few.ini
few=$PWD/few.ini
net="$unet --random-weights=1 --target=$few"

# json NAME F: a figure of --format=json.
json() { sed -n 's/^"'"$1"'":\([0-9]*\),$/\1/p' "$2"; }

# columns F: as many in every line, none in quotes with a comma.
columns() { awk -F'"' '{ n = 0; for (i = 1; i <= NF; i += 2) n += gsub(",", ",", $i)
	if (NR > 1 && n != want) bad = 1; want = n } END { exit bad || NR < 2 }' "$1"; }

claim "six files, a table each"
expect 0 report $net -o page.html --memory mem
for table in l1_usage_summary memory_usage_summary detailed_memory_usage circular_buffers pressure device; do
	there "mem/$table.csv"
	columns "mem/$table.csv" || wrong "lines of $table.csv have not the same columns"
done
silent
ok

claim "blocks of a step follow each other from the first byte to the last, and add up"
expect 0 plan $net -o a.plan --format=json
limit=$(json l1_limit_bytes out)
peak=$(json l1_peak_bytes out)
steps=$(json steps out)
hex() { echo $(($1)); }
sed 1d mem/detailed_memory_usage.csv | while IFS=, read -r step op memory at bytes yes rest; do
	echo "$step $(hex "$at") $bytes $yes"
done >blocks
awk -v limit="$limit" -v step=none '
	$1 != step { if (NR > 1 && sum != limit) bad = 1; step = $1; sum = used = 0; at = $2; n++ }
	$2 != at { bad = 1 }
	{ at = $2 + $3; sum += $3; if ($4 == "yes") used += $3; if (used > most) most = used }
	END { print bad + 0, n, most }' blocks >found
[ "$(cat found)" = "0 $steps $peak" ] || wrong "$(cat found), not 0 $steps $peak"
ok

claim "summaries say of a step what its blocks add up to"
awk -F, 'FNR == 1 { next }
	FILENAME ~ /detailed/ && $6 == "yes" { used[$1] += $5 }
	FILENAME ~ /detailed/ && $6 == "no" && $5 > most[$1] { most[$1] = $5 }
	FILENAME ~ /memory_usage_summary/ && $3 == "L1" && ($5 != used[$1] || $4 - $6 != $5 || $7 != most[$1] + 0) { bad = 1 }
	FILENAME ~ /l1_usage/ && ($3 != most[$1] + 0 || $4 != 32 * ('"$limit"' - used[$1])) { bad = 1 }
	END { exit bad }' mem/detailed_memory_usage.csv mem/memory_usage_summary.csv mem/l1_usage_summary.csv ||
	wrong "they differ"
ok

claim "circular buffers say where they lie: in a tensor what is read and written in place"
awk -F, 'NR > 1 { want = $4 ~ /^(input|result)/ ? "tensor" : "stacked"; if ($5 != want) bad = 1; n[$5]++ }
	NR > 1 && $4 == "weights" && ($12 < 1 || $13 > $12 || $15 > $8) { bad = 1 }
	END { exit bad || !n["tensor"] || !n["stacked"] }' mem/circular_buffers.csv || wrong "no"
ok

claim "the summary on standard output is that of the files"
expect 0 report $net -o page.html --memory mem
come=$(awk -F, '$4 == "weights" { n += $12 } END { print n }' mem/circular_buffers.csv)
out_has "weights   $come pages come by"
high=$(awk -F, '$4 == "high"' mem/pressure.csv | wc -l)
out_has "risk      $high steps high"
ok

claim "code of the five RISC-Vs is what the package has"
expect 0 compile $net -o net.ttb
expect 0 info net.ttb
sed -n 's/^code *//p' out | grep -oE '[0-9a-z]+ [0-9]+,' | sed 's/.* \([0-9]*\),/\1/' >want
sed -n 's/^Code of .*,\([0-9]*\),bytes$/\1/p' mem/device.csv >code
same want code
[ "$(wc -l <code)" = 5 ] || wrong "not five figures"
ok

claim "what a run counted stands beside what was predicted, and is the same"
expect 0 report $net -o page.html --memory ran --device=emu:fast --random-input=1
cut -d, -f1-9 mem/pressure.csv >one
cut -d, -f1-9 ran/pressure.csv >two
same one two
head -1 ran/pressure.csv | tr ',' '\n' | grep -c '^Counted ' >n
[ "$(cat n)" -gt 15 ] || wrong "only $(cat n) counters"
sed 's/"[^"]*"//g' ran/pressure.csv | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^Predicted .*[a-z]_[a-z]|^Predicted (unpacks|mvmuls|packs)/ &&
		$(i + 1) ~ /^Counted/) column[i] = $i; next }
	{ for (i in column) { predicted[i] += $i; counted[i] += $(i + 1) } }
	END { for (i in column) { n++; if (predicted[i] != counted[i]) { print column[i]; bad = 1 }
		if (column[i] ~ /mvmuls|dram_read_bytes|unpack_bytes/ && !counted[i]) bad = 1 }
		exit bad || n < 10 }' >differ || wrong "$(cat differ)"
ok

claim "a folder that cannot be made is said"
: >file
expect 1 report $net -o page.html --memory file
err_has "file"
ok

# row VALUE: what a sweep printed of it.
row() { awk -v v="$1" '$1 == v' swept; }

claim "a sweep plans every value, and says what plan says of it"
expect 0 report $unet --random-weights=1 --cores=4 --sweep size=32,64,31
cp out swept
for size in 32 64; do
	expect 0 plan $unet --random-weights=1 --cores=4 --input 1x3x${size}x$size -o s.plan --format=json
	us=$(json predicted_cycles out | awk '{ printf "%.1f", $1 / 1000 }')
	[ "$(row $size | awk '{ print $2 }')" = "$us" ] || wrong "not $us us at $size: $(row $size)"
done
case $(row 31) in *"no plan: "?*) ;; *) wrong "nothing is said of 31" ;; esac
grep -qF "pressure becomes critical at size=31: there is no plan" swept || wrong "$(tail -1 swept)"
ok

claim "pressure is critical once tensors have to lie in DRAM"
expect 0 report $unet --random-weights=1 --cores=4 --l1=100000 --sweep size=32,64,256
cp out swept
at=$(sed -n 's/^pressure becomes critical at size=\([0-9]*\): tensors lie in DRAM.*/\1/p' out)
[ "$at" = 64 ] || wrong "$(cat swept)"
row 64 | awk '{ exit $7 == 0 }' || wrong "nothing lies in DRAM at 64"
row 32 | awk '{ exit $7 > 0 || $NF == "high" }' || wrong "32 is critical too"
ok

claim "a batch is the first dim of every input"
expect 0 report $unet --random-weights=1 --cores=4 --sweep batch=1,2
cp out swept
row 2 | awk '{ exit !($3 > 0.49 * $2 && $3 < 0.51 * $2) }' || wrong "$(row 2)"
out_has "pressure is not critical at any of these"
ok

claim "wrong sweeps are refused"
for sweep in size batch= size=0 size=1, width=3 size=1:2 size=a; do
	expect 2 report $net --sweep $sweep
	err_has "'--sweep' wants"
done
expect 2 report $net --sweep size=64 -o no.html
err_has "no '-o'"
absent no.html
ok

# log_of F: the circular buffers of a program's text, as TT-Metal logs them for two cores.
log_of() {
	awk '/^\tcb / { for (x = 0; x < 2; x++)
		printf "2026-01-01 00:00:00.000 | debug    |           Metal |   Core(%d,0) CB[%d]: addr=%s page_size=%d num_pages=%d base=0x7f (emulated_program_runner.cpp:2955)\n",
			x, $2, $4, $6, $8 } ' "$1"
}

claim "the log of a program that has the plan's circular buffers agrees with it"
expect 0 compile $net --emit=program -o net.program
log_of net.program >all.log
[ "$(wc -l <all.log)" -gt 10 ] || wrong "no circular buffers in the program"
head -2 all.log >first.log
expect 0 report $net -o page.html --from-log first.log
grep -q "^0,enc1.c1.conv,[0-9]*,\(0x[0-9a-f]*,[0-9]*,[0-9]*\),\1,same$" out || wrong "$(cat out)"
out_has "circular buffers: 1 same, 0 differ, 0 in the log only"
sed 's/num_pages=\([0-9]*\) base/num_pages=1\1 base/' first.log >other.log
expect 0 report $net -o page.html --from-log other.log
out_has "circular buffers: 0 same, 1 differ"
ok

claim "allocations and clashes of a log are told, and a log without any is refused"
cat >clash.log <<'END'
x | debug | Metal | ShmTrackingProcessor::track_allocate: Calling SHM record_allocation (device_id=0, type=1, size=65536 B, pid=7) (a.cpp:1)
x | debug | Metal | ShmTrackingProcessor::track_allocate: Calling SHM record_allocation (device_id=0, type=4, size=1000 B, pid=7) (a.cpp:1)
Statically allocated circular buffers in program 3 clash with L1 buffers on core range [0-0]. L1 buffer allocated at 104960 and static circular buffer region ends at 106496
END
expect 0 report $net -o page.html --from-log clash.log
out_has "allocated in the log: L1, 1 buffers, 65536 bytes"
out_has "allocated in the log: trace region, 1 buffers, 1000 bytes"
out_has "clash in the log: Statically allocated circular buffers in program 3 clash"
expect 1 report $net -o page.html --from-log a.plan
err_has "no circular buffer and no allocation"
expect 1 report $net -o page.html --from-log none.log
err_has "none.log"
ok
end_claims
