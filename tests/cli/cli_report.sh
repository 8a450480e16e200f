#!/bin/sh
# cli_report.sh TESSERA: the page of `tessera report`, as text and in a browser. Each claim
# is printed.
here=$(realpath "$(dirname "$0")")
unet=$here/../../models/tiny_unet.nnef
. "$here/cli_claims.sh"

# Fewer cores: plans are found sooner.
printf 'inherit = wormhole_n150\ngrid_rows = 4\ngrid_cols = 8\n' >few.ini
few=$PWD/few.ini
net="$unet --random-weights=1 --target=$few"

# data F: what the page has as JSON.
data() { sed -n '/^<script type="application\/json"/,/^<\/script>/p' "$1" | sed '1d;$d'; }

claim "the page is one file that asks nothing of a network"
expect 0 report $net -o page.html
silent
there page.html
grep -qE '(src|href) *= *"[^#]|url\(|@import|fetch\(|XMLHttpRequest' page.html && wrong "it refers to others"
grep -q '{{' page.html && wrong "part of the frame was not filled in"
ok

claim "its times are those of the summary"
expect 0 plan $net -o a.plan --format=json
total=$(sed -n 's/^"predicted_cycles":\([0-9]*\),$/\1/p' out)
data page.html >data.json
grep -qF "\"total\":[$total]" data.json || wrong "not $total cycles in all"
sum=$(grep -oE '"start":[0-9]+,"cycles":[0-9]+' data.json | awk -F: '{ n += $3 } END { print n }')
[ "$sum" = "$total" ] || wrong "steps take $sum cycles, all of them $total"
ok

claim "the same bytes again; without -o the page is report.html"
expect 0 report $net
same report.html page.html
ok

claim "every op has the cheapest other choice, and that is its price"
line=$(grep -oE '^\{"name":"enc1.c2.conv".*' data.json)
other=$(echo "$line" | sed -n 's/.*"other":"\([^"]*\)".*/\1/p')
more=$(echo "$line" | sed -n 's/.*"other_cycles":\(-*[0-9]*\),.*/\1/p')
[ -n "$other" ] || wrong "nothing else for enc1.c2.conv"
key=${other%%=*}
sed -e 's/ *;.*//' -e "/ enc1.c2.conv /s/ $key=[^ ]*/ $other/" a.plan >other.plan
expect 0 score $net --plan other.plan --format=json
now=$(sed -n 's/^"predicted_cycles":\([0-9]*\),$/\1/p' out)
[ "$now" = $((total + more)) ] || wrong "$other makes $now cycles of $total, not $more more"
ok

claim "names cannot break out of the data"
sed 's/graph "net"/graph "a<\/script><b>"/' net.ir >bad.ir
expect 0 report bad.ir --target=$few -o bad.html
[ "$(grep -c '</script>' bad.html)" = 2 ] || wrong "there are more ends of scripts"
data bad.html | grep -qF '"a\u003c/script>' || wrong "no name"
ok

claim "what cannot be written or planned is said"
expect 1 report $net -o none/page.html
err_has "none/page.html"
expect 3 report $net --l1=20000 -o no.html
absent no.html
expect 2 report $net --emit=ir
ok

# spans_of F PID: "track start end" of every event of a process, in ns.
spans_of() {
	sed -n 's/.*"ph":"X","pid":'"$2"',"tid":\([0-9]*\),.*"ts":\([0-9]*\)\.\([0-9]*\),"dur":\([0-9]*\)\.\([0-9]*\),.*/\1 \2\3 \4\5/p' \
		"$1" | awk '{ print $1, $2 + 0, $2 + $3 }'
}

# tracks F PID: their names in order.
tracks() { sed -n 's/^{"name":"thread_name","ph":"M","pid":'"$2"',"tid":\([0-9]*\),"args":{\("name":".*"\)}},*$/\1 \2/p' "$1"; }

# in_order: steps follow each other without a gap, and no unit is busy longer than its step.
in_order() {
	awk '$1 == 0 { if ($2 < end - 1 || $2 > end + 1) bad = 1; start = $2; end = $3; steps++ }
		$1 > 0 && ($2 != start || $3 > end + 1) { bad = 1 }
		END { exit bad || steps < 10 }'
}

claim "the predicted timeline as a trace: tracks, steps one after the other, all of the time"
expect 0 report $net -o page.html --trace t.json
is_json t.json
[ "$(tracks t.json 1 | wc -l)" = 8 ] || wrong "not 8 tracks"
tracks t.json 1 | grep -qxF '0 "name":"steps"' || wrong "track 0 is not that of the steps"
spans_of t.json 1 | in_order || wrong "steps or units are out of order"
end=$(spans_of t.json 1 | awk '$1 == 0 { end = $3 } END { print end }')
[ "$end" -ge $((total - 9)) ] && [ "$end" -le $total ] || wrong "$total cycles at 1 GHz end at $end ns"
[ "$(spans_of t.json 2 | wc -l)" = 0 ] || wrong "there is a run that nobody asked for"
ok

claim "with a device the trace has the run too, on the same tracks, and what it counted"
expect 0 report $net --device=emu:fast --random-input=1 --trace run.json
out_has "every exact counter is what was predicted"
is_json run.json
tracks run.json 1 >one
tracks run.json 2 >two
same one two
spans_of run.json 2 | in_order || wrong "steps or units are out of order"
spans_of run.json 1 >one
spans_of t.json 1 >two
same one two
grep -q '"pid":2,.*"mvmuls":[1-9]' run.json || wrong "no MVMUL was counted"
ok

claim "a device that does not count is no help, nor is one without input"
expect 2 report $net --device=ref --random-input=1 -o no.html
err_has "only the emulator counts"
absent no.html
expect 2 report $net --device=emu -o no.html
absent no.html
ok

# A net of 500 ops, a sum every eighth.
long_net() {
	echo 'version 1.0; extension KHR_enable_fragment_definitions, KHR_enable_operator_expressions;'
	echo 'extension TS_scoped_variables;'
	echo 'fragment layer(x: tensor<scalar>, n: integer) -> (y: tensor<scalar>) {'
	echo "filter = variable(shape = [n, ?, 3, 3], label = 'filter');"
	echo 'y = relu(conv(x, filter, padding = [(1,1), (1,1)])); }'
	echo 'graph long(image) -> (out) { image = external(shape = [1, 16, 32, 32]);'
	echo 'c0 = layer(image, 16);'
	awk 'BEGIN { for (i = 1; i < 500; i++) if (i % 8) printf "c%d = layer(c%d, 16);\n", i, i - 1
		else printf "c%d = add(c%d, c%d);\n", i, i - 1, i - 8 }'
	echo 'out = relu(c499); }'
}

# browse F: opens it with report_page.js at its end; what that says is in `said`, what
# the console did in `console`.
browse() {
	awk 'FNR == NR { s = s $0 "\n"; next } /^<\/body>$/ { print "<script>\n" s "</script>" } { print }' \
		"$here/report_page.js" "$1" >tried.html
	chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$PWD/profile" --enable-logging=stderr --window-size=1400,900 \
		--dump-dom "file://$PWD/tried.html" >dom 2>log
	said=$(sed -n 's/.*<p id="result">\(.*\)<\/p>.*/\1/p' dom)
	console=$(grep CONSOLE log)
}

if [ "$sanitized" = plain ] && command -v chromium >/dev/null; then
	claim "in a browser: drawn, hover, sort, keys, theme, and nothing on the console"
	browse page.html
	case $said in ok*) echo "page: $said" ;; *) wrong "${said:-it did not come to an end}" ;; esac
	[ -z "$console" ] || wrong "$console"
	ok
	claim "printed, its columns fit the paper and an op takes two lines"
	chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$PWD/profile" --print-to-pdf="$PWD/page.pdf" "file://$PWD/page.html" 2>log
	pages=$(grep -ac '/Type */Page\>' page.pdf)
	[ "$pages" -ge 2 ] && [ "$pages" -le 7 ] || wrong "$pages pages"
	ok
	claim "a net of 500 ops is there within 10 s and answers within 10 s"
	long_net >long.nnef
	expect 0 report long.nnef --random-weights=1 --cores=8 -o long.html
	browse long.html
	case $said in ok*) echo "500 ops: $said" ;; *) wrong "${said:-it did not come to an end}" ;; esac
	times=$(echo "$said" | grep -oE '[0-9]+ ms' | awk '$1 > 10000')
	[ -z "$times" ] || wrong "it took $times"
	ok
else
	echo "skipped: no chromium here, so nobody looks at the page"
fi
end_claims
