#!/usr/bin/env bash
# valgrind.sh PROGRAM: some commands under valgrind, which sees what is used before it has a value, also in the libraries below ours,
# and what leaks. (The memory sanitizer would need those libraries built for it: every number that comes out of a BLAS without it
# counts as one that was never set.)
set -euo pipefail
program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# It knows no AVX-512. A thread of OpenMP's keeps its blocks to the end.
export STONET_CPU=avx2 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
awk 'BEGIN {srand(1); print "a,b,c,y,w,label"; for (i = 0; i < 60; i++) {a = rand(); b = rand(); c = rand();
    print a "," b "," c "," a + b * b + c / 9 "," (i % 3 ? "u" : "v") "," (a > b ? "hi" : "lo")}}' > all.csv
cut -d, -f1-4 all.csv > num.csv
cut -d, -f1-3,5,6 all.csv > lab.csv
gzip -k num.csv
number=0
look() {
    number=$((number + 1))
    valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite "$program" "$@" > out 2> err ||
        { echo "valgrind: stonet $*"; head -n 60 err; exit 1; }
}
net=(--set hidden=3 --set epochs=2)
look fit num.csv --target y --dim 1 "${net[@]}" --out net.model
look fit lab.csv --target label --dim 1 --learner logistic "${net[@]}" --out lab.model
for method in $("$program" methods | awk 'NR > 2 && NF == 0 {exit} NR > 2 && /^[a-z]/ {print $1}'); do
    case $method in
    stonet) continue ;;
    nnsdr | autoencoder | gmddnet) more=(--set epochs=2) ;;
    benn) more=(--set epochs=2 --set units=20 --set transforms=10) ;;
    kdr | cve) more=(--set iterations=2) ;;
    lsmie) more=(--set iterations=2 --set restarts=1 --set landmarks=10) ;;
    *) more=() ;;
    esac
    look fit num.csv --target y --method "$method" --dim 1 "${more[@]}" --out "$method.model"
done
look transform net.model num.csv.gz --out z.npy
look transform net.model num.csv --draws 2 --out z.csv.gz
look predict lab.model lab.csv --proba
look score sir.model num.csv --target y --sufficiency
look info lab.model --json
look export lab.model --format onnx
look tune num.csv --target y --dim 1 --method sir --grid slices=2,4 --folds 2 --best best.json
look compare num.csv --target y --dim 1 --methods sir,gsir --folds 2
look order num.csv --target y --method sir --resamples 3
look importance net.model num.csv --target y --repeats 2
look independence num.csv --x a --y y --given b,c
echo "valgrind: $number commands, no error"
