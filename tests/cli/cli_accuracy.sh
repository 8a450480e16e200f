#!/bin/sh
# cli_accuracy.sh TESSERA: --min-pcc, --max-err and --calibrate of compile and plan. Each
# claim is printed.
models=$(realpath "$(dirname "$0")/../../models")
. "$(dirname "$0")/cli_claims.sh"

cat >small.nnef <<'END'
version 1.0;
extension KHR_enable_fragment_definitions;
extension TS_scoped_variables;
fragment layer(x: tensor<scalar>, channels: integer) -> (y: tensor<scalar>)
{
    filter = variable(shape = [channels, ?, 3, 3], label = 'filter');
    conv = conv(x, filter);
    y = relu(conv);
}
graph small(x) -> (y)
{
    x = external(shape = [1, 16, 16, 32]);
    a = layer(x, 32);
    b = layer(a, 32);
    c = layer(b, 32);
    d = layer(c, 32);
    filter = variable(shape = [16, ?, 1, 1], label = 'head');
    y = conv(d, filter);
}
END
net="small.nnef --random-weights=1 --objective=greedy"

claim "what is near enough stays as it was planned"
expect 0 plan $net -o plain.plan
expect 0 plan $net --min-pcc=0.99 -o near.plan
err_has "on a random input, nothing had to be raised"
same plain.plan near.plan
ok

claim "what is not is raised, told, pinned, and then as near as was asked for"
expect 0 compile $net -o plain.ttb
expect 0 compile $net --min-pcc=0.99995 -o exact.ttb
err_has "small.nnef: note: pcc 0.9999"
err_has "note: raised op "
err_has " weights=bf16 (was bfp8_b)"
expect 0 run small.nnef --random-weights=1 --random-input=1 --output ref
expect 1 verify plain.ttb --random-input=1 --expect ref/out_0.npy --min-pcc=0.99995
expect 0 verify exact.ttb --random-input=1 --expect ref/out_0.npy --min-pcc=0.99995
ok

claim "who verifies is told what raises accuracy, once, and only if that may help"
expect 1 verify $net --random-input=1 --device=emu --min-pcc=0.99995 --max-err=0.006
err_is "small.nnef: note: formats may be too narrow: 'compile --min-pcc=0.99995 --max-err=0.006' raises those that matter, --weight-dtype=bf16 those of all weights, --act-dtype=bf16 those of all tensors"
expect 1 verify plain.ttb --random-input=1 --expect ref/out_0.npy --max-err=0.006
err_has "plain.ttb: note: formats may be too narrow: 'compile --max-err=0.006' raises"
expect 1 verify $net --random-input=1 --device=emu --min-pcc=0.99999 --weight-dtype=bf16 --act-dtype=bf16
err_is "small.nnef: note: formats may be too narrow: 'compile --min-pcc=0.99999' raises those that matter"
expect 0 verify $net --random-input=1 --device=emu
silent
expect 1 verify $net --random-input=2 --device=emu --expect ref/out_0.npy
silent
expect 1 verify small.nnef --random-weights=1 --random-input=2 --expect ref/out_0.npy
silent
expect 1 verify $net --random-input=1 --device=emu --min-pcc=0.99995 --plan plain.plan --whole-plan
silent
ok

claim "a greatest error is a limit too, alone"
expect 0 compile $net --max-err=0.006 -o exact.ttb
err_has "max error 0.00"
err_has "of the range before "
expect 1 verify plain.ttb --random-input=1 --expect ref/out_0.npy --max-err=0.006
expect 0 verify exact.ttb --random-input=1 --expect ref/out_0.npy --max-err=0.006
ok

claim "and with a correlation, whichever of the two is missed"
expect 0 compile $net --min-pcc=0.9 --max-err=0.006 -o both.ttb
same both.ttb exact.ttb
expect 0 compile $net --min-pcc=0.99995 --max-err=0.5 -o both.ttb
expect 0 verify both.ttb --random-input=1 --expect ref/out_0.npy --min-pcc=0.99995 --max-err=0.5
expect 3 compile $net --min-pcc=0.9 --max-err=0.000001 -o never.ttb
err_has "small.nnef: error: --min-pcc=0.9 --max-err=0.000001: pcc 0.9999"
err_has "of the range at output 'y' is the nearest that was reached, with all raised that can be"
absent never.ttb
ok

claim "a limit of the greatest error raises to three phases, which lose hardly any sum"
expect 0 plan $net --min-pcc=0.9999965 -o four.plan
grep -q "^op b.conv .*fidelity=hifi4!" four.plan || wrong "no fourth phase for a correlation"
expect 0 plan $net --max-err=0.0015 -o three.plan
grep -q "^op b.conv .*fidelity=hifi3!" three.plan || wrong "not three phases"
ok

claim "a plan has pins for all that was raised, and is as near by itself"
expect 0 plan $net --min-pcc=0.99993 -o raised.plan
err_has "raised op b.conv weights=bf16 (was bfp8_b)"
grep -q "^op b.conv .*weights=bf16!" raised.plan || wrong "no pin"
expect 1 verify $net --random-input=1 --device=emu --min-pcc=0.99993
expect 0 verify $net --random-input=1 --device=emu --min-pcc=0.99993 --plan raised.plan
ok

claim "what a round raised too much is given back"
while read -r name limit; do
	some="$models/$name.nnef --random-weights=1"
	expect 0 plan $some $limit -o some.plan
	grep "given back" err >>given
	expect 0 verify $some --random-input=1 --device=emu $limit --plan some.plan
done <<-END
	tiny_unet --min-pcc=0.99985
	tiny_unet --max-err=0.03
	resnet_block --min-pcc=0.9999
END
[ -s given ] || wrong "nothing ever was"
ok

claim "formats for the whole net are obeyed, and hold against --min-pcc"
formats() { # formats OPTION...: "TENSORS WEIGHTS" of the summary
	"$tessera" plan $net "$@" -o formats.plan --summary 2>&1 | sed -n 's/^ *weights *bf16 \([0-9]*\) bytes, bfp8_b \([0-9]*\), f32 \([0-9]*\);.*/weights \1 \2 \3/p
s/^ *tensors *bf16 \([0-9]*\), bfp8_b \([0-9]*\),.*/tensors \1 \2/p' | tr '\n' ' '
}
has() { case "$(formats $1)" in $2) ;; *) wrong "$1: $(formats $1)" ;; esac; }
has "--weight-dtype=bf16" "weights [1-9]* 0 0 tensors *"
has "--weight-dtype=bfp8_b" "weights 0 [1-9]* 0 tensors *"
has "--weight-dtype=f32" "weights 0 0 [1-9]* tensors *"
has "--act-dtype=bf16" "* tensors 5 0 "
has "--act-dtype=bfp8_b" "* tensors 1 4 "
has "--act-dtype=bf16 --weight-dtype=bf16" "weights [1-9]* 0 0 tensors 5 0 "
expect 3 plan $net --weight-dtype=bfp8_b --min-pcc=0.99995
grep -q "weights=bf16" err && wrong "weights were raised"
expect 0 plan $net --print-effective-config --act-dtype=bf16
out_has "act-dtype"
expect 2 plan $net --act-dtype=fp32
err_has "'--act-dtype': no type 'fp32', only bf16, bfp8_b and f32"
expect 2 verify small.nnef --random-weights=1 --random-input=1 --weight-dtype=bf16
err_has "'--weight-dtype': only a device (--device=emu) has a plan"
ok

claim "what is pinned is not raised"
expect 3 plan $net --pin 'op b.conv fidelity=lofi' --min-pcc=0.9999
err_has "is the nearest that was reached, with all raised that can be"
ok

claim "what cannot be reached ends with 3, leaves nothing and says what was"
expect 3 compile $net --min-pcc=1 -o never.ttb
err_has "small.nnef: error: --min-pcc=1: pcc 0.9999"
absent never.ttb
ok

# All weights of b at once: 600 KB in bfp8_b.
cat >wide.nnef <<'END'
version 1.0;
graph wide(x) -> (y)
{
    x = external(shape = [1, 64, 8, 32]);
    f = variable(shape = [256, 64, 3, 3], label = 'f');
    g = variable(shape = [256, 256, 3, 3], label = 'g');
    h = variable(shape = [16, 256, 1, 1], label = 'h');
    a = conv(x, f);
    b = conv(a, g);
    y = conv(b, h);
}
END
wide="wide.nnef --random-weights=1 --objective=greedy --cores=1 --min-pcc=0.99999"

claim "what there is no room for is not raised"
expect 0 plan $wide
expect 3 plan $wide --pin 'op b weights_buffer=all k_block=0' --l1=1000000
err_has "is the nearest that was reached, with all raised that can be"
err_has "note: 1 more could be with more L1"
ok

claim "the sample may be given"
expect 0 plan $net --min-pcc=0.99 --calibrate ref/out_0.npy
err_has "on the input of --calibrate, nothing had to be raised"
expect 0 plan $net --min-pcc=0.99 --calibrate x=ref/out_0.npy
ok

claim "and is judged as other inputs are"
expect 2 plan $net --calibrate ref/out_0.npy
err_is "tessera: error: '--calibrate' is for --min-pcc and --max-err, and neither is given"
expect 0 plan $net --max-err=0.1 --calibrate ref/out_0.npy
expect 2 plan $net --max-err=-0.1
err_is "tessera: error: '--max-err' wants a number that is not negative, not '-0.1'"
expect 2 verify $net --random-input=1 --device=emu --min-pcc=1.5
err_has "'--min-pcc': a correlation is at most 1, not 1.5"
expect 2 plan $net --min-pcc=1.5
err_is "tessera: error: '--min-pcc': a correlation is at most 1, not 1.5"
expect 2 plan $net --min-pcc=0.9 --calibrate z=ref/out_0.npy
err_has "the model has no such input, only 'x'"
expect 0 run net.ir --random-input=1 --output other
expect 1 plan $net --min-pcc=0.9 --calibrate other/out_0.npy
err_has 'input: "x" wants f32[1x16x16x32], got f32[1x4x6x6]'
ok

end_claims
