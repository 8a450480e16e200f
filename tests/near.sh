#!/bin/sh
# near.sh TESSERA MODEL LEAST OPTION...: a model with random weights, planned such that it
# correlates by LEAST and is off by a twentieth of the range at most, comes as near when its
# plan is run.
tessera=$1
model=$2
least=$3
shift 3
plan=$(mktemp)
trap 'rm -f "$plan"' EXIT
set -- --random-weights=1 --max-err=0.05 --min-pcc="$least" "$@"
"$tessera" plan "$model" "$@" -o "$plan" || exit 1
"$tessera" verify "$model" "$@" --random-input=1 --device=emu --plan "$plan"
