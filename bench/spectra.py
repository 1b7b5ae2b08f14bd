#!/usr/bin/env python3
"""Calibrations of spectra: StoNet and `pls`, with and without curves=auto, beside PLS and ridge regression.

    python3 bench/spectra.py FOLDER [--program build/bin/stonet] [--splits 1-20] [--jobs 1] [--sets NAME,..] [--methods NAME,..]

FOLDER has one CSV file a set: the channels in order, the response last. Debian's r-cran-caret has tecator, r-cran-pls gasoline
and yarn, r-cran-kohonen nir. These lines of R write them:

    save <- function(set, x, axis, y) write.csv(setNames(data.frame(unclass(as.matrix(x)), y), c(axis, "y")),
                                                file.path("FOLDER", paste0(set, ".csv")), row.names = FALSE, quote = FALSE)
    data(tecator, package = "caret"); data(gasoline, yarn, package = "pls"); data(nir, package = "kohonen")
    for (k in 1:3) save(c("tecator-water", "tecator-fat", "tecator-protein")[k], absorp, seq(850, 1048, 2), endpoints[, k])
    save("gasoline", gasoline$NIR, seq(900, 1700, 2), gasoline$octane); save("yarn", yarn$NIR, 1:268, yarn$density)
    save("nir", nir$spectra, 1:200, nir$composition[, "ethanol"])

A method is PLS, PLS-prepared, ridge, or one of the program as METHOD:DIM:SETTING=VALUE:..: stonet:1:curves=auto. With tune in the place
of DIM or VALUE, `stonet tune` chooses. A split
holds out a quarter of the rows at random; of tecator, of rows 1 to 172. Split 0 is tecator's published one, rows 173 to 215.
Printed are root mean square errors on the held-out rows, one line a split, then means and standard errors. All is chosen on
the other rows: PLS and ridge regression by ten parts, PLS-prepared also one of the ways to prepare a row, curves=held-out the way
with the least held-out loss of the fit. smooth=PENALTY and splines=COUNT change the channels before the program sees them: by the
filter (1 + penalty of second differences)^-1/2, or by means of neighbours. Needs NumPy, SciPy, pandas and scikit-learn.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import tempfile

import numpy as np
import pandas as pd
from scipy.signal import savgol_filter
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import KFold

WAYS = ("none", "snv", "centre", "derivative1", "derivative2", "detrend", "snv-derivative1", "snv-derivative2")


def prepare(way, x):
    """The rows as curves=WAY prepares them (src/data/curves.h)."""
    m = x.shape[1]
    spread = x.std(axis=1, keepdims=True)
    window = max(5, m // 15 // 2 * 2 + 1)
    if way.endswith(("1", "2")):
        made = savgol_filter(x, window, 2, deriv=int(way[-1]), axis=1, mode="interp")
    elif way == "detrend":
        base = np.linalg.qr(np.vander(np.linspace(-1, 1, m), 3))[0]
        made = x - x @ base @ base.T
    else:
        made = x if way == "none" else x - x.mean(axis=1, keepdims=True)
    return made / spread if way.startswith(("snv", "detrend")) else made


def pls_all(x, y, new):
    """Predictions with 1, 2, .. components, one column each, from one fit."""
    most = min(20, len(y) // 2, x.shape[1])
    fit = PLSRegression(most, scale=False, max_iter=10000).fit(x, y)
    return y.mean() + np.cumsum((new - x.mean(axis=0)) @ fit.x_rotations_ * np.ravel(fit.y_loadings_), axis=1)


def ridge_all(x, y, new):
    """Predictions with 17 penalties, one column each."""
    u, d, v = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
    along = u.T @ (y - y.mean())
    shrunk = [along * d / (d**2 + d[0] ** 2 * 10.0 ** (-k / 2)) for k in range(17)]
    return y.mean() + (new - x.mean(axis=0)) @ v.T @ np.transpose(shrunk)


def least(fit_all, x, y):
    """The least squared error over ten parts, and the column that has it."""
    total = 0
    for train, test in KFold(10, shuffle=True, random_state=1).split(x):
        made = fit_all(x[train], y[train], x[test])
        errors = ((made - y[test, None]) ** 2).sum(axis=0)
        total = total + errors if np.isscalar(total) else total[: len(errors)] + errors[: len(total)]
    return total.min(), int(total.argmin())


def by_parts(fit_all, ways=("none",)):
    def predict(train, test):
        y = train[:, -1]
        (_, column), way = min((least(fit_all, prepare(way, train[:, :-1]), y), way) for way in ways)
        return fit_all(prepare(way, train[:, :-1]), y, prepare(way, test[:, :-1]))[:, column]
    return predict


def run(program, train, test, options, grid):
    """Predictions of `stonet fit` with these options, and the held-out loss that the fit measured. With a grid, `stonet tune`
    chooses on the training rows first."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("train.csv", "test.csv", "model", "predicted.csv")]
        names = [f"c{k}" for k in range(train.shape[1] - 1)] + ["y"]
        for path, rows in zip(paths, (train, test)):
            pd.DataFrame(rows, columns=names).to_csv(path, index=False)
        common = [paths[0], "--target", "y", "--threads", "1", "--quiet", "--out", paths[2], *options]
        if grid:
            best = ["--config", os.path.join(folder, "best.json")]
            subprocess.run([program, "tune", *common, "--best", best[1], *(word for one in grid for word in ("--grid", one))],
                           check=True)
            common = common[:8] + best
        subprocess.run([program, "fit", *common], check=True)
        subprocess.run([program, "predict", paths[2], paths[1], "--out", paths[3], "--quiet"], check=True)
        told = subprocess.run([program, "info", paths[2], "--json"], check=True, capture_output=True).stdout
        return pd.read_csv(paths[3]).iloc[:, 0].to_numpy(), json.loads(told).get("fitted", {}).get("held_out_loss")


def through(x, how):
    """Channels through a filter of that penalty, or so many splines, means of neighbours weighted by hats."""
    m, (kind, size) = x.shape[1], how.split("=")
    if kind == "splines":
        at = np.linspace(0, int(size) - 1, m)
        hats = np.maximum(0, 1 - np.abs(at[:, None] - np.arange(int(size))))
        return x @ (hats / hats.sum(axis=0))
    second = np.diff(np.eye(m), 2, axis=0)
    values, vectors = np.linalg.eigh(np.eye(m) + float(size) * second.T @ second)
    return x @ (vectors / np.sqrt(values)) @ vectors.T


def stonet(program, told):
    """METHOD:DIM:SETTING=VALUE:.. with smooth=PENALTY, splines=COUNT and curves=held-out|tune among the settings."""
    method, dim, *settings = told.split(":")

    def predict(train, test):
        given = ["--method", method, "--dim", dim]
        grid = ["curves=" + ",".join(WAYS)] if "curves=tune" in settings else []
        if dim == "tune":
            given = given[:2]
            grid.append("dim=" + ",".join(str(count) for count in range(1, min(20, len(train) // 2) + 1)))
        for how in settings:
            if how.startswith(("smooth=", "splines=")):
                train, test = (np.c_[through(rows[:, :-1], how), rows[:, -1]] for rows in (train, test))
            elif how not in ("curves=held-out", "curves=tune"):
                given += ["--set", how]
        ways = [["--set", f"curves={way}"] for way in WAYS] if "curves=held-out" in settings else [[]]
        return min((run(program, train, test, given + way, grid) for way in ways), key=lambda made: made[1] if len(ways) > 1 else 0)[0]
    return predict


OTHERS = {"PLS": by_parts(pls_all), "PLS-prepared": by_parts(pls_all, WAYS), "ridge": by_parts(ridge_all)}


OURS = ("pls:tune:learner=linear,pls:tune:learner=linear:curves=tune,"
        "stonet:1,stonet:1:curves=auto,stonet:2,stonet:2:curves=auto")


def one(program, folder, name, split, method):
    table = pd.read_csv(os.path.join(folder, name + ".csv")).to_numpy(float)
    test = np.arange(172, len(table))
    if split > 0:
        table = table[:172] if name.startswith("tecator") else table
        test = np.random.default_rng(1000 + split).permutation(len(table))[: len(table) // 4]
    predicted = (OTHERS.get(method) or stonet(program, method))(np.delete(table, test, axis=0), table[test])
    return float(np.sqrt(np.mean((predicted - table[test, -1]) ** 2)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--splits", default="1-20")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--sets", default="tecator-fat,tecator-water,tecator-protein,gasoline,nir,yarn")
    parser.add_argument("--methods", default="PLS,PLS-prepared,ridge," + OURS)
    given = parser.parse_args()
    first, _, last = given.splits.partition("-")
    methods = given.methods.split(",")
    print("set", "split", *methods, sep=",")
    with concurrent.futures.ProcessPoolExecutor(given.jobs) as pool:
        jobs = {(name, split): [pool.submit(one, given.program, given.folder, name, split, method) for method in methods]
                for split in range(int(first), int(last or first) + 1) for name in given.sets.split(",")
                if split > 0 or name.startswith("tecator")}
        rows = {}
        for (name, split), errors in jobs.items():
            rows.setdefault(name, []).append([error.result() for error in errors])
            print(name, split, *(f"{error:.4g}" for error in rows[name][-1]), sep=",", flush=True)
    for name, errors in rows.items():
        errors = np.array(errors)
        se = errors.std(axis=0, ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else errors[0] * np.nan
        print(name, "mean", *(f"{a:.4g}±{b:.2g}" for a, b in zip(errors.mean(axis=0), se)), sep=",")


if __name__ == "__main__":
    main()
