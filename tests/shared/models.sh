#!/bin/sh
# models.sh TESSERA CASES MODEL...: each on the emulator, bit for bit as a device
# computes, against what ONNX Runtime made of it: as it is planned, and with weights in bf16.
tessera=$1
cases=$2
shift 2
failed=0

near() { # near MODEL LEAST OPTION...
	golden=$cases/golden/$1
	model=$cases/models/$1.onnx
	least=$2
	shift 2
	for f in $(ls "$golden"/in_*.npy | sort -V); do set -- "$@" --input "$f"; done
	for f in $(ls "$golden"/out_*.npy | sort -V); do set -- "$@" --expect "$f"; done
	"$tessera" verify "$model" "$@" --device=emu --min-pcc="$least" --max-err=0.05 || failed=1
}

for name; do
	near "$name" 0.999
	near "$name" 0.9995 --weight-dtype=bf16
done
exit $failed
