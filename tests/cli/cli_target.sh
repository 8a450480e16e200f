#!/bin/sh
# cli_target.sh TESSERA: targets, as the command line names, prints and refuses
# them. Each claim is printed.
. "$(dirname "$0")/cli_claims.sh"

claim "--print-target prints a target file that reads back to itself, without a model"
for t in wormhole_n150 wormhole_n300 blackhole_p150; do
	expect 0 compile --print-target --target=$t
	silent
	cp out "$t.ini"
	expect 0 check --print-target --target="./$t.ini"
	same out "$t.ini"
done
expect 0 compile --print-target
same out wormhole_n150.ini
out_has "grid_rows = 8                    # cores: rows of the compute grid"
printf 'inherit = wormhole_n150\ngrid_rows = 1\n' >my-chip.ini
expect 0 run net.ir --print-target --target=./my-chip.ini --output none
out_has "grid_rows = 1 "
out_has "grid_cols = 8 "
absent none
printf 'inherit = my-chip.ini\ngrid_colls = 2\n' >typo.ini
expect 2 verify --print-target --target=typo.ini
err_has "typo.ini:2:1: error: a target has no 'grid_colls'"
err_has "did you mean 'grid_cols'?"
printf 'inherit = loop.ini\n' >loop.ini
expect 2 compile net.ir -o none --target=loop.ini
err_has "loop.ini:1:11: error: 'loop.ini' inherits from itself"
[ ! -s out ] || wrong "something is printed"
expect 2 compile
ok

claim "Blackhole is planned for and checked, but not compiled for"
refusal="tessera: error: target 'blackhole_p150' is a blackhole: the device library is for wormhole only, so there is a plan (--emit=plan) and no program"
for e in package object program; do
	expect 3 compile net.ir --emit=$e -o none.o --target=blackhole_p150
	err_is "$refusal"
done
absent none.o none.h
expect 3 verify net.ir --random-input=1 --device=emu --target=blackhole_p150
err_is "$refusal"
expect 0 compile net.ir --emit=plan --target=blackhole_p150
silent
out_has "plan net target=blackhole_p150"
expect 0 check net.ir --target=blackhole_p150
out_has "all 1 ops can run on blackhole_p150"
ok

claim "a net that DRAM has no room for is refused, with what it needs and what takes most"
printf 'inherit = wormhole_n150\ndram_bank_bytes = 1048576\n' >small-dram.ini
printf '%s\n' 'graph "large"' '%x = input : f32[1,16,1024,512]' '%y = relu %x : f32[1,16,1024,512]' \
	'%o = output %y : f32[1,16,1024,512]' >large.ir
expect 3 compile large.ir -o none.ttb --objective=greedy --target=small-dram.ini
err_has "large: error: tensors and weights need 5595136 bytes of each of 12 banks of DRAM, which have 1048576; the largest: 'x' 2797568, 'o' 2797568"
absent none.ttb
expect 0 compile large.ir -o large.ttb --objective=greedy
ok

end_claims
