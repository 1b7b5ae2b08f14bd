#!/bin/sh
# The models of this folder, what they give, and the table they were fitted on. Made once with the program of
# 0.2.0 (commit d74fee4), whose default fits could end in what a newer program does not fit any more: the mean
# of a network and kernel regression (blend), and kernel regression (kernel).
#
#     sh make.sh PROGRAM
set -eu
program=$1
awk 'BEGIN {
    s = 7920; print "a,b,y"
    for (i = 0; i < 60; i++) {
        for (k = 1; k <= 3; k++) { s = (s * 16807) % 2147483647; u[k] = 4 * s / 2147483647 - 2 }
        printf "%.3f,%.3f,%.3f\n", u[1], u[2], sin(2 * u[1]) + 0.5 * u[1] * u[2] + 0.3 * u[3]
    }
}' > rows.csv
fit() { # NAME OPTIONS..
    name=$1
    shift
    "$program" fit rows.csv --quiet --seed 7 --threads 1 --out "$name.model" "$@"
    "$program" transform "$name.model" rows.csv --out "$name.z.csv"
    "$program" predict "$name.model" rows.csv --out "$name.prediction.csv"
}
fit blend --target y --dim 1
fit kernel --target y --dim 2 --set front=kernel --set weight_decay=0.1
