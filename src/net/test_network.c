/* Networks to a store and back, what is refused on the way, and the parts all networks share. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "net/activation.h"
#include "net/forward.h"
#include "net/loss.h"
#include "net/network.h"

enum { N = 9, P = 5 };

static void make_rows(float *x)
{
    for (int i = 0; i < N * P; i++) x[i] = (float)(3 * sin(1.0 + i));
}

static sn_network make_network(const sn_shape *like, bool scaled)
{
    float x[N * P];
    make_rows(x);
    sn_network net = {.shape = *like};
    OK(sn_network_start(&net, 5));
    for (int64_t j = 0; j < net.shape.parameters; j++) net.theta[j] += 0.1F * (float)cos((double)j);
    if (scaled) OK(sn_scaling_learn(&net.scaling, x, N, P));
    return net;
}

static const sn_shape SHAPES[] = {
    {.layers = 1, .width = {P, 3}, .activation = SN_TANH, .task = SN_CLASSIFICATION},
    {.layers = 2, .width = {P, 8, 2}, .activation = SN_SIGMOID, .input_activation = SN_RELU},
    {.layers = 3, .width = {P, 2, 6, 3}, .activation = SN_RELU, .linear_layer = 1},
    {.layers = 4, .width = {P, 4, 2, 4, P}, .activation = SN_IDENTITY, .task = SN_CLASSIFICATION},
};
enum { N_SHAPES = sizeof SHAPES / sizeof *SHAPES };

TEST(networks_come_back_from_the_store)
{
    float x[N * P];
    make_rows(x);
    for (int k = 0; k < 2 * N_SHAPES; k++) {
        SN_FREED_BY(sn_network_clear) sn_network net = make_network(&SHAPES[k / 2], k % 2 == 1);
        void *back = NULL;
        SN_AUTO(sn_store) *store = NULL, *part = NULL;
        OK(sn_store_create(&store));
        OK(sn_store_part(store, "net.", &part));
        OK(sn_network_save(&net, part));
        assert_non_null(sn_store_find(store, "net.w1"));
        OK(sn_network_load(part, &back));
        const sn_network *copy = back;
        assert_memory_equal(&copy->shape, &net.shape, sizeof net.shape);
        assert_memory_equal(copy->theta, net.theta, (size_t)net.shape.parameters * sizeof(float));
        double a[N * P] = {0}, b[N * P] = {0};
        OK(sn_network_predict(&net, x, N, a));
        OK(sn_network_predict(copy, x, N, b));
        assert_memory_equal(a, b, sizeof a);
        sn_network_free(back);
    }
}

/* A copy of a store, but one text entry with another value, or one tensor with another number at `position`,
   or without one of them. */
static const char LEFT_OUT[] = "(left out)";
static sn_store *edited(const sn_store *from, const char *name, const char *word, int64_t position,
                        double number)
{
    sn_store *store = NULL;
    OK(sn_store_create(&store));
    for (size_t i = 0; i < sn_store_tensors(from); i++) {
        const sn_tensor *t = sn_store_tensor(from, i);
        const bool meant = strcmp(t->name, name) == 0;
        if (meant && word == LEFT_OUT) continue;
        OK(sn_store_put(store, t->name, t->dtype, t->rank, t->shape, t->data));
        if (word != NULL || !meant) continue;
        void *data = sn_store_find(store, name)->data;
        if (t->dtype == SN_F32) ((float *)data)[position] = (float)number;
        if (t->dtype == SN_F64) ((double *)data)[position] = number;
        if (t->dtype == SN_I64) ((int64_t *)data)[position] = (int64_t)number;
    }
    for (size_t i = 0; i < sn_store_texts(from); i++) {
        const char *key, *value;
        sn_store_text(from, i, &key, &value);
        const bool meant = strcmp(key, name) == 0;
        if (meant && word == LEFT_OUT) continue;
        OK(sn_store_put_text(store, key, word != NULL && meant ? word : value));
    }
    return store;
}

TEST(damaged_networks_are_refused_by_name)
{
    static const struct {
        const char *name, *word; /* word NULL: the number goes into the tensor */
        int64_t position;
        double number;
        const char *says;
    } EDITS[] = {
        {"activation", "softplus", 0, 0, "'activation' is 'softplus'"},
        {"activation", "1", 0, 0, "'activation' is '1'"}, /* the number of an enum is no word */
        {"activation", "", 0, 0, "'activation' is ''"},
        {"input_activation", "off", 0, 0, "'input_activation' is 'off'"},
        {"first_layer", "bent", 0, 0, "'first_layer' is 'bent'"},
        {"task", "ranking", 0, 0, "'task' is 'ranking'"},
        {"scaling", "1", 0, 0, "'scaling' is '1'"},
        {"widths", NULL, 1, -8, "tensor 'widths'"},
        {"widths", NULL, 1, 9, "'w1' has a wrong type or shape"},
        {"widths", NULL, 0, 1e15, "tensor 'widths'"},
        {"w2", NULL, 3, NAN, "tensor 'w2' holds a value that is not a finite number, at position 3"},
        {"b1", NULL, 0, INFINITY, "tensor 'b1'"},
        {"mean", NULL, 2, NAN, "tensor 'mean'"},
        {"factor", NULL, 1, -INFINITY, "tensor 'factor'"},
    };
    SN_FREED_BY(sn_network_clear) sn_network net = make_network(&SHAPES[1], true);
    SN_AUTO(sn_store) *store = NULL;
    OK(sn_store_create(&store));
    OK(sn_network_save(&net, store));
    for (size_t i = 0; i < sizeof EDITS / sizeof *EDITS; i++) {
        SN_AUTO(sn_store) *bad =
            edited(store, EDITS[i].name, EDITS[i].word, EDITS[i].position, EDITS[i].number);
        void *back = &net;
        stonet_status status = sn_network_load(bad, &back);
        if (status != STONET_ERROR_FORMAT || strstr(stonet_last_error(), EDITS[i].says) == NULL)
            fail_msg("%s: got %d '%s'", EDITS[i].says, status, stonet_last_error());
        assert_null(back);
    }
}

TEST(what_is_missing_is_named)
{
    SN_FREED_BY(sn_network_clear) sn_network net = make_network(&SHAPES[1], true);
    SN_AUTO(sn_store) *whole = NULL;
    OK(sn_store_create(&whole));
    OK(sn_network_save(&net, whole));
    const size_t tensors = sn_store_tensors(whole), texts = sn_store_texts(whole);
    for (size_t left_out = 0; left_out < tensors + texts; left_out++) {
        const char *missing = NULL, *value;
        if (left_out < tensors)
            missing = sn_store_tensor(whole, left_out)->name;
        else
            sn_store_text(whole, left_out - tensors, &missing, &value);
        SN_AUTO(sn_store) *store = edited(whole, missing, LEFT_OUT, 0, 0.0);
        void *back;
        char words[64];
        snprintf(words, sizeof words, "'%s'", missing);
        assert_says(sn_network_load(store, &back), STONET_ERROR_FORMAT, words);
    }
}

TEST(a_network_of_another_form_is_refused)
{
    SN_FREED_BY(sn_network_clear) sn_network net = make_network(&SHAPES[2], false);
    SN_AUTO(sn_store) *store = NULL;
    void *back;
    OK(sn_store_create(&store));
    OK(sn_network_save(&net, store));
    OK(sn_network_load_as(store, "nnsdr", 3, true, &back));
    sn_network_free(back);
    assert_says(sn_network_load_as(store, "nnsdr", 4, true, &back), STONET_ERROR_FORMAT, "nnsdr");
    assert_null(back);
    assert_int_equal(sn_network_load_as(store, "other", 3, false, &back), STONET_ERROR_FORMAT);
}

/* The forward pass, layer by layer in double: what each layer's activation is. */
TEST(layers_have_their_activations)
{
    float x[N * P];
    make_rows(x);
    for (int k = 0; k < N_SHAPES; k++) {
        SN_FREED_BY(sn_network_clear) sn_network net = make_network(&SHAPES[k], true);
        const sn_shape *s = &net.shape;
        for (int64_t r = 0; r < N; r++) {
            double a[16], mu[16];
            for (int64_t j = 0; j < P; j++)
                a[j] = sn_psi(s->input_activation,
                              ((double)x[r * P + j] - net.scaling.mean[j]) * net.scaling.factor[j]);
            for (int i = 1; i <= s->layers; i++) {
                float got[N * 8], activated[N * 8];
                OK(sn_network_forward(&net, x, N, i, false, got));
                OK(sn_network_forward(&net, x, N, i, true, activated));
                sn_activation psi = i == s->linear_layer ? SN_IDENTITY : s->activation;
                for (int64_t u = 0; u < s->width[i]; u++) {
                    mu[u] = (double)net.theta[s->bias_at[i - 1] + u];
                    for (int64_t j = 0; j < s->width[i - 1]; j++)
                        mu[u] += (double)net.theta[s->weight_at[i - 1] + u * s->width[i - 1] + j] * a[j];
                    assert_true(fabs((double)got[r * s->width[i] + u] - mu[u]) < 1e-5);
                    assert_true(fabs((double)activated[r * s->width[i] + u] - sn_psi(psi, mu[u])) < 1e-5);
                }
                for (int64_t u = 0; u < s->width[i]; u++) a[u] = sn_psi(psi, mu[u]);
            }
        }
    }
}

/* All rows are the same, so all results must be, in every place of a block and of a part of one. */
TEST(a_row_has_the_same_result_in_every_place)
{
    enum { ROWS = 150, INPUTS = 7, UNITS = 29 };
    sn_shape shape = {.layers = 2, .width = {INPUTS, UNITS, UNITS}, .activation = SN_TANH};
    OK(sn_shape_layout(&shape));
    SN_BLOCK float *theta = sn_malloc((size_t)shape.parameters, sizeof *theta);
    sn_shape_start(&shape, 1, theta);
    float x[ROWS * INPUTS], all[ROWS * UNITS];
    for (int i = 0; i < ROWS * INPUTS; i++) x[i] = sinf((float)(i % INPUTS));
    for (int64_t n = ROWS; n > 0; n -= 37) {
        OK(sn_forward(&(sn_forward_job){&shape, theta, shape.layers, false, 2}, n, x, all));
        for (int64_t r = 1; r < n; r++) assert_memory_equal(all, all + r * UNITS, UNITS * sizeof *all);
    }
}

TEST(each_loss_is_what_it_is_called)
{
    const float mu[3] = {0.5F, -1.0F, 2.0F};
    const double y[3] = {1.0, -1.0, 0.5};
    float slope[3];
    bool wrong;
    double sum = exp(0.5) + exp(-1.0) + exp(2.0);
    for (int32_t label = 0; label < 3; label++) {
        double expected = log(sum) - (double)mu[label];
        assert_true(fabs(sn_class_loss(mu, 3, label, &wrong) - expected) < 1e-12);
        assert_int_equal(wrong, label != 2);
        assert_true(fabs(sn_class_slope(mu, 3, label, 0.5F, slope) - expected) < 1e-6);
        for (int k = 0; k < 3; k++)
            assert_true(fabs((double)slope[k] - 0.5 * (exp((double)mu[k]) / sum - (k == label))) < 1e-6);
    }
    assert_true(fabs(sn_square_loss(mu, 3, y) - (0.25 + 2.25) / 2) < 1e-12);
    double loss = 1.0;
    assert_true(sn_square_slope(2.0, 0.5, &loss) == 1.5 && loss == 1.0 + 2.25 / 2);
}

TEST(histories_have_one_header)
{
    sn_epoch_log log = {0};
    OK(sn_epoch_log_add(&log, &(sn_epoch_row){"a", 1, 1.5, 0.1}));
    OK(sn_epoch_log_add(&log, &(sn_epoch_row){"a", 2, 0.5, 0.1}));
    OK(sn_epoch_log_add(&log, &(sn_epoch_row){"b", 1, 0.25, 0.01}));
    assert_string_equal(log.text, SN_EPOCH_LOG_HEADER "\na,1,1.5,0.1\na,2,0.5,0.1\nb,1,0.25,0.01\n");
    sn_epoch_log_free(&log);
    assert_null(log.text);
}

RUN_TESTS(NULL, NULL)
