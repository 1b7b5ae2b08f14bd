#!/usr/bin/env python3
"""Default fits beside a linear model, an MLP and gradient boosting of scikit-learn, on tables of your own.

    python3 bench/tables.py FOLDER [--program build/bin/stonet] [--against OTHER/stonet] [--splits 1-2] [--jobs 1]
                            [--only NAME,NAME] [--no-others]

FOLDER has CSV files with a header, the response last: text for classes, else a number. For every table and split, 70 % of
the rows (6,000 at most) train and the others test: error rate, or MSE over the variance of the test rows. q is 2, or
the classes less one, 10 at most. The others are RidgeCV or LogisticRegression and MLP* with columns scaled, texts as
indicators and missing cells at their mean, and HistGradientBoosting*, all with their defaults (more iterations where they
warn). Printed are the means over the splits, the processor seconds of a default fit, and how many tables the fit is
within 2 % of each column on, or better; with --against also the geometric mean of the ratios of the errors and its
standard error over the tables (.001 is added to both errors), and how many are more than 3 % worse. `Rscript bench/tables.R
FOLDER` writes the tables of docs/defaults.md. Needs NumPy, pandas and scikit-learn.
"""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
import shared

MOST_ROWS, TEST_SHARE, LEVEL, SMALL = 6000, 0.3, 1.02, 0.001
TEXT, NUMBER = make_column_selector(dtype_exclude="number"), make_column_selector(dtype_include="number")


def load(path):
    table = pd.read_csv(path)
    table = table[table.iloc[:, -1].notna()].reset_index(drop=True)
    if len(table) > MOST_ROWS:
        table = table.sample(MOST_ROWS, random_state=0).reset_index(drop=True)
    return table.iloc[:, :-1], table.iloc[:, -1], not pd.api.types.is_numeric_dtype(table.iloc[:, -1])


def error(predicted, truth, classes):
    if classes:
        return float(np.mean(np.asarray(predicted).astype(str) != truth.astype(str).to_numpy()))
    return float(np.mean((np.asarray(predicted, float) - truth.to_numpy()) ** 2) / np.var(truth.to_numpy()))


def default_fit(program, train, test, classes, dim):
    """Test error and processor seconds of `stonet fit` with nothing set."""
    with tempfile.TemporaryDirectory() as scratch:
        paths = [os.path.join(scratch, name) for name in ("train.csv", "test.csv", "model", "predicted.csv")]
        train.to_csv(paths[0], index=False)
        test.to_csv(paths[1], index=False)
        target, task = train.columns[-1], "classification" if classes else "regression"
        before = shared.children_seconds()
        subprocess.run([program, "fit", paths[0], "--target", target, "--dim", str(dim), "--set", f"task={task}", "--threads",
                        "1", "--quiet", "--out", paths[2]], check=True, stderr=subprocess.DEVNULL)
        seconds = shared.children_seconds() - before
        subprocess.run([program, "predict", paths[2], paths[1], "--out", paths[3]], check=True, capture_output=True)
        predicted = pd.read_csv(paths[3])["prediction"]
    return error(predicted, test.iloc[:, -1], classes), seconds


def others(classes):
    scaled = ColumnTransformer([("n", make_pipeline(SimpleImputer(), StandardScaler()), NUMBER),
                                ("t", OneHotEncoder(handle_unknown="ignore"), TEXT)], sparse_threshold=0)
    plain = ColumnTransformer([("n", "passthrough", NUMBER), ("t", OneHotEncoder(handle_unknown="ignore"), TEXT)],
                              sparse_threshold=0)
    if classes:
        return {"linear": make_pipeline(scaled, LogisticRegression(max_iter=2000)),
                "mlp": make_pipeline(scaled, MLPClassifier(max_iter=500, random_state=0)),
                "boosting": make_pipeline(plain, HistGradientBoostingClassifier(random_state=0))}
    return {"linear": make_pipeline(scaled, RidgeCV(np.logspace(-3, 3, 13))),
            "mlp": make_pipeline(scaled, MLPRegressor(max_iter=500, random_state=0)),
            "boosting": make_pipeline(plain, HistGradientBoostingRegressor(random_state=0))}


def measure(job):
    """One line of numbers by name: a table and a split."""
    path, split, programs, with_others = job
    warnings.filterwarnings("ignore")
    x, y, classes = load(path)
    stratify = y if classes and y.value_counts().min() > 1 else None
    parts = train_test_split(x, y, test_size=TEST_SHARE, random_state=split, stratify=stratify)
    train, test = (pd.concat([parts[k], parts[k + 2]], axis=1) for k in (0, 1))
    count = y.nunique() if classes else 0
    found = {}
    for name, program in programs.items():
        found[name], found[f"{name} s"] = default_fit(program, train, test, classes, min(count - 1, 10) if count > 3 else 2)
    if with_others:
        mean, spread = (0, 1) if classes else (parts[2].mean(), parts[2].std())
        filled = parts[0].columns[parts[0].notna().any()]  # new releases of scikit-learn fail on columns of nothing
        for name, model in others(classes).items():
            model.fit(parts[0][filled], parts[2] if classes else (parts[2] - mean) / spread)
            predicted = model.predict(parts[1][filled])
            found[name] = error(predicted if classes else predicted * spread + mean, parts[3], classes)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--program", default="build/bin/stonet")
    parser.add_argument("--against")
    parser.add_argument("--splits", type=shared.numbers, default=[1, 2])
    parser.add_argument("--only", type=shared.words)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-others", action="store_true")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    programs = {"stonet": options.program, **({"against": options.against} if options.against else {})}
    names = sorted(name[:-4] for name in os.listdir(options.folder) if name.endswith(".csv"))
    names = [name for name in names if options.only is None or name in options.only]
    if not names:
        sys.exit(f"no such tables in {options.folder}")
    jobs = [(os.path.join(options.folder, f"{name}.csv"), split, programs, not options.no_others)
            for name in names for split in options.splits]
    level, columns, logs = {}, None, []
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        results = pool.map(measure, jobs)
        for name in names:
            lines = [next(results) for _ in options.splits]
            mean = {key: float(np.mean([line[key] for line in lines])) for key in lines[0]}
            if columns is None:
                columns = list(mean)
                print("| table | " + " | ".join(columns) + " |\n|" + " --- |" * (len(columns) + 1))
            print(f"| {name} | " + " | ".join(f"{mean[key]:.4f}" for key in columns) + " |", flush=True)
            if options.against:
                logs.append(float(np.log((mean["stonet"] + SMALL) / (mean["against"] + SMALL))))
            for key in columns:
                if not key.endswith(" s"):
                    level[key] = level.get(key, 0) + (mean["stonet"] <= LEVEL * mean[key])
    print(f"\nof {len(names)} tables, level or better: " + ", ".join(f"{key} {level[key]}" for key in level if key != "stonet"))
    if logs:
        print(f"error over that of --against: {np.exp(np.mean(logs)):.3f} (standard error {np.std(logs) / len(logs) ** 0.5:.3f}), "
              f"more than 3 % worse on {sum(log > np.log(1.03) for log in logs)}")


if __name__ == "__main__":
    main()
