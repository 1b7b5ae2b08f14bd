#!/bin/sh
# The models of this folder, what they give, and the table they were fitted on. Made once with the program of
# 0.1.0 (commit de24914); a newer program writes another format, so it is not to be run again with one.
#
#     sh make.sh PROGRAM
set -eu
program=$1
awk 'BEGIN {
    split("oslo lima rome", city); split("red blue", colour); s = 12345
    print "age,city,colour,dose,group,yield,weight"
    for (i = 0; i < 48; i++) {
        for (k = 1; k <= 4; k++) { s = (s * 16807) % 2147483647; u[k] = s / 2147483647 }
        c = 1 + int(3 * u[3]); d = 1 + int(2 * u[4]); a = 20 + 60 * u[1]; e = 4 * u[2] - 2
        t = sin(e) + (c == 2) - (a - 50) / 40
        printf "%.1f,%s,%s,%.3f,%s,%.3f,%.2f\n", a, city[c], colour[d], e,
            (t > 0.6 ? "well" : t < -0.4 ? "ill" : "fair"), 10 * t + d, 60 + 5 * e * (d == 1)
    }
}' > rows.csv
fit() { # NAME OPTIONS..
    name=$1
    shift
    "$program" fit rows.csv --quiet --seed 7 --threads 1 --out "$name.model" "$@"
    "$program" transform "$name.model" rows.csv --out "$name.z.csv"
}
fit stonet-classes --target group --dim 2 --set hidden=5 --set epochs=40 --set activation=sigmoid \
    --set input_activation=tanh --set integrator=euler --set start=forward --set lr=0.5 --set weight_decay=0.0001
fit stonet-numbers --target yield,weight --dim 2 --set hidden=6 --set epochs=50 --set output=refit
fit nnsdr --target group --dim 2 --method nnsdr --set hidden=8 --set epochs=20 --set refine=10 --set rate=0.01
fit autoencoder-mlp --target yield --dim 2 --method autoencoder --set epochs=20 --set rate=0.01 \
    --learner mlp --set learner.hidden=6,4 --set learner.epochs=40
fit pca-mlp --target group --dim 3 --method pca --learner mlp --set learner.hidden=5 --set learner.epochs=30
fit sir --target yield --dim 1 --method sir
fit gsir --target group --dim 2 --method gsir
for name in stonet-classes nnsdr pca-mlp gsir; do
    "$program" predict "$name.model" rows.csv --proba --out "$name.prediction.csv"
done
for name in stonet-numbers autoencoder-mlp sir; do
    "$program" predict "$name.model" rows.csv --out "$name.prediction.csv"
done
