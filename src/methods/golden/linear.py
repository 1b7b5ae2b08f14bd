#!/usr/bin/python3
"""Makes linear.h: the linear methods by other people's software (scikit-learn, statsmodels) where its conventions
are ours, and by textbook formulas (explicit inverse square root of the covariance, eigenvectors of M) elsewhere.

Run: /usr/bin/python3 linear.py > test_linear_golden.h
"""
import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Lasso
from statsmodels.regression.dimred import PrincipalHessianDirections, SlicedInverseReg

N, P, D, SLICES, CLASSES = 120, 5, 2, 6, 3


def emit(name, values):
    flat = ", ".join("%.17g" % v for v in np.asarray(values, dtype=float).ravel())
    print("static const double golden_%s[] = {%s};" % (name, flat))


def unit(b):
    """Columns of unit length, entry of largest magnitude positive."""
    b = b / np.linalg.norm(b, axis=0)
    return b * np.sign(b[np.abs(b).argmax(0), np.arange(b.shape[1])])


def inverse_root(sigma):
    value, vector = np.linalg.eigh(sigma)
    return vector @ np.diag(value ** -0.5) @ vector.T


def textbook(x, groups):
    """Directions of SAVE and of directional regression for the given groups of rows."""
    root = inverse_root(np.cov(x.T, bias=True))
    z = (x - x.mean(0)) @ root
    eye = np.eye(x.shape[1])
    save, first, second = 0, 0, 0
    for g in groups:
        share, zbar, v = len(g) / len(x), z[g].mean(0), np.cov(z[g].T, bias=True)
        save = save + share * (eye - v) @ (eye - v)
        s = v + np.outer(zbar, zbar)
        second = second + share * s @ s
        first = first + share * np.outer(zbar, zbar)
    dr = 2 * second + 2 * first @ first + 2 * np.trace(first) * first - 2 * eye
    result = []
    for m in (save, dr):
        value, vector = np.linalg.eigh(m)
        result += [value[::-1], unit(root @ vector[:, ::-1])[:, :D]]
    return result


rng = np.random.default_rng(20240501)
x = rng.standard_normal((N, P)) @ rng.standard_normal((P, P)) + rng.standard_normal(P)
x = x.astype(np.float32).astype(float)
y = x[:, 0] + 0.7 * (x[:, 1] - x[:, 2]) ** 2 + 0.3 * rng.standard_normal(N)
y = (y - y.mean()) / y.std()
label = np.digitize(y, np.quantile(y, [0.3, 0.65]))
print("/* Made by linear.py: do not edit. */")
print("enum { GOLDEN_N = %d, GOLDEN_P = %d, GOLDEN_D = %d, GOLDEN_SLICES = %d, GOLDEN_CLASSES = %d };"
      % (N, P, D, SLICES, CLASSES))
emit("x", x)
emit("y", y)
emit("label", label)

pca = PCA(n_components=3, svd_solver="full").fit(x)
emit("pca_component", unit(pca.components_.T))
emit("pca_variance", pca.explained_variance_ * (N - 1) / N)
emit("pca_score", (x - pca.mean_) @ unit(pca.components_.T))

sir = SlicedInverseReg(y, x).fit(slice_n=N // SLICES)
emit("sir_direction", unit(sir.params)[:, :D])
emit("sir_value", sir.eigs)

ordered = np.array_split(np.argsort(y, kind="stable"), SLICES)
save_value, save_direction, dr_value, dr_direction = textbook(x, ordered)
emit("save_value", save_value)
emit("save_direction", save_direction)
emit("dr_value", dr_value)
emit("dr_direction", dr_direction)
save_value, save_direction, dr_value, dr_direction = textbook(x, [np.flatnonzero(label == c) for c in range(CLASSES)])
emit("class_save_value", save_value)
emit("class_save_direction", save_direction)
emit("class_dr_value", dr_value)
emit("class_dr_direction", dr_direction)

for name, resid in (("residual", True), ("raw", False)):
    phd = PrincipalHessianDirections(y, x).fit(resid=resid)
    emit("phd_%s_direction" % name, unit(np.real(phd.params))[:, :D])

two = (label > 0).astype(int)
lda = LinearDiscriminantAnalysis(solver="eigen").fit(x, two)
emit("lda_direction", unit(lda.coef_.T))

for name, penalty in (("small", 0.01), ("large", 0.3)):
    lasso = Lasso(alpha=penalty, tol=1e-14, max_iter=1000000).fit(x, y)
    emit("lasso_" + name, lasso.coef_)


def local_fits(z, y, v, u, scale=1.2):
    """Slow local linear fits at every row: weights in v, slopes on u. Returns intercepts, slopes and weights."""
    n, m = v.shape
    h = scale * n ** (-1.0 / (m + 4))
    a, b, weight = np.zeros(n), np.zeros((n, u.shape[1])), np.zeros((n, n))
    for j in range(n):
        d = ((v - v[j]) ** 2).sum(1)
        w = np.exp(-d / max(2 * h * h, np.sort(d)[min(2 * m, n) - 1]))
        design = np.column_stack([np.ones(n), u - u[j]])
        coefficient = np.linalg.solve(design.T @ np.diag(w) @ design + np.eye(design.shape[1]) / n,
                                      design.T @ np.diag(w) @ y)
        a[j], b[j], weight[j] = coefficient[0], coefficient[1:], w
    return a, b, weight


root = inverse_root(np.cov(x.T, bias=True))
z = (x - x.mean(0)) @ root
v = z
for m in range(P, D - 1, -1):
    slopes = local_fits(z, y, v, z)[1]
    value, vector = np.linalg.eigh(slopes.T @ slopes / N)
    if m > D:
        v = z @ vector[:, ::-1][:, :m - 1]
emit("opg_value", value[::-1])
emit("opg_direction", unit(root @ vector[:, ::-1])[:, :D])

basis = vector[:, ::-1][:, :D]
for _ in range(4):
    v = z @ basis
    a, b, weight = local_fits(z, y, v, v)
    # one long least-squares problem in the entries of B, row by row
    rows = [np.sqrt(weight[j, i]) * np.kron(z[i] - z[j], b[j]) for j in range(N) for i in range(N)]
    left = [np.sqrt(weight[j, i]) * (y[i] - a[j]) for j in range(N) for i in range(N)]
    basis = np.linalg.lstsq(np.array(rows), np.array(left), rcond=None)[0].reshape(P, D)
    basis = np.linalg.qr(basis)[0]
emit("mave_direction", root @ basis)
