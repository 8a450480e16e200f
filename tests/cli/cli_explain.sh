#!/bin/sh
# cli_explain.sh TESSERA: why an op is planned as it is, or why there is no plan. Each
# claim is printed.
. "$(dirname "$0")/cli_claims.sh"

cat >skip.ir <<'END'
graph "net"
%x = input {stored = bf16} : f32[1,16,16,32]
%w = constant splat 0.5 : f32[64,16,3,3]
%a = conv %x, %w {dilations = [1,1], pads = [1,1,1,1], stored = bf16, strides = [1,1], weights = bfp8_b} : f32[1,64,16,32]
%r = relu %a {stored = bf16} : f32[1,64,16,32]
%s = sigmoid %r {stored = bf16} : f32[1,64,16,32]
%d = add %s, %a {stored = bf16} : f32[1,64,16,32]
%o = output %d : f32[1,64,16,32]
END
printf 'inherit = wormhole_n150\ngrid_rows = 1\ngrid_cols = 2\n' >two.ini
printf 'inherit = two.ini\nl1_end = 115664\n' >small.ini

claim "explain says what was chosen, where time and L1 go, and what else would cost"
expect 0 explain skip.ir --passes= --op r --target=./two.ini
silent
out_has "r: unary, "
out_has "  bands="
out_has "L1: "
out_has ": result"
out_has "  a for d: waits in L1, "
out_has "; in DRAM +"
out_has "runner-up: bands="
out_has "a tenth more L1 does not help"
ok

claim "pins of the command line hold, and are marked"
expect 0 explain skip.ir --passes= --op r --target=./two.ini --pin 'tensor r bands=2'
silent
out_has "  bands=2! "
expect 2 explain skip.ir --passes= --op r --target=./two.ini --pin 'tensor r bands=3'
expect 3 explain skip.ir --passes= --op r --target=./two.ini --pin 'tensor r place=l1' --l1=40000
out_has "what would help"
ok

claim "the same as JSON, in cycles and bytes"
expect 0 explain skip.ir --passes= --op r --target=./two.ini --format=json
silent
out_has '{"op":"r","step":"unary","clock_mhz":1000,"cycles":'
out_has '"skips":[{"name":"a","reader":"d","waits":"l1","beside":false,"bytes":'
out_has '"runner_up":{"what":"bands='
if command -v python3 >/dev/null; then
	python3 -m json.tool out >/dev/null || wrong "not JSON"
fi
ok

claim "without a plan it says why and what would help, and ends with 3"
expect 3 explain skip.ir --passes= --op r --target=./small.ini
silent
out_has "no plan fits "
out_has " bytes by itself"
out_has "  l1="
expect 3 explain skip.ir --passes= --op r --target=./small.ini --format=json
out_has '"fixes":[{"what":"l1='
ok

claim "what it does not know it suggests"
expect 2 explain skip.ir --passes= --op rr --target=./two.ini
err_has "'--op': no op 'rr' in the plan"
grep -q "note: did you mean\|note: 'tessera plan' lists them" err || wrong "what to do is not said"
expect 2 explain skip.ir --passes= --target=./two.ini
err_has "'explain' wants --op NAME"
expect 2 explain skip.ir --op r --format=xml
err_has "'--format': text or json, not 'xml'"
ok
end_claims
