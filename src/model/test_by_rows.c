/* A table too large for a scaled copy: the StoNet fetches its rows, and the model is the one that a copy of
   them would have given. */
#include "base/memory.h"
#include "base/test_kit.h"
#include "choice/fit.h"
#include "model/test_table.h"

enum { ROWS = 4100, COLUMNS = 4100 }; /* just above the 64 MB that are copied */

static stonet_data *make_table(float *x)
{
    stonet_data *data = NULL;
    SN_BLOCK int32_t *label = test_zeros(ROWS, sizeof *label);
    uint32_t word = 1;
    for (int64_t i = 0; i < (int64_t)ROWS * COLUMNS; i++) {
        word = word * 1664525U + 1013904223U;
        x[i] = (float)(word >> 8) * 0x1p-20F + (float)(i % COLUMNS % 5);
    }
    for (int64_t i = 0; i < ROWS; i++) label[i] = x[i * COLUMNS] + x[i * COLUMNS + 1] > 17.0F;
    const char *const names[] = {"low", "high"};
    OK(stonet_data_wrap(x, ROWS, COLUMNS, &data));
    OK(stonet_data_set_classes(data, label, names, 2));
    return data;
}

#define SHORT                                                                                                \
    "stonet 1 hidden=none epochs=0.05 weight_decay=0 sdr_iterations=1 activation=tanh sweeps=1 learner="

/* The same fit with all rows scaled first. */
static sn_stonet *fit_copy(const stonet_model *model, const stonet_data *data, float *x)
{
    SN_BLOCK int32_t *label = test_zeros(ROWS, sizeof *label);
    OK(sn_schema_encode_x(model->schema, data, x));
    OK(sn_schema_encode_y(model->schema, data, label, NULL));
    const sn_problem problem = {
        .n = ROWS, .p = COLUMNS, .x = x, .task = SN_CLASSIFICATION, .outputs = 2, .label = label};
    const stonet_run run = {.size = sizeof run, .seed = 1, .threads = 2};
    stonet_outcome outcome;
    sn_stonet *net = NULL;
    OK(sn_stonet_fit(&problem, 1, model->settings, &run, &net, &outcome));
    return net;
}

/* Puts the labels into a file. */
static void map_labels(stonet_data *data)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(data->label, sizeof *data->label, ROWS, file), ROWS);
    assert_int_equal(fflush(file), 0);
    OK(sn_mapping_open(fileno(file), ROWS * (int64_t)sizeof *data->label, &data->mapped_y));
    assert_non_null(data->mapped_y);
    fclose(file);
    sn_free(data->label);
    data->label = (int32_t *)(uintptr_t)sn_mapping_bytes(data->mapped_y);
}

TEST(by_rows_is_the_same_model)
{
    const size_t cells = (size_t)ROWS * COLUMNS;
    SN_BLOCK float *x = malloc(cells * sizeof *x), *scaled = malloc(cells * sizeof *scaled);
    assert_true(x != NULL && scaled != NULL);
    SN_AUTO(stonet_data) *data = make_table(x);
    SN_AUTO(stonet_model) *model =
        sn_testing_fit(SHORT "logistic", data, NULL); /* the learner is fitted on Z of the same rows */
    assert_non_null(model->learner);
    SN_AUTO(sn_stonet) *copy = fit_copy(model, data, scaled);
    const sn_stonet *net = model->state;
    assert_int_equal(net->network.shape.parameters, copy->network.shape.parameters);
    assert_memory_equal(net->network.theta, copy->network.theta,
                        (size_t)net->network.shape.parameters * sizeof *net->network.theta);
    assert_true(sn_testing_scores(model, data, NULL).error_rate < 0.5);
    stonet_model_free(model);
    map_labels(data);
    model = sn_testing_fit(SHORT "none", data, NULL); /* reads the labels from the file too */
    net = model->state;
    assert_memory_equal(net->network.theta, copy->network.theta,
                        (size_t)net->network.shape.parameters * sizeof *net->network.theta);
}

RUN_TESTS(NULL, NULL)
