#!/bin/sh
# cli_ttnn.sh TESSERA PLAIN CASES: --kernels=ttnn and --emit=ttcnn on the command line.
# Each claim is printed. With TT_METAL_HOME, a tree of tt-metal, its names are compared too.
here=$(realpath "$(dirname "$0")")
models=$here/../../models
cases=$3
. "$here/../cli/cli_claims.sh"
unet="$models/tiny_unet.nnef --random-weights=1"

claim "a plan for ttnn is a table with L1, programs and predicted times"
expect 0 plan $unet --kernels=ttnn
silent
out_has "plan of tiny_unet for ttnn on wormhole_n150"
grep -qE '^enc1.c1.conv +conv2d +height 64 ' out || wrong "no row of a convolution"
grep -qE 'device +0\.[0-9]+ ms predicted in [0-9]+ programs: ' out || wrong "no predicted time"
out_has "optimal under the model"
ok

claim "its plan file reads back, scored as a whole, to the same times"
expect 0 plan $unet --kernels=ttnn -o a.plan --format=json
cp out a.json && is_json a.json
expect 0 score $unet --kernels=ttnn --plan a.plan --format=json
silent
same out a.json
ok

claim "what a plan file leaves out is chosen, and told"
sed 's/ enable_act_double_buffer=[a-z]*//' a.plan >part.plan
expect 0 score $unet --kernels=ttnn --plan part.plan
err_is "part.plan: note: 13 fields are not given: chosen best"
ok

claim "the plan made by hand is priced at 206 frames/s, give or take a quarter; ours is no slower"
big="$models/vanilla_unet.nnef --random-weights=1 --kernels=ttnn"
ns() { sed -n 's/^"predicted_kernel_ns":\([0-9]*\),$/\1/p' out; }
expect 0 score $big --plan "$models/vanilla_unet.hand.ttnn" --format=json
silent
hand=$(ns)
[ "$hand" -gt 3640000 ] && [ "$hand" -lt 6068000 ] || wrong "$hand ns by hand"
expect 0 plan $big --format=json
[ "$(ns)" -le "$hand" ] || wrong "$(ns) ns, and $hand by hand"
ok

claim "csv has a row for each op"
expect 0 plan $unet --kernels=ttnn --format=csv
[ "$(wc -l <out)" = "$(($(grep -c '^{"op"' a.json) + 1))" ] || wrong "$(wc -l <out) rows"
ok

claim "a pin holds; one that cannot be is refused with what is known"
expect 0 plan $unet --kernels=ttnn --pin 'op enc1.c2.conv park=dram'
out_has "parked in dram"
expect 2 plan $unet --kernels=ttnn --pin 'op enc1.c2.conv park=disk'
err_has "park is l1|dram, not 'disk'"
expect 3 plan $unet --kernels=ttnn --pin 'op enc1.c2.conv row_cores=63'
err_has "no way to call it that the fixed fields"
expect 0 plan $unet --kernels=ttnn --plan a.plan --target=blackhole_p150
err_has "warning: the plan was made for target wormhole_n150, this is blackhole_p150"
ok

claim "other kernels, other options: said, not passed over"
expect 2 plan $unet --kernels=tnn
err_is "tessera: error: '--kernels': own or ttnn, not 'tnn'"
expect 2 plan $unet --kernels=ttnn --cores=8
err_is "tessera: error: '--cores' is not for kernels of ttnn"
expect 2 compile $unet --emit=ttcnn,plan -o a.py
err_is "tessera: error: '--emit': ttcnn is by itself: it is planned for other kernels"
expect 2 compile $unet --emit=ttcnn
err_is "tessera: error: '--emit=ttcnn' wants -o FILE.py"
expect 2 compile $unet --emit=ttcnn -o a.ttb
err_is "tessera: error: '-o': a module wants a name that ends in .py, not 'a.ttb'"
expect 1 compile $unet --emit=ttcnn -o no/such/a.py
absent a.py a.safetensors no
ok

claim "every op that ttnn has nothing for is named, and nothing is written"
expect 3 compile "$models/style_transfer.nnef" --random-weights=1 --emit=ttcnn -o style.py
[ "$(grep -c 'no plan for ttnn' err)" -gt 20 ] || wrong "$(grep -c 'no plan for ttnn' err) named"
err_has "instance_norm"
absent style.py style.safetensors
ok

claim "the module of a small net is as it was read by a person"
cp "$here/residual.nnef" .
expect 0 compile residual.nnef --random-weights=1 --emit=ttcnn -o residual.py
silent
same residual.py "$here/residual.py"
cp residual.py first.py && cp residual.safetensors first.safetensors
expect 0 compile residual.nnef --random-weights=1 --emit=ttcnn -o residual.py
same residual.py first.py
same residual.safetensors first.safetensors
ok

claim "weights that are read are not written over"
cp residual.safetensors kept.safetensors
expect 2 compile residual.nnef --weights kept.safetensors --emit=ttcnn -o kept.py
err_has "would be overwritten, which is read"
same kept.safetensors residual.safetensors
ok

if ! python3 -c 'import dataclasses' 2>/dev/null; then
	echo "skipped: there is no python3 to run modules with"
	end_claims
	exit
fi
export PYTHONDONTWRITEBYTECODE=1

# holds MODULE SHAPES...: runs on the names of the API.
holds() { python3 "$here/check_module.py" "$@" >out 2>err || wrong "$1 does not hold"; }

claim "modules compile, use no name the API has not, and leave nothing behind on a device"
holds residual.py 1,16,64,64 1,32,64,64
for m in tiny_unet:1,3,64,64:1,1,64,64 vanilla_unet:1,3,480,640:1,1,480,640 vgg_unet:1,3,256,256:1,1,256,256; do
	name=${m%%:*}
	shapes=${m#*:}
	expect 0 compile "$models/$name.nnef" --random-weights=1 --emit=ttcnn -o "$name.py"
	holds "$name.py" "${shapes%:*}" "${shapes#*:}"
done
ok

claim "so do those of every op, of tensors in DRAM, and of the plan made by hand"
expect 0 compile "$here/ops.nnef" --random-weights=1 --emit=ttcnn -o ops.py
holds ops.py 1,3,64,64 1,1,64,64 1,64,1,1 1,40,31,31 1,96,32,32
expect 0 compile "$here/large.nnef" --random-weights=1 --emit=ttcnn -o large.py
grep -q 'DRAMSlice' large.py || wrong "nothing is sliced"
holds large.py 1,3,1024,1024 1,8,512,512
sed '/^op/s/\([a-z0-9_]*=[^ ]*\)/\1!/g' "$models/vanilla_unet.hand.ttnn" >hand.plan
expect 0 compile "$models/vanilla_unet.nnef" --random-weights=1 --emit=ttcnn --plan hand.plan -o hand.py
[ "$(grep -c '_dram = ttnn.to_memory_config' hand.py)" = 4 ] || wrong "not four skips in DRAM"
holds hand.py 1,3,480,640 1,1,480,640
ok

claim "and one of an ONNX file whose names are no identifiers"
if [ -f "$cases/models/unet_sedgen_32x32.onnx" ]; then
	expect 0 compile "$cases/models/unet_sedgen_32x32.onnx" --emit=ttcnn -o "a b.py"
	holds "a b.py" 1,1,32,32 1,1,32,32
else
	echo "skipped: no unet_sedgen_32x32.onnx"
fi
ok

claim "a wrong keyword, and a tensor left behind, are seen"
sed 's/act_block_h_override=/act_block_override=/' tiny_unet.py >wrong.py
cp tiny_unet.safetensors wrong.safetensors
python3 "$here/check_module.py" wrong.py 1,3,64,64 1,1,64,64 >out 2>err && wrong "a keyword of nobody passes"
err_has "act_block_override"
sed '/ttnn.deallocate(up1_conv)/d' tiny_unet.py >wrong.py
python3 "$here/check_module.py" wrong.py 1,3,64,64 1,1,64,64 >out 2>err && wrong "a leak passes"
err_has "left on the device"
ok

claim "the names are those of tt-metal"
if [ -d "$TT_METAL_HOME/models/tt_cnn" ]; then
	python3 "$here/check_api.py" "$TT_METAL_HOME" >out 2>err || wrong "$(cat out)"
else
	echo "skipped: no tree of tt-metal in TT_METAL_HOME"
fi
ok

end_claims
