def sub(p, pairs):
    s=open(p).read()
    for a,b in pairs:
        assert a in s, (p,a)
        s=s.replace(a,b,1)
    open(p,'w').write(s)
sub('python/src/stonet/_library.py',[('''        ("impute", c_int),
    ]''','''        ("impute", c_int),
        ("level", c_double),
        ("by_class", c_int),
    ]''')])
sub('docs/architecture.md',[('''| `src/select` | tuning and comparing | model |
''','''| `src/refit` | the same fit again on parts of the rows: calibration, standard errors of Z | model |
| `src/select` | tuning and comparing | model |
''')])
sub('CHANGELOG.md',[('''- Methods `scr` (simple contour''','''- `fit --calibrate`, `stonet calibrate` and `stonet_calibrate`: `predict --interval 0.9` and `--sets 0.9 [--by-class]`,
  conformal (CV+, or split from 5000 rows on or with fresh rows) and kept in the model file, for every method that predicts;
  probabilities corrected by a temperature. `docs/intervals.md` has coverage and widths.
- `score` says balanced accuracy, AUC, Brier score, calibration error, the confusion table, and coverage and width of
  intervals or sets. C: `stonet_scores` begins with its size (`STONET_SCORES_INIT`); `stonet_confusion`.
- `transform --se TRAIN` and `stonet_transform_se`: standard errors of Z, by refits on halves of the training rows.
- Methods `scr` (simple contour''')])
sub('docs/model-file.md',[('''| `learner.` | what predicts from Z, for models that have one |
''','''| `learner.` | what predicts from Z, for models that have one |
| `calibration.` | how far predictions are from the truth, for models that were calibrated |
'''),
('''## Versions
''','''## `calibration.`

Not there: the model was not calibrated, and has no intervals and sets. m is the number of rows that were held out.

| entry | |
|---|---|
| `calibration.kind` | word: `cv+` (each row held out by one of several models), `split` (by one model), `fresh` (none: rows that the model itself had not seen) |
| `calibration.score` | word: `residual` (regression), `aps`, `lac` (classification) |
| `calibration.models` | how many models held rows out; 0 for `fresh`, 1 for `split` |
| `calibration.model1.`, `calibration.model2.`, .. | each of them whole, with the entries of this page; its classes are some of the model's, in any order, and it has no calibration |
| `calibration.model_of` | `I32 [m]`, from 0: which model held the row out; 0 for `fresh` |
| `calibration.scores` | `F64 [outputs, m]` (regression) or `F64 [1, m]`: score of the row by that model |
| `calibration.residual_variance` | `F64 [outputs]`: mean of (y - f(x))² over the rows; regression |
| `calibration.label` | `I32 [m]`: true class of the row; classification |
| `calibration.temperature` | real T > 0: probabilities are softmax(log p / T); classification |

Scores are in units of y: |y - f(x)|; `lac` is 1 - p of the true class; `aps` the sum of all probabilities that are larger
(of equal ones: of the earlier classes) and of a share 1 - u of its own, u in (0, 1) by the bits of the scaled features of
the row (`src/model/calibration.c`). They are taken from probabilities before the temperature. `docs/intervals.md` says how
an interval or a set comes from them.

## Versions
''')])
