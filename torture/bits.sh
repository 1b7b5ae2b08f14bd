#!/bin/sh
# What the bits of a result depend on: torture/bits.sh PROGRAM. For each method, fitted on the same 200 rows with the same
# seed, whether the model file is the same (=) under each change, or how far the predictions (of y with variance 1) move.
set -eu
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMP_WAIT_POLICY=passive
awk 'BEGIN {srand(1); print "a,b,c,d,y"; for (i = 0; i < 200; i++) {a = rand(); b = rand(); c = rand(); d = rand();
  print a "," b "," c "," d "," 2 * a + 4 * b * b + c / 9 + rand() / 4}}' > t.csv

# fit NAME METHOD, in the environment given: the model NAME and its predictions NAME.csv
fit() {
    extra=
    case $2 in stonet) extra='--set hidden=16 --set epochs=20';; nnsdr|autoencoder|benn|gmddnet) extra='--set epochs=20';; esac
    # shellcheck disable=SC2086
    "$program" fit t.csv --target y --method "$2" --dim 1 --quiet --out "$1" $extra 2> err || { cat err; exit 1; }
    "$program" predict "$1" t.csv > "$1.csv"
}
difference() {
    if cmp -s base "$1"; then printf ' %9s' =; return; fi
    paste -d, base.csv "$1.csv" | awk -F, 'NR > 1 {d = $1 - $2; if (d < 0) d = -d; if (d > m) m = d} END {printf " %9.0e", m}'
}
printf '%-12s %9s %9s %9s %9s %9s\n' method threads avx2 portable Haswell Nehalem
for method in $("$program" methods | awk 'NR > 2 && NF == 0 {exit} NR > 2 && /^[a-z]/ {print $1}'); do
    OMP_NUM_THREADS=1 fit base "$method"
    printf '%-12s' "$method"
    OMP_NUM_THREADS=2 fit other "$method"; difference other
    STONET_CPU=avx2 fit other "$method"; difference other
    STONET_CPU=portable fit other "$method"; difference other
    OPENBLAS_CORETYPE=Haswell fit other "$method"; difference other
    OPENBLAS_CORETYPE=Nehalem fit other "$method"; difference other
    printf '\n'
done
