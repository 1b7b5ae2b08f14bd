#include "methods/lsmie_ascent.h"
#define METHOD "lsmie"
#include "methods/test_kernel_help.h"

enum { N = 40, P = 4, D = 2, CENTRES = 12 };

/* The class of a centre, from the blocks. */
static int64_t class_of(const sn_lsmi *lsmi, int64_t centre)
{
    int64_t block = 0;
    while (lsmi->first[block + 1] <= centre) block++;
    return block;
}

static double squared(int64_t p, const double *a, const double *b)
{
    double sum = 0.0;
    for (int64_t j = 0; j < p; j++) sum += pow(a[j] - b[j], 2);
    return sum;
}

/* phi_z and phi_y (n x b) by the definition. */
static void plain_features(const sn_lsmi *lsmi, const double *z, double *phi_z, double *phi_y)
{
    int64_t n = lsmi->n, m = lsmi->b;
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < m; l++) {
            const double *u = z + lsmi->centre[l] * D, *v = lsmi->y + lsmi->centre[l] * lsmi->m;
            phi_z[i * m + l] = exp(-squared(D, z + i * D, u) / (2 * pow(lsmi->s * lsmi->z_scale, 2)));
            if (lsmi->label != NULL)
                phi_y[i * m + l] = lsmi->label[i] == class_of(lsmi, l);
            else
                phi_y[i * m + l] =
                    exp(-squared(lsmi->m, lsmi->y + i * lsmi->m, v) / (2 * pow(lsmi->s * lsmi->y_scale, 2)));
        }
}

/* H (b x b) over all pairs of the rows of a fold, fold[0] .. fold[1] - 1, or of the others, and h. */
static void plain_moments(const sn_lsmi *lsmi, const double *phi_z, const double *phi_y, const int64_t *fold,
                          int inside, double *hh, double *h)
{
    int64_t m = lsmi->b;
    double rows = 0.0;
    memset(hh, 0, (size_t)(m * m) * sizeof(double));
    memset(h, 0, (size_t)m * sizeof(double));
    for (int64_t i = 0; i < lsmi->n; i++) {
        if ((i >= fold[0] && i < fold[1]) != inside) continue;
        rows += 1.0;
        for (int64_t l = 0; l < m; l++) h[l] += phi_z[i * m + l] * phi_y[i * m + l];
        for (int64_t j = 0; j < lsmi->n; j++) {
            if ((j >= fold[0] && j < fold[1]) != inside) continue;
            for (int64_t l = 0; l < m; l++)
                for (int64_t k = 0; k < m; k++)
                    hh[l * m + k] +=
                        phi_z[i * m + l] * phi_y[j * m + l] * phi_z[i * m + k] * phi_y[j * m + k];
        }
    }
    for (int64_t l = 0; l < m * m; l++) hh[l] /= rows * rows;
    for (int64_t l = 0; l < m; l++) h[l] /= rows;
}

/* alpha'H alpha / 2 - h'alpha on the rows of a fold for alpha = (H + lambda)^{-1} h of these rows, or of the
   others. */
static double plain_loss(const sn_lsmi *lsmi, const double *z, const int64_t *fold, int own, double lambda)
{
    const int64_t m = lsmi->b;
    SN_BLOCK double *phi_z = zeros(N * m), *phi_y = zeros(N * m), *hh = zeros(m * m), *h = zeros(m),
                    *alpha = zeros(m);
    double loss = 0.0;
    plain_features(lsmi, z, phi_z, phi_y);
    plain_moments(lsmi, phi_z, phi_y, fold, own, hh, alpha);
    sn_add_diagonal(m, lambda, hh);
    OK(sn_solve_spd(m, hh, 1, alpha));
    plain_moments(lsmi, phi_z, phi_y, fold, 1, hh, h);
    for (int64_t l = 0; l < m; l++)
        for (int64_t k = 0; k < m; k++) loss += 0.5 * alpha[l] * hh[l * m + k] * alpha[k];
    return loss - sn_dot(m, h, alpha);
}

/* With z (N x D) the first columns of x, which have a mean far from 0, in its order. */
static sn_lsmi make_lsmi(const sample *s, sn_workspace *keep, double *z)
{
    sn_lsmi lsmi;
    OK(sn_lsmi_create(&s->problem, CENTRES, D, 1, 0.0, keep, &lsmi));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < D; j++) z[i * D + j] = 3.0 + s->wide[lsmi.row[i] * P + j];
    OK(sn_lsmi_set_unit(&lsmi, z, 1));
    OK(sn_lsmi_set(&lsmi, 0.7, 0.02));
    return lsmi;
}

static void check_value_and_gradient(int64_t classes, int64_t targets)
{
    SN_FREED_BY(sample_free) sample s = make_sample(N, P, classes, targets, 1);
    double z[N * D], dz[N * D], value, step = 1e-5;
    SN_WORKSPACE(scratch);
    sn_lsmi lsmi = make_lsmi(&s, &scratch, z);
    OK(sn_lsmi_value(&lsmi, z, &value));
    assert_true(fabs(value + plain_loss(&lsmi, z, (int64_t[]){0, N}, 1, lsmi.lambda) + 0.5) < 1e-10);
    sn_lsmi_gradient(&lsmi, dz);
    for (int i = 0; i < N * D; i++) {
        double at = z[i], above, below;
        z[i] = at + step;
        OK(sn_lsmi_value(&lsmi, z, &above));
        z[i] = at - step;
        OK(sn_lsmi_value(&lsmi, z, &below));
        z[i] = at;
        assert_true(fabs((above - below) / (2.0 * step) - dz[i]) < 1e-8);
    }
}

TEST(test_value_and_gradient)
{
    check_value_and_gradient(3, 0);
    check_value_and_gradient(0, 1);
    check_value_and_gradient(0, 2);
}

enum { GRID = 5 };
static const double bandwidths[GRID] = {0.1, 0.3, 1.0, 3.0, 10.0},
                    lambdas[GRID] = {0.0001, 0.002, 0.05, 0.5, 2.0};

/* The whole grid at first; from a corner, a place that no neighbour betters. */
static void check_choice(int64_t classes)
{
    SN_FREED_BY(sample_free) sample s = make_sample(N, P, classes, 1, 2);
    double z[N * D], loss[GRID][GRID], smallest = INFINITY;
    SN_WORKSPACE(scratch);
    sn_lsmi lsmi = make_lsmi(&s, &scratch, z);
    for (int i = 0; i < GRID; i++)
        for (int j = 0; j < GRID; j++) {
            OK(sn_lsmi_set(&lsmi, bandwidths[i], lambdas[j]));
            loss[i][j] = 0.0;
            for (int k = 0; k < SN_LSMI_FOLDS; k++)
                loss[i][j] += plain_loss(&lsmi, z, lsmi.fold + k, 0, lambdas[j]);
            smallest = fmin(smallest, loss[i][j]);
        }
    sn_lsmi_grid grid = {.s = bandwidths, .lambda = lambdas, .n_s = GRID, .n_lambda = GRID, .at_s = -1};
    OK(sn_lsmi_tune(&lsmi, z, &grid));
    assert_true(loss[grid.at_s][grid.at_lambda] == smallest);
    assert_true(lsmi.s == bandwidths[grid.at_s] && lsmi.lambda == lambdas[grid.at_lambda]);
    for (int64_t corner = 0; corner < 4; corner++) {
        grid.at_s = corner / 2 * (GRID - 1);
        grid.at_lambda = corner % 2 * (GRID - 1);
        OK(sn_lsmi_tune(&lsmi, z, &grid));
        for (int i = 0; i < GRID; i++)
            for (int j = 0; j < GRID; j++)
                if (llabs(i - grid.at_s) <= 1 && llabs(j - grid.at_lambda) <= 1)
                    assert_true(loss[i][j] >= loss[grid.at_s][grid.at_lambda]);
    }
}

TEST(test_choice_of_settings)
{
    check_choice(3);
    check_choice(0);
}

/* Rows of a group are in one fold; of three groups, two folds stay empty. */
TEST(test_folds_keep_groups)
{
    SN_WORKSPACE(scratch);
    SN_FREED_BY(sample_free) sample data = make_sample(N, P, 0, 1, 3);
    int64_t kin[N];
    int fold_of[3] = {-1, -1, -1};
    sn_lsmi lsmi;
    for (int i = 0; i < N; i++) kin[i] = i % 3;
    data.problem.kin = kin;
    OK(sn_lsmi_create(&data.problem, CENTRES, D, 1, 0.0, &scratch, &lsmi));
    assert_int_equal(lsmi.fold[SN_LSMI_FOLDS], N);
    for (int k = 0; k < SN_LSMI_FOLDS; k++)
        for (int64_t i = lsmi.fold[k]; i < lsmi.fold[k + 1]; i++) {
            int *of = &fold_of[kin[lsmi.row[i]]];
            if (*of < 0) *of = k;
            assert_int_equal(*of, k);
        }
    assert_int_not_equal(fold_of[0], fold_of[1]);
    assert_int_not_equal(fold_of[1], fold_of[2]);
}

/* At fixed settings an ascent never loses, and its directions stay orthonormal. */
TEST(test_ascent)
{
    const double s = 0.7, lambda = 0.02;
    SN_FREED_BY(sample_free) sample data = make_sample(200, P, 0, 1, 3);
    sn_lsmie_report report = {0};
    double before = -INFINITY, worst = 0.0;
    for (int64_t iterations = 1; iterations <= 9; iterations += 4) {
        SN_WORKSPACE(scratch);
        sn_lsmie_ascent ascent = {.problem = &data.problem,
                                  .grid = {.s = &s, .lambda = &lambda, .n_s = 1, .n_lambda = 1},
                                  .d = D,
                                  .iterations = iterations,
                                  .tune_every = 3,
                                  .seed = 1};
        OK(sn_lsmie_ascent_create(40, &scratch, &ascent));
        memset(ascent.b, 0, sizeof(double[P * D]));
        for (int64_t j = 0; j < D; j++) ascent.b[(P - D + j) * D + j] = 1.0; /* far from the truth */
        OK(sn_lsmie_climb(&ascent, &report));
        assert_true(ascent.value > before);
        before = ascent.value;
        double inner[D * D];
        sn_multiply(sn_turned(ascent.b, P, D), sn_as(ascent.b, P, D), inner);
        for (int i = 0; i < D * D; i++) worst = fmax(worst, fabs(inner[i] - (i % (D + 1) == 0)));
    }
    assert_true(worst < 1e-12);
}

RUN_TESTS(NULL, NULL)
