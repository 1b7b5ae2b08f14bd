#!/usr/bin/env bash
# Held-out errors of methods on designs whose reduction is linear at the q that is fitted, and on designs whose is not.
# usage: links.sh STONET [SEED]: a Markdown table; the last two columns are sir and mave with a plain learner on Z.
set -euo pipefail
stonet=$1 seed=${2:-1}
methods=none,pca,sir,dr,mave,gsir,stonet
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# The mean error of each method, in the order they were named.
errors() {
    "$stonet" compare "$work/data.csv" --target y --dim "$2" --threads 1 --seed "$seed" --quiet --csv "${@:3}" \
        --methods "$1" --out "$work/out.csv"
    python3 -c '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
print(" | ".join("%.3f (%s)" % (float(r["mean"]), (r["learner"] or "own")[:1]) if r["mean"] else "-" for r in rows))' "$work/out.csv"
}

echo "| design, q | ${methods//,/ | } | sir, plain | mave, plain |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
while read -r design q plain; do
    "$stonet" generate "$design" --rows 600 --seed "$seed" --out "$work/data.csv" > /dev/null
    echo "| $design, $q | $(errors "$methods" "$q") | $(errors sir,mave "$q" --learner "$plain") |"
done << 'LIST'
m1 1 linear
ratio 2 linear
sigmoid 2 linear
mean-ratio:20 2 linear
mean-square:20 2 linear
wide:20 1 linear
radial 1 linear
friedman 1 linear
mean-log:20 1 linear
waveform 1 logistic
ring 1 logistic
select-classes:20 1 logistic
LIST
