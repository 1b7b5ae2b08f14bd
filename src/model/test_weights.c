/* Rows that count differently: whole weights are rows that come several times, in fits and in scores. */
#include "base/test_kit.h"
#include "model/test_table.h"

enum { N = 240, P = 4, MOST = 3 * N };

/* A table with weights 0, 1, 2, 3 and one in which rows come so many times instead. */
typedef struct pair {
    stonet_data *weighted, *repeated;
    float x[N * P], many_x[MOST * P];
    int64_t row[MOST], rows; /* of the repeated table: which row of the weighted one */
} pair;

static double normal(uint32_t i, uint32_t j)
{
    return sn_noise_normal(11, SN_STREAM_TEST, i, 0, j, 0, 0);
}

/* Made anew in the same place. */
static pair *make(bool classes)
{
    static pair made, *const out = &made;
    double y[N], many_y[MOST], weight[N];
    int32_t code[N], many_code[MOST];
    static const char *const labels[] = {"a", "b", "c"};
    out->rows = 0;
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t j = 0; j < P; j++) out->x[i * P + j] = (float)(normal(i, j) + 0.5 * normal(i, 9));
        y[i] = (double)out->x[i * P] + pow((double)out->x[i * P + 1], 2.0) + 0.3 * normal(i, 20);
        code[i] = y[i] < 0.2 ? 0 : y[i] < 1.5 ? 1 : 2;
        weight[i] = (double)(i * 7 % 4);
        for (int k = 0; k < (int)weight[i]; k++, out->rows++) {
            memcpy(out->many_x + out->rows * P, out->x + i * P, P * sizeof(float));
            many_y[out->rows] = y[i];
            many_code[out->rows] = code[i];
            out->row[out->rows] = (int64_t)i;
        }
    }
    out->weighted = sn_testing_data(out->x, N, P, classes ? NULL : y);
    out->repeated = sn_testing_data(out->many_x, out->rows, P, classes ? NULL : many_y);
    OK(stonet_data_set_weights(out->weighted, weight));
    if (classes) OK(stonet_data_set_classes(out->weighted, code, labels, 3));
    if (classes) OK(stonet_data_set_classes(out->repeated, many_code, labels, 3));
    return out;
}

static void let_go(pair **tables)
{
    stonet_data_free((*tables)->weighted);
    stonet_data_free((*tables)->repeated);
}

/* Kernels stand at rows, and rows that are there twice are drawn more often: a plain learner. */
static stonet_model *fit(const char *method, const stonet_data *data)
{
    const bool classes = stonet_data_classes(data, NULL) != NULL;
    const bool predicts = sn_method_find(method)->predict != NULL;
    const char *words = sn_testing_words("%s 2 learner=%s", method,
                                         predicts  ? "auto"
                                         : classes ? "logistic"
                                                   : "linear");
    return sn_testing_fit(words, data, NULL);
}

static void near(const char *method, const char *what, double a, double b)
{
    if (!(fabs(a - b) <= 2e-5 * (1.0 + fabs(b)))) fail_msg("%s: %s %.10g is not %.10g", method, what, a, b);
}

TEST(weights_repeat_rows)
{
    static const char *const methods[] = {"pca", "sir", "save", "dr", "phd", "none"};
    for (int classes = 0; classes < 2; classes++) {
        SN_FREED_BY(let_go) pair *tables = make(classes == 1);
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
            SN_AUTO(stonet_model) *one = fit(methods[k], tables->weighted),
                                  *other = fit(methods[k], tables->repeated);
            double out[N * 3], same[N * 3];
            OK(stonet_predict(one, tables->weighted, NULL, out));
            OK(stonet_predict(other, tables->weighted, NULL, same));
            for (int64_t i = 0; i < N * (classes ? 3 : 1); i++)
                near(methods[k], "prediction", out[i], same[i]);
            const stonet_scores a = sn_testing_scores(one, tables->weighted, NULL),
                                b = sn_testing_scores(other, tables->repeated, NULL);
            if (classes) {
                near(methods[k], "log loss", a.log_loss, b.log_loss);
                near(methods[k], "error rate", a.error_rate, b.error_rate);
                near(methods[k], "balanced accuracy", a.balanced_accuracy, b.balanced_accuracy);
                near(methods[k], "auc", a.auc, b.auc);
            } else {
                near(methods[k], "mse", a.mse, b.mse);
                near(methods[k], "r2", a.r2, b.r2);
            }
        }
    }
}

/* Rows that count nothing do not move a StoNet, and weights that are all the same change nothing. */
TEST(the_network_heeds_them)
{
    SN_FREED_BY(let_go) pair *tables = make(false);
    double weight[N], out[3][N];
    for (int way = 0; way < 3; way++) {
        for (int64_t i = 0; i < N; i++) weight[i] = way == 0 ? 1.0 : way == 1 ? 2.0 : (double)(i % 2);
        OK(stonet_data_set_weights(tables->weighted, weight));
        SN_AUTO(stonet_model) *model = sn_testing_fit(
            "stonet 1 epochs=5 hidden=6 weight_decay=0 activation=tanh lr=0.05", tables->weighted, NULL);
        OK(stonet_predict(model, tables->weighted, NULL, out[way]));
    }
    double moved = 0.0;
    for (int64_t i = 0; i < N; i++) {
        assert_true(fabs(out[0][i] - out[1][i]) < 0.02);
        moved = fmax(moved, fabs(out[0][i] - out[2][i]));
    }
    assert_true(moved > 1e-3);
}

/* A class does not go with the weights of its rows: the outputs are those that the caller has labels for. */
TEST(classes_without_weight_stay)
{
    SN_FREED_BY(let_go) pair *tables = make(true);
    double weight[N];
    const int32_t *code = stonet_data_classes(tables->weighted, NULL);
    for (int64_t i = 0; i < N; i++) weight[i] = code[i] != 1;
    OK(stonet_data_set_weights(tables->weighted, weight));
    SN_AUTO(stonet_model) *model = fit("sir", tables->weighted);
    assert_int_equal(stonet_model_outputs(model), 3);
}

/* Weights of 1 are no weights, and rows of weight 0 are not there: the models are the same, bit by bit. */
TEST(ones_and_zeros_are_rows_that_are_there_or_not)
{
    static const char *const methods[] = {"pca", "sir", "save", "dr", "phd", "none", "gsir"};
    SN_FREED_BY(let_go) pair *tables = make(false);
    double weight[N];
    int64_t row[N], rows = 0;
    for (int64_t i = 0; i < N; i++) row[i] = i;
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        for (int way = 0; way < 2; way++) {
            SN_AUTO(stonet_data) *without = NULL;
            rows = 0;
            for (int64_t i = 0; i < N; i++) {
                weight[i] = way == 0 || i % 5 != 2;
                if (weight[i] > 0.0) row[rows++] = i;
            }
            OK(stonet_data_set_weights(tables->weighted, weight));
            OK(stonet_data_subset(tables->weighted, row, rows, &without));
            assert_null(stonet_data_weights(without));
            SN_AUTO(stonet_model) *one = fit(methods[k], tables->weighted), *other = fit(methods[k], without);
            assert_same_model(one, other);
        }
    }
}

/* One row in thirty is of the rare class: balanced weights find more of it. */
TEST(balanced_weights_find_the_rare_class)
{
    enum { ROWS = 1200 };
    float x[ROWS * 2];
    int32_t code[ROWS];
    static const char *const labels[] = {"common", "rare"};
    static const char *const ways[][2] = {
        {"none 1", "none 1 class_weight=balanced"},
        {"stonet 1 epochs=4 hidden=4", "stonet 1 epochs=4 hidden=4 class_weight=balanced"}};
    for (uint32_t i = 0; i < ROWS; i++) {
        code[i] = i % 30 == 0;
        for (uint32_t j = 0; j < 2; j++) x[2 * i + j] = (float)(normal(i, j) + (code[i] ? 1.5 : 0.0));
    }
    SN_AUTO(stonet_data) *data = sn_testing_data(x, ROWS, 2, NULL);
    OK(stonet_data_set_classes(data, code, labels, 2));
    for (int k = 0; k < 2; k++) {
        double found[2];
        for (int balanced = 0; balanced < 2; balanced++) {
            SN_AUTO(stonet_model) *model = sn_testing_fit(ways[k][balanced], data, NULL);
            found[balanced] = sn_testing_scores(model, data, NULL).balanced_accuracy;
        }
        if (!(found[1] > found[0] + 0.1)) fail_msg("%s: %g after %g", ways[k][1], found[1], found[0]);
    }
}

TEST(what_has_no_weighted_form_says_so)
{
    SN_FREED_BY(let_go) pair *tables = make(false);
    for (size_t k = 0; k < sn_method_count(); k++) {
        const sn_method *method = sn_method_at(k);
        if (method->weighted || (method->tasks & SN_TASK_REGRESSION) == 0) continue;
        sn_testing_refused(method->name, tables->weighted, "has no weighted form");
    }
    sn_testing_refused("sir 1 learner=mlp", tables->weighted, "has no weighted form");
    sn_testing_refused("sir 1 class_weight=balanced", tables->weighted, "is for classes");
}

RUN_TESTS(NULL, NULL)
