/* The network learner: it learns what a linear one cannot, and behaves on small and odd data. */
#include "learners/test_learner.h"

enum { N = 400 };

typedef struct rings {
    float x[N * 3];
    int32_t label[N];
    double y[N * 2];
    sn_problem classes, numbers;
} rings;

/* Two classes by distance from the origin, a constant third column, and two smooth targets. */
static void make_rings(rings *r)
{
    sn_random random = sn_random_from(5, SN_STREAM_TEST, 1);
    for (int i = 0; i < N; i++) {
        double a = sn_random_normal(&random), b = sn_random_normal(&random);
        r->x[i * 3] = (float)(1000 + 50 * a); /* columns in unlike units */
        r->x[i * 3 + 1] = (float)(1e-6 * b);
        r->x[i * 3 + 2] = 7;
        r->label[i] = a * a + b * b > 1.4;
        r->y[i * 2] = sin(2 * a);
        r->y[i * 2 + 1] = a * b;
    }
    r->classes =
        (sn_problem){.n = N, .p = 3, .x = r->x, .task = SN_CLASSIFICATION, .outputs = 2, .label = r->label};
    r->numbers = (sn_problem){.n = N, .p = 3, .x = r->x, .task = SN_REGRESSION, .outputs = 2, .y = r->y};
}

TEST(learns_what_is_not_linear)
{
    rings r;
    make_rings(&r);
    double p[N * 2];
    const char *const longer[] = {"epochs", "600", "batch", "32", "rate", "0.03", NULL};
    fit_and_predict("mlp", &r.classes, 2, longer, p);
    assert_probabilities(N, 2, p);
    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += (p[i * 2 + 1] > 0.5) != r.label[i];
    assert_true(wrong <= N / 20);

    fit_and_predict("mlp", &r.numbers, 2, longer, p);
    double residual = 0, total = 0;
    for (int i = 0; i < N * 2; i++) {
        residual += (p[i] - r.y[i]) * (p[i] - r.y[i]);
        total += r.y[i] * r.y[i];
    }
    assert_true(residual < 0.1 * total);
}

TEST(takes_several_layers_and_any_number_of_threads)
{
    rings r;
    make_rings(&r);
    double one[N * 2], many[N * 2];
    const char *const deep[] = {"hidden", "20,10", "epochs", "5", "decay", "1e-4", NULL};
    fit_and_predict("mlp", &r.classes, 1, deep, one);
    for (int threads = 2; threads <= 7; threads += 5) {
        fit_and_predict("mlp", &r.classes, threads, deep, many);
        assert_memory_equal(one, many, sizeof one);
    }
}

TEST(one_row_one_class_and_huge_values)
{
    float x[4] = {3e38F, -3e38F, 1e-38F, 5};
    int32_t label[2] = {0, 0};
    double y[2] = {1, -1}, out[4];
    for (int n = 1; n <= 2; n++) {
        sn_problem classes = {
            .n = n, .p = 2, .x = x, .task = SN_CLASSIFICATION, .outputs = 1, .label = label};
        fit_and_predict("mlp", &classes, 2, NULL, out);
        assert_true(out[0] == 1);
        sn_problem numbers = {.n = n, .p = 2, .x = x, .task = SN_REGRESSION, .outputs = 1, .y = y};
        fit_and_predict("mlp", &numbers, 2, NULL, out);
        for (int i = 0; i < n; i++) assert_true(fabs(out[i] - y[i]) < 0.01);
    }
}

RUN_TESTS(NULL, NULL)
