#!/usr/bin/env bash
# bits.sh HERE THERE..: fits with the program HERE and with another one (a command of several words: qemu and a program), the same
# rows and the same seed, and prints for each method the largest difference of the predictions, of y with variance 1.
set -euo pipefail
here=$(realpath "$1")
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export OMP_NUM_THREADS=1
awk 'BEGIN {srand(1); print "a,b,c,d,y"; for (i = 0; i < 200; i++) {a = rand(); b = rand(); c = rand(); d = rand();
  print a "," b "," c "," d "," 2 * a + 4 * b * b + c / 9 + rand() / 4}}' > t.csv
for method in pca sir save dr phd opg gsir gkdr stonet nnsdr; do
    extra=()
    case $method in
    stonet) extra=(--set hidden=16 --set epochs=20 --set weight_decay=0.01 --set front=none) ;;
    nnsdr) extra=(--set epochs=5 --set refine=5) ;;
    esac
    "$here" fit t.csv --target y --method $method --dim 1 --quiet "${extra[@]}" --out here.model
    "$@" fit t.csv --target y --method $method --dim 1 --quiet "${extra[@]}" --out there.model
    "$here" predict here.model t.csv > here.csv
    "$@" predict there.model t.csv > there.csv
    # the model that was fitted there, used here
    "$here" predict there.model t.csv > moved.csv
    paste -d, here.csv there.csv moved.csv | awk -F, -v method=$method 'NR > 1 {d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d
        e = $3 - $2; if (e < 0) e = -e; if (e > moved) moved = e; s += $1; ss += $1 * $1; n++}
        END {sd = sqrt(ss / n - (s / n) ^ 2); printf "%-8s fitted there: %.1e   fitted there, used here: %.1e\n", method, most / sd, moved / sd}'
done
