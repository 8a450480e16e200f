#!/bin/sh
# cli_net.sh TESSERA [sanitized]: whole nets from the command line: layer by layer, batches,
# several inputs and outputs, every stage as a file.
. "$(dirname "$0")/cli_claims.sh"

# Two images, two inputs, three outputs: one is inner to another's way, one joins tensors.
cat >batch.ir <<END
graph "batch"
%a = input : f32[2,3,9,12]
%b = input : f32[2,3,9,12]
%w = constant $(numbers 216) : f32[8,3,3,3]
%c = conv %a, %w {pads = [1,1,1,1], strides = [1,1], dilations = [1,1]} : f32[2,8,9,12]
%r = relu %c : f32[2,8,9,12]
%s = add %a, %b : f32[2,3,9,12]
%j = concat %r, %s {axis = 1} : f32[2,11,9,12]
%p = max_pool %j {kernel = [3,2], pads = [0,0,0,0], strides = [3,2], dilations = [1,1]} : f32[2,11,3,6]
%first = output %r : f32[2,8,9,12]
%sum = output %s : f32[2,3,9,12]
%last = output %p : f32[2,11,3,6]
END

claim "packages say where the model has each op, and which it took in"
expect 0 compile net.ir -o net.ttb
expect 0 info net.ttb
out_has "conv c (net.ir:8:6, with n, r)"
out_has "edge_in x (net.ir:2:6)"
mkdir -p else/where
cp net.ir else/where
expect 0 compile else/where/net.ir -o there.ttb
same net.ttb there.ttb
ok

claim "verify --layers compares every tensor of the device and writes both sides"
expect 0 verify net.ir --random-input=1 --device=emu --layers seen
silent
out_has "layers: the device against the graph after the passes, in float"
out_has "layer 0 'x' edge_in 1x2x6x6 bf16: pcc "
out_has "layer 1 'c' conv 1x4x6x6 "
out_has "layers: all 2 are within the limits"
out_has "out_0 'y' 1x4x6x6: pcc "
for side in ref device; do there seen/$side/000_x.npy seen/$side/001_c.npy; done
cmp -s seen/ref/000_x.npy seen/device/000_x.npy && wrong "bf16 holds what random input has"
ok

claim "what layers have is what runs without them: nothing is added to the program"
expect 0 run net.ir --random-input=1 --device=emu --output plain
same plain/out_0.npy seen/device/001_c.npy
expect 0 run net.ir --random-input=1 --output float
expect 0 verify net.ir --random-input=1 --device=emu --layers seen --expect float/out_0.npy
ok

claim "the first layer below the limits is named, with its place in the model"
expect 1 verify net.ir --random-input=1 --device=emu --layers seen --min-pcc=1
out_has "first layer below: 0 'x' (net.ir:2:6)"
expect 1 verify net.ir --random-input=1 --device=emu --layers seen --max-err=0.0012
out_has "first layer below: 1 'c' (net.ir:8:6, with n, r)"
ok

claim "layers want a device, a model and a folder that can be made"
expect 2 verify net.ir --random-input=1 --layers seen2
err_is "tessera: error: '--layers' wants a device, such as --device=emu"
expect 2 verify net.ttb --random-input=1 --expect float/out_0.npy --layers seen2
err_is "tessera: error: '--layers': a package has no graph to compare with, its model has"
absent seen2
expect 1 verify net.ir --random-input=1 --device=emu --layers net.ir/seen
err_has "net.ir"
ok

claim "names that are no names of files are written all the same"
sed 's/%c\b/%"a\/..\/c d"/g' net.ir >odd.ir
expect 0 verify odd.ir --random-input=1 --device=emu --layers odd
there odd/ref/001_a_.._c_d.npy odd/device/001_a_.._c_d.npy
ok

claim "several stages are written at once, beside the file that is named"
expect 0 compile net.ir --emit=plan,program,package -o out.ttb
silent
there out.ttb out.plan out.program
same out.ttb net.ttb
expect 0 compile net.ir --emit=plan -o one
same one out.plan
expect 0 compile net.ir --emit=program
same out out.program
expect 0 compile batch.ir --emit=object,ir,plan -o files
there files.o files.h files.ir files.safetensors files.plan
absent files files.ttb files.program
expect 0 opt batch.ir -o files2.ir
sed s/files2/files/ files2.ir | cmp -s - files.ir || wrong "not the graph after passes"
expect 0 compile files.ir --passes= --emit=program,package -o again
expect 0 compile batch.ir --emit=program
sed -i 's/ source "[^"]*"//' out again.program
same out again.program
ok

claim "an object is what a name that ends in .o asks for"
expect 0 compile net.ir -o net.o
there net.o net.h
expect 0 compile net.ir -o net.out
same net.out net.ttb
ok

claim "stages that cannot be written are not, and nothing that is read is overwritten"
expect 2 compile net.ir --emit=ir,plan -o net.ttb
err_is "tessera: error: '-o': 'net.ir' would be overwritten, which is read"
expect 2 compile net.ir --emit=plan,package --plan out.plan -o ./out.ttb
err_is "tessera: error: '-o': './out.plan' would be overwritten, which is read"
cp net.ir kept.ir
for kind in ir package program plan; do
	expect 2 compile net.ir --emit=$kind -o ./net.ir
	err_is "tessera: error: '-o': './net.ir' would be overwritten, which is read"
done
same net.ir kept.ir
expect 2 compile net.ir --plan out.plan -o out.plan
expect 0 compile net.ir --emit=plan --plan out.plan -o out.plan
expect 2 compile net.ir --emit=plan,program
err_is "tessera: error: '--emit': several kinds want -o FILE"
expect 2 compile net.ir --emit=plan,,program -o x
err_has "'--emit': no kind ''"
expect 2 compile net.ir --emit=ir --format=json -o x
absent x x.plan
mkdir -p no.program
expect 1 compile net.ir --emit=object,plan,program,package -o no.ttb
absent no.plan no.ttb no.o no.h
expect 0 compile net.ir --emit=ir --stop-after=fold_batchnorm
out_has "relu"
expect 0 compile net.ir -o net2.ttb --dump-after=fuse_activation
err_has "// after fuse_activation"
ok

claim "a batch with several inputs and outputs runs from model and package alike"
expect 0 run batch.ir --random-input=5 --output ref
expect 0 run batch.ir --random-input=5 --device=emu --output emu
expect 0 compile batch.ir -o batch.ttb
expect 0 run batch.ttb --random-input=5 --output ttb
for k in 0 1 2; do
	there ref/out_$k.npy
	same emu/out_$k.npy ttb/out_$k.npy
done
absent ref/out_3.npy emu/out_3.npy
expect 0 verify batch.ttb --random-input=5 --expect ref/out_0.npy --expect last=ref/out_2.npy
out_has "out_0 'first' 2x8x9x12: pcc "
out_has "out_1 'sum' 2x3x9x12: not compared"
out_has "out_2 'last' 2x11x3x6: pcc "
expect 0 verify batch.ir --random-input=5 --device=emu
[ "$(grep -c ': ok$' out)" = 3 ] || wrong "not three outputs"
ok

claim "inputs go by name or in order, whichever way the model runs"
expect 0 run batch.ir --random-input=6 --output other
cp emu/out_1.npy a.npy
cp other/out_1.npy b.npy
for how in "batch.ir --device=ref" "batch.ir --device=emu" batch.ttb; do
	expect 0 run $how --input a.npy --input b.npy --output in_order
	expect 0 run $how --input b=b.npy --input a=a.npy --output by_name
	expect 0 run $how --input b=b.npy --input a.npy --output mixed
	for k in 0 1 2; do
		same in_order/out_$k.npy by_name/out_$k.npy
		same in_order/out_$k.npy mixed/out_$k.npy
	done
	expect 0 run $how --input b.npy --input a.npy --output swapped
	cmp -s in_order/out_0.npy swapped/out_0.npy && wrong "$how: swapped inputs, the same result"
	expect 2 run $how --input a.npy --output none
	err_has "input 'b' (f32 2x3x9x12) has no data"
	expect 2 run $how --input a.npy --input b.npy --input a.npy --output none
	err_has "the model has no more inputs"
done
absent none
ok

claim "layers are seen image by image"
expect 0 verify batch.ir --random-input=5 --device=emu --layers batch
out_has "'c.image1' conv 1x8x9x12 "
out_has "'s.image1' "
out_has "layers: all "
[ "$(ls batch/ref)" = "$(ls batch/device)" ] || wrong "one side has others than the other"
ok

claim "constants that are read like tensors are among the layers"
cat >constants.ir <<'END'
graph "constants"
%x = input : f32[2,3,6,6]
%k = constant [0.5, -0.25, 2] : f32[3,1,1]
%p = prelu %x, %k : f32[2,3,6,6]
%e = constant [1, 2, 3, 4, 5, 6] : f32[1,6]
%m = max %p, %e : f32[2,3,6,6]
%o = output %m : f32[2,3,6,6]
END
expect 0 verify constants.ir --random-input=5 --device=emu --layers constants
out_has "'k' constant 1x3x1x1 bf16: pcc 1.000000000, max error 0,"
out_has "'e.image1' constant 1x1x1x6 bf16: pcc 1.000000000, max error 0,"
[ "$(ls constants/ref)" = "$(ls constants/device)" ] || wrong "one side has others than the other"
ok

claim "of a result that the host gets, either all images are f32 or none"
cat >elus.ir <<'END'
graph "elus"
%x = input : f32[2,8,6,6]
%e = elu %x {alpha = 0.5} : f32[2,8,6,6]
%o = output %e : f32[2,8,6,6]
END
for goal in time greedy l1; do
	expect 0 compile elus.ir -o elus.plan --emit=plan --objective=$goal --pin 'tensor e.image1 type=bf16'
	[ "$(grep -c '^tensor e.* type=bf16' elus.plan)" = 2 ] || wrong "$goal: not both are bf16"
	expect 0 verify elus.ir --random-input=1 --device=emu:fast --objective=$goal --pin 'tensor e.image1 type=bf16'
done
expect 2 plan elus.ir --pin 'tensor e type=f32' --pin 'tensor e.image1 type=bf16'
err_has "--pin:2:17: error: e.image1: type=bf16 is not that of e, which is another image of it; f32 is"
sed '/^tensor e /s/type=bf16/type=f32/' elus.plan >mixed.plan
expect 1 score elus.ir --plan mixed.plan
err_has "error: e.image1: type=bf16 is not that of e, which is another image of it; f32 is"
ok

claim "an image that is pinned keeps the others in f32 where room is short"
cat >short.ir <<'END'
graph "short"
%x = input : f32[2,32,64,64]
%m = max_pool %x {act = elu(alpha = 0.5), dilations = [1,1], kernel = [8,8], pads = [0,0,0,0], strides = [8,8]} : f32[2,32,8,8]
%s = sigmoid %x : f32[2,32,64,64]
%o = output %m : f32[2,32,8,8]
%p = output %s : f32[2,32,64,64]
END
expect 0 plan short.ir --cores=1 --l1=500000 --pin 'tensor m type=f32' -o short.plan
[ "$(grep '^tensor [ms]' short.plan | grep -o '^tensor [a-z0-9.]* \|type=[a-z0-9]*' | tr -d '\n')" = \
	"tensor m type=f32tensor s type=bf16tensor m.image1 type=f32tensor s.image1 type=bf16" ] ||
	wrong "$(cat short.plan)"
ok

claim "mean and factor of a norm may be cut differently"
cat >norm.ir <<'END'
graph "norm"
%x = input : f32[1,64,9,7]
%s = constant splat 1 : f32[64]
%e = instance_norm %x, %s, %s {epsilon = 1e-05} : f32[1,64,9,7]
%o = output %e : f32[1,64,9,7]
END
expect 0 verify norm.ir --random-input=1 --device=emu --min-pcc=0.9999 --pin 'tensor e.norm bands=3 splits=2' --pin 'tensor e.mean shard=height' --pin 'tensor e.factor bands=1 splits=2'
expect 0 verify norm.ir --random-input=1 --device=emu --min-pcc=0.9999 --pin 'tensor e.norm bands=3 splits=2' --pin 'tensor e.mean bands=1 splits=2' --pin 'tensor e.factor shard=height'
ok

claim "a core without rows in a slice takes the weights of its split"
cat >slices.ir <<'END'
graph "slices"
%x = input : f32[1,32,27,5]
%w = constant splat 0.125 : f32[144,32,1,1]
%c = conv %x, %w {dilations = [1,1], groups = 1, pads = [0,0,0,0], strides = [1,1]} : f32[1,144,27,5]
%o = output %c : f32[1,144,27,5]
END
expect 0 verify slices.ir --random-input=1 --device=emu --min-pcc=0.9999 --pin 'tensor c bands=7 splits=3 place=dram' --pin 'op c slice=3'
ok

claim "a batch is what --input asks for, when it compiles and when it runs"
cat >pool.nnef <<'END'
version 1.0;
graph pool(x) -> (y, z)
{
    x = external(shape = [1, 3, 8, 8]);
    y = max_pool(x, size = [1, 1, 2, 2], stride = [1, 1, 2, 2], padding = [(0, 0), (0, 0), (0, 0), (0, 0)]);
    z = relu(y);
}
END
expect 0 run pool.nnef --input x=4x3x8x8 --random-input=1 --device=emu --output four
expect 0 compile pool.nnef --input x=4x3x8x8 -o four.ttb
expect 0 info four.ttb
out_has "input     x : f32[4,3,8,8]"
expect 0 run four.ttb --random-input=1 --output four2
for k in 0 1; do same four/out_$k.npy four2/out_$k.npy; done
expect 0 verify pool.nnef --input x=4x3x8x8 --random-input=1 --device=emu --layers layers4
out_has "out_1 'z' 4x3x4x4: pcc "
expect 2 run four.ttb --input a.npy --output none
err_has "x: wants shape [4,3,8,8], has [2,3,9,12]"
ok

claim "progress is shown on a terminal alone, and messages take its place"
expect 0 compile net.ir -o net.ttb
silent
expect 0 verify net.ir --random-input=1 --device=emu
silent
if script -qec true /dev/null >/dev/null 2>&1; then
	export TERM=xterm
	erase=$(printf '\r\033[K')
	script -qec "$tessera compile net.ir -o net2.ttb" /dev/null >out
	out_has "planning ...${erase}lowering the plan ...${erase}emitting the package ...${erase}plan of net"
	printf '%%x = input : f32[1,3,8,8]\n%%t = softplus %%x : f32[1,3,8,8]\n%%y = output %%t : f32[1,3,8,8]\n' >softplus.ir
	NO_COLOR=1 script -qec "$tessera compile softplus.ir -o no.ttb" /dev/null >out
	out_has "planning ...${erase}softplus.ir:2:6: error: "
	script -qec "$tessera compile net.ir -o net2.ttb --timing" /dev/null >out
	grep -q "\.\.\." out && wrong "progress between times"
else
	echo "skipped: no script(1) to be a terminal"
fi
ok

end_claims
