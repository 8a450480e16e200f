#!/bin/sh
# cli.sh TESSERA [sanitized]: what the command does, says, writes and exits
# with. Each claim is printed.
. "$(dirname "$0")/cli_claims.sh"

cat >two.ir <<'END'
%a = input : f32[2,3]
%b = input : f32[2,3]
%s = add %a, %b : f32[2,3]
%y = output %s : f32[2,3]
%z = output %a : f32[2,3]
END
cat >shapes.ir <<'END'
%x = input : f32[2,3]
%y = output %x : f32[2,3]
END
cat >reference.ir <<'END'
%x = input : f32[1,4,8]
%w = input : f32[4,4,3,3]
%p = input : f32[1,4,6,6]
%s = softplus %x : f32[1,4,8]
%l = log_softmax %s {axis = 2} : f32[1,4,8]
%c = conv %p, %w {pads = [1,1,1,1], strides = [1,1], dilations = [1,1]} : f32[1,4,6,6]
%r = relu %c : f32[1,4,6,6]
%y = output %l : f32[1,4,8]
%z = output %r : f32[1,4,6,6]
END

claim "help is one screen and tells the exit codes"
expect 0 --help
[ "$(wc -l <out)" -le 24 ] || wrong "more than 24 lines"
for c in 0 1 2 3 4 5; do out_has "  $c  "; done
silent
ok

claim "no line of any help is longer than 80 columns"
for c in opt compile plan score diff run verify convert check ops; do
	expect 0 $c --help
	out_has "usage: tessera $c "
	[ -z "$(awk 'length > 80' out)" ] || wrong "a long line in the help of $c"
done
ok

claim "the help of opt lists the passes"
expect 0 opt --help
for p in fold_constants fold_batchnorm fuse_activation choose_dtypes; do out_has "  $p "; done
ok

claim "the version is one line, and another says whether LLVM can emit for the device"
expect 0 --version
grep -qE '^tessera [0-9]+\.[0-9]+\.[0-9]+$' out || wrong "$(cat out)"
grep -qE '^LLVM [0-9]+\.[0-9]+\.[0-9]+: riscv32 objects ok$' out || wrong "$(cat out)"
ok

claim "the program itself does not need LLVM"
ldd "$tessera" | grep -i llvm && wrong "it is linked with it"
ok

claim "ops lists every op, its constraints, and the hints"
expect 0 ops
for o in conv max_pool layer_norm depth_to_space act_block_h ConvTranspose "max_pool_with_index(input"; do out_has "  $o"; done
out_has "device: 2-D, constant weights"
ok

claim "a wrong command line exits with 2 and reads nothing"
expect 2
expect 2 frobnicate
expect 2 opt
expect 2 opt no-such.ir --frobnicate
err_is "tessera: error: 'opt' has no option '--frobnicate'
tessera: note: 'tessera opt --help' lists them"
expect 2 opt no-such.ir --passes=xyzzy
err_is "tessera: error: '--passes': no pass 'xyzzy'
tessera: note: 'tessera help passes' lists them"
expect 2 plan net.ir --objective=xyzzy
err_is "tessera: error: '--objective': no objective 'xyzzy'
tessera: note: there are time, reshards, l1, greedy"
expect 2 plan net.ir --target=xyzzy
err_is "error: no target 'xyzzy'
note: there are blackhole_p150, wormhole_n150, wormhole_n300; that of a file has a / or a . in it"
expect 2 opt no-such.ir --passes=fold_batchnrom
err_has "did you mean 'fold_batchnorm'?"
expect 2 opt no-such.ir --stop-after=nothing
expect 2 opt no-such.ir --passes=fuse_pad --dump-after=fuse_bias
err_is "tessera: error: '--dump-after': pass 'fuse_bias' is not among those to run"
expect 2 opt no-such.ir --start-from=choose_dtypes --stop-after=fold_constants
expect 2 run net.ir --random-input=1
err_is "tessera: error: 'run' wants --output DIR"
expect 2 run net.ir --random-input=1 --output o --device=gpu
err_is "tessera: error: gpu: no such device; there are emu, emu:fast, ttsim:PATH and card:N"
expect 2 verify net.ir --threads=1025
err_is "tessera: error: '--threads': at most 1024"
absent o
ok

claim "what cannot be read is named and exits with 1"
expect 1 opt no-such.ir
err_is "no-such.ir: error: cannot read: No such file or directory"
echo hello >hello.txt
expect 1 opt hello.txt
err_is "hello.txt: error: not a model: neither ONNX, NNEF nor IR text"
expect 1 opt .
echo '%x = inptu : f32[1]' >typo.ir
expect 1 opt typo.ir -o typo.out
err_has "typo.ir:1:6: error:"
absent typo.out
ok

claim "the format of a model is seen by its content"
mkdir folder
printf '# a comment\nversion 1.0;\ngraph net(x) -> (y)\n{\n    x = external(shape = [1,2,4,4]);\n    y = relu(x);\n}\n' >folder/graph.nnef
cp folder/graph.nnef text
cp shapes.ir text2
for m in folder folder/graph.nnef text text2; do expect 0 opt $m; done
rm folder/graph.nnef
expect 1 opt folder
err_is "folder/graph.nnef: error: cannot read: No such file or directory"
: >empty.onnx
expect 1 opt empty.onnx
err_has "empty.onnx: error:"
ok

claim "a NaN among the weights is an error"
printf '%%w = constant [1,nan] : f32[2]\n%%x = input : f32[2]\n%%s = add %%x, %%w : f32[2]\n%%y = output %%s : f32[2]\n' >nan.ir
expect 1 opt nan.ir
err_has "error: constant 'w': element 1 is NaN"
ok

claim "opt runs the passes and prints IR that reads back to itself"
expect 0 opt net.ir
grep -q batch_norm out && wrong "a batch norm is left"
grep -q 'act = relu' out || wrong "no fused relu"
expect 0 opt net.ir --passes= -o same.ir
expect 0 opt same.ir --passes= -o again.ir
sed 's/again.safetensors/same.safetensors/' again.ir >renamed.ir
same same.ir renamed.ir
same same.safetensors again.safetensors
ok

claim "opt -o writes the weights beside the text, and the text finds them"
expect 0 opt net.ir -o deep.ir
silent
there deep.ir deep.safetensors
grep -qx 'weights "deep.safetensors"' deep.ir || wrong "the text does not name its weights"
expect 0 run deep.ir --passes= --random-input=3 --output o1
expect 0 run net.ir --random-input=3 --output o2
same o1/out_0.npy o2/out_0.npy
mkdir elsewhere && mv deep.safetensors elsewhere/
expect 0 opt deep.ir --passes=
err_has "warning: no './deep.safetensors'"
expect 0 run deep.ir --weights=elsewhere --passes= --random-input=3 --output o3
same o1/out_0.npy o3/out_0.npy
expect 1 run deep.ir --passes= --random-input=3 --output o4
absent o4
ok

claim "a small graph needs no weight file"
expect 0 opt two.ir -o small.ir
there small.ir
absent small.safetensors
grep -q weights small.ir && wrong "weights are named"
ok

claim "--passes runs exactly these, --start-from and --stop-after a part"
expect 0 opt net.ir --passes=fuse_activation
grep -q batch_norm out || wrong "the batch norm is gone"
expect 0 opt net.ir --stop-after=fold_batchnorm
grep -q batch_norm out && wrong "the batch norm is left"
grep -q ' = relu' out || wrong "the relu is gone"
cp out part.ir
expect 0 opt part.ir --start-from=fuse_bias
cp out parts.ir
expect 0 opt net.ir
sed '/^weights/d' out >whole.ir
sed '/^weights/d' parts.ir | cmp -s - whole.ir || wrong "two parts do not make the whole"
ok

claim "dumps are numbered, only of passes that changed something, and read back"
expect 0 opt net.ir --dump-dir=dumps
there dumps/weights
[ -n "$(ls dumps/*_fold_batchnorm.ir)" ] || wrong "no dump of fold_batchnorm"
[ -z "$(ls dumps | grep fuse_pad)" ] || wrong "a dump of fuse_pad, which changed nothing"
last=$(ls dumps/*.ir | tail -1)
expect 0 run "$last" --passes= --random-input=3 --output o5
silent
same o1/out_0.npy o5/out_0.npy
for d in dumps/*.ir; do
	grep -v '^//' "$d" >want
	expect 0 opt "$d" --passes=
	silent
	same out want
done
expect 0 opt net.ir --dump-dir=dumps
expect 0 run "$last" --passes= --random-input=3 --output o5
same o1/out_0.npy o5/out_0.npy
ok

claim "dumps that cannot be written end the command"
echo text >file
expect 1 opt net.ir --dump-dir=file/in
err_has "file/in: error: cannot make the folder"
[ ! -s out ] || wrong "a graph is printed"
ok

claim "a part keeps the numbers of the whole"
first=$(ls dumps/*_fuse_activation.ir)
stem=$(basename "$first" .ir)
expect 0 opt net.ir --start-from=fold_batchnorm --stop-after="$stem" --dump-dir=part
there "part/$stem.ir"
absent part/*choose_dtypes.ir
ok

claim "--dump-after prints the graph after that pass to stderr"
expect 0 opt net.ir --dump-after=fold_batchnorm
err_has "// after fold_batchnorm"
grep -q 'after fuse_bias' err && wrong "another pass is dumped"
ok

claim "--timing tells the stages, the passes and the memory"
expect 0 opt net.ir --timing
for w in read fold_batchnorm total "peak memory"; do err_has "$w"; done
ok

claim "run writes every output, in order"
expect 0 run two.ir --random-input=1 --output=deep/er
silent
there deep/er/out_0.npy deep/er/out_1.npy
absent deep/er/out_2.npy
ok

claim "inputs are given by name or in order"
expect 0 run shapes.ir --random-input=1 --output a
expect 0 run shapes.ir --random-input=2 --output b
expect 0 run two.ir --input a/out_0.npy --input b/out_0.npy --output ab
expect 0 run two.ir --input b=b/out_0.npy --input a/out_0.npy --output ba
same ab/out_0.npy ba/out_0.npy
same ab/out_1.npy a/out_0.npy
ok

claim "an input without data is named, and nothing is written"
expect 2 run two.ir --input b=b/out_0.npy --output none
err_is "tessera: error: input 'a' (f32 2x3) has no data: give --input a=F.npy or --random-input=SEED"
expect 2 run two.ir --input c=b/out_0.npy --random-input=1 --output none
expect 1 run two.ir --input a=ab/out_0.npy --input b=missing.npy --output none
err_is "missing.npy: error: cannot read: No such file or directory"
expect 1 run two.ir --input a=o1/out_0.npy --input b=b/out_0.npy --output none
err_has 'wants f32[2x3], got f32[1x4x6x6]'
absent none
ok

claim "outputs that cannot be written leave nothing"
echo text >file
expect 1 run two.ir --random-input=1 --output file/in
err_has "file/in: error: cannot make the folder"
mkdir taken taken/out_1.npy
expect 1 run two.ir --random-input=1 --output taken
[ "$(ls taken)" = out_1.npy ] || wrong "left behind: $(ls taken)"
mkdir blocked.ir
expect 1 opt net.ir -o blocked.ir
absent blocked.safetensors blocked.ir.*
ok

claim "the number of threads does not change the result"
expect 0 run net.ir --random-input=3 --threads=1 --output t1
expect 0 run net.ir --random-input=3 --threads 3 --output t3
same t1/out_0.npy t3/out_0.npy
ok

claim "more work than --max-macs exits with 5"
expect 5 run net.ir --random-input=1 --max-macs=2591 --output none
err_is "net.ir: error: needs 2592 multiply-accumulates, --max-macs allows 2591"
absent none
expect 0 run net.ir --random-input=1 --max-macs=2592 --output some
expect 5 verify net.ir --random-input=1 --max-macs=2591
expect 5 run net.ir --random-input=1 --max-macs=2591 --output none --device=emu
ok

claim "verify compares the outputs with expected ones"
expect 0 run net.ir --random-input=3 --passes= --output expected
expect 0 verify net.ir --random-input=3 --expect expected/out_0.npy
out_has "out_0 'y' 1x4x6x6: pcc 1.000000000, max error "
out_has "of the range: ok"
expect 0 verify net.ir --random-input=3 --expect y=expected/out_0.npy --min-pcc=0.9999 --max-err=1e-5
expect 1 verify net.ir --random-input=4 --expect expected/out_0.npy
out_has "of the range: FAILED"
expect 1 verify net.ir --random-input=4 --expect expected/out_0.npy --min-pcc=0.999
expect 0 verify net.ir --random-input=4 --expect expected/out_0.npy --max-err=1e9
expect 1 verify net.ir --random-input=3 --expect ab/out_0.npy
out_has "the expected shape is 2x3: FAILED"
expect 2 verify net.ir --random-input=3 --expect q=expected/out_0.npy
err_is "tessera: error: '--expect q=expected/out_0.npy': the model has no such output, only 'y'"
ok

claim "verify says which outputs it does not compare"
expect 0 verify two.ir --input a/out_0.npy --input b/out_0.npy --expect z=a/out_0.npy
out_has "out_0 'y' 2x3: not compared"
out_has "out_1 'z' 2x3: pcc 1.000000000"
ok

claim "--const makes a constant of an input"
expect 0 run two.ir --input a/out_0.npy --const b=b/out_0.npy --output const
same ab/out_0.npy const/out_0.npy
expect 0 opt two.ir --const b=b/out_0.npy
grep -q '%b = constant \[' out || wrong "b is no constant"
expect 1 opt two.ir --const c=b/out_0.npy
err_is "two.ir: error: --const: no input 'c'"
expect 1 opt two.ir --const b=o1/out_0.npy
err_has "error: input is f32[2,3], --const gives f32[1,4,6,6]"
ok

claim "--random-weights stands in for weights that are not there, --no-weights says nothing"
expect 0 run deep.ir --passes= --random-weights=1 --random-input=3 --output r1
silent
expect 0 run deep.ir --passes= --random-weights=1 --random-input=3 --output r2
expect 0 run deep.ir --passes= --random-weights=2 --random-input=3 --output r3
same r1/out_0.npy r2/out_0.npy
cmp -s r1/out_0.npy r3/out_0.npy && wrong "the seed does not matter"
expect 0 opt deep.ir --no-weights
silent
ok

claim "verify without --expect compares the passes with the model"
expect 0 verify net.ir --random-input=5
out_has "of the range: ok"
ok

claim "check lists every op a device cannot run and exits with 3"
expect 0 check net.ir
out_has "all 1 ops can run on wormhole_n150"
expect 0 check net.ir --target=wormhole_n300
out_has "can run on wormhole_n300"
expect 2 check net.ir --target=warmhole
expect 3 check reference.ir
out_has "'s' (softplus): reference-only"
out_has "'l' (log_softmax): reference-only"
out_has "'c' (conv): weights are not constant"
out_has "3 of 3 ops cannot run on wormhole_n150"
grep -q "'r'" out && wrong "the relu is listed"
ok

claim "convert writes NNEF that gives the same result, with or without passes"
expect 2 convert net.ir
err_is "tessera: error: 'convert' wants -o DIR"
expect 0 convert net.ir -o flat
silent
there flat/graph.nnef
grep -q batch_normalization flat/graph.nnef || wrong "passes have run"
expect 0 verify flat --random-input=3 --expect expected/out_0.npy
expect 0 convert net.ir -o folded --passes=fold_batchnorm
grep -q batch_normalization folded/graph.nnef && wrong "the pass has not run"
expect 0 verify folded --random-input=3 --expect expected/out_0.npy
expect 1 convert no-such.ir -o none
expect 1 convert net.ir -o file/in
absent none
ok

claim "output that does not arrive is an error"
"$tessera" ops >/dev/full 2>err && wrong "exit 0 on a full disk"
err_has "cannot write standard output: No space left on device"
"$tessera" ops >&- 2>err && wrong "exit 0 without a standard output"
err_has "cannot write standard output"
"$tessera" opt net.ir >&- 2>err && wrong "exit 0 without a standard output"
ok

claim "compile writes a package that info reads and run and verify take"
expect 0 compile net.ir -o net.ttb
silent
expect 0 info net.ttb
out_has "target    wormhole_n150"
out_has "conv c"
out_has "output    y : f32[1,4,6,6]"
expect 0 run net.ir --random-input=1 --output exact
expect 0 run net.ttb --random-input=1 --output here
there here/out_0.npy
expect 0 verify net.ttb --random-input=1 --expect exact/out_0.npy --min-pcc=0.999
ok

claim "the stages before the package are text"
expect 0 compile net.ir --emit=plan
out_has "op c conv "
expect 0 compile net.ir --emit=program
out_has 'program "net" target wormhole_n150'
expect 2 compile net.ir --emit=plam
err_has "did you mean 'plan'?"
ok

claim "an object comes with its header, or not at all"
expect 0 compile net.ir --emit=object -o net.o
there net.o net.h
expect 2 compile net.ir --emit=object -o net.obj
mkdir half.o
expect 1 compile net.ir --emit=object -o half.o
absent half.h
ok

claim "a package for a smaller grid runs, whatever its name and the rank of its output"
printf '%%x = input : f32[1,1,8,8]\n%%r = relu %%x : f32[1,1,8,8]\n%%f = reshape %%r {shape = [64]} : f32[64]\n%%y = output %%f : f32[64]\n' >flat.ir
expect 0 verify flat.ir --random-input=1 --device=emu --threads=1 --target=wormhole_n300
printf 'inherit = wormhole_n150\ngrid_rows = 1\n' >my-chip.ini
expect 0 compile flat.ir --target=./my-chip.ini -o my.ttb
expect 0 info my.ttb
out_has "target    my-chip"
ok

claim "what cannot be planned exits with 3 and leaves nothing behind"
printf '%%x = input : f32[1,3,8,8]\n%%t = softplus %%x : f32[1,3,8,8]\n%%y = output %%t : f32[1,3,8,8]\n' >softplus.ir
expect 3 compile softplus.ir -o softplus.ttb
err_has "softplus 't': this op has no device routine yet"
absent softplus.ttb
ok

claim "a damaged package is refused"
head -c 3000 net.ttb >cut.ttb
expect 1 info cut.ttb
err_has "cut.ttb: error: the package says"
expect 1 run cut.ttb --random-input=1 --output none
tr 'T' 'U' <net.ttb >other.ttb
expect 1 info other.ttb
absent none
ok

claim "a device that is not there is an error of the command line"
for o in device=ttsim:/no/such/lib.so device=card:77 device=emu:quantum=x device=ref threads=9 target=wormhole_n150; do
	expect 2 run net.ttb --random-input=1 --output none --$o
done
expect 2 verify net.ttb --random-input=1
absent none
ok

claim "a failed assertion exits with 4"
printf '%%x = input : f32[1,512,64,64]\n%%w = constant splat 0.5 : f32[512,512,3,3]\n%%c = conv %%x, %%w {pads = [1,1,1,1], strides = [1,1], dilations = [1,1]} : f32[1,512,64,64]\n%%y = output %%c : f32[1,512,64,64]\n' >slow.ir
"$tessera" run slow.ir --random-input=1 --output none --timing 2>err &
pid=$!
while ! grep -q passes err; do
	kill -0 $pid 2>/dev/null || break
	sleep 0.1
done
kill -ABRT $pid
wait $pid
[ $? = 4 ] || wrong "another exit status"
absent none
ok

claim "too little memory exits with 4"
if [ "$sanitized" = sanitized ]; then
	echo "skipped: a sanitizer needs all addresses"
else
	printf '%%x = input : f32[1024,1024,1024]\n%%y = output %%x : f32[1024,1024,1024]\n' >big.ir
	(ulimit -v 2000000; "$tessera" run big.ir --random-input=1 --output none 2>err)
	[ $? = 4 ] || wrong "another exit status"
	err_has "out of memory"
	absent none
	ok
fi

end_claims
