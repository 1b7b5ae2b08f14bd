/* The minimiser of the logistic loss by its definition: where the gradient is 0. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "math/logistic.h"
#include "math/noise.h"

typedef struct sample {
    sn_softmax_problem problem;
    double *x, *lambda, *w;
    int32_t *label;
} sample;

/* x_ij = common z_i + e_ij, labels by chance with odds by the first columns. */
static sample make_sample(int64_t n, int64_t d, int64_t m, double common)
{
    sample s;
    sn_random random = sn_random_from(5, SN_STREAM_TEST, (uint32_t)(d * m));
    OK(SN_NEW(s.x, n * d));
    OK(SN_NEW(s.lambda, d));
    OK(SN_NEW(s.w, m * d));
    OK(SN_NEW(s.label, n));
    const int64_t classes = m == 1 ? 2 : m;
    for (int64_t i = 0; i < n; i++) {
        const double z = common * sn_random_normal(&random);
        for (int64_t j = 0; j < d; j++) s.x[i * d + j] = z + sn_random_normal(&random);
        double most = -(double)INFINITY;
        for (int64_t k = 0; k < classes; k++) {
            const double score = s.x[i * d + k] - z + sn_random_normal(&random);
            if (score > most) s.label[i] = (int32_t)k;
            most = fmax(most, score);
        }
    }
    for (int64_t j = 0; j < d; j++) s.lambda[j] = 0.5 + (double)(j % 5);
    s.problem = (sn_softmax_problem){.n = n, .d = d, .m = m, .x = s.x, .label = s.label, .lambda = s.lambda};
    return s;
}

static void free_sample(sample *s)
{
    SN_FREE_ALL(s->x, s->lambda, s->w, s->label);
}

/* p_k of row i: e^eta_k over the sum, where two classes have eta = 0 and eta. */
static double probability(const sample *s, int64_t i, int64_t k)
{
    const int64_t d = s->problem.d, m = s->problem.m;
    double own = 0.0, sum = m == 1 ? 1.0 : 0.0;
    for (int64_t c = 0; c < m; c++) {
        double eta = 0.0;
        for (int64_t j = 0; j < d; j++) eta += s->w[c * d + j] * s->x[i * d + j];
        sum += exp(eta);
        if (c == k) own = exp(eta);
    }
    return own / sum;
}

/* The largest part of the gradient: sum_i (p_ik - [label_i = k]) x_ij + lambda_j w_kj. */
static double largest_gradient(const sample *s)
{
    const int64_t n = s->problem.n, d = s->problem.d, m = s->problem.m;
    double largest = 0.0;
    for (int64_t k = 0; k < m; k++) {
        SN_BLOCK double *gradient = NULL;
        OK(SN_NEW(gradient, d));
        for (int64_t j = 0; j < d; j++) gradient[j] = s->lambda[j] * s->w[k * d + j];
        for (int64_t i = 0; i < n; i++) {
            const bool own = s->label[i] == (m == 1 ? 1 : k);
            const double off = probability(s, i, k) - (own ? 1.0 : 0.0);
            for (int64_t j = 0; j < d; j++) gradient[j] += off * s->x[i * d + j];
        }
        for (int64_t j = 0; j < d; j++) largest = fmax(largest, fabs(gradient[j]));
    }
    return largest;
}

/* Few columns, whose blocks are factored at once, and many, which begin with the diagonals: where the columns
   are all but one, the diagonals are not enough. */
TEST(the_gradient_is_zero)
{
    const int64_t d[] = {10, 100, 210}, m[] = {1, 1, 3};
    for (int at = 0; at < 3; at++)
        for (int common = 0; common <= 30; common += 10) {
            SN_FREED_BY(free_sample) sample s = make_sample(300, d[at], m[at], common);
            OK(sn_softmax_newton(&s.problem, NULL, s.w));
            if (!(largest_gradient(&s) < 1e-6))
                fail_msg("%lld columns, common part %d: %g", (long long)d[at], common, largest_gradient(&s));
        }
}

/* Roughly: what is left is a small part of the loss, whatever the columns. */
TEST(a_rough_minimum_is_near)
{
    for (int common = 0; common <= 30; common += 10) {
        SN_FREED_BY(free_sample)
        sample exact = make_sample(300, 150, 1, common), rough = make_sample(300, 150, 1, common);
        rough.problem.enough = 1e-3;
        OK(sn_softmax_newton(&exact.problem, NULL, exact.w));
        OK(sn_softmax_newton(&rough.problem, NULL, rough.w));
        double least = 0.0, found = 0.0;
        for (int64_t i = 0; i < 300; i++) {
            const int32_t label = exact.label[i];
            least -= log(label == 1 ? probability(&exact, i, 0) : 1.0 - probability(&exact, i, 0));
            found -= log(label == 1 ? probability(&rough, i, 0) : 1.0 - probability(&rough, i, 0));
        }
        for (int64_t j = 0; j < 150; j++) {
            least += 0.5 * exact.lambda[j] * exact.w[j] * exact.w[j];
            found += 0.5 * rough.lambda[j] * rough.w[j] * rough.w[j];
        }
        assert_true(found < least * (1.0 + 1e-4));
    }
}

RUN_TESTS(NULL, NULL)
