/*
 * Every method gives the same model file and the same Z, bit for bit, with any number of threads: on data
 * large enough for BLAS and for our own loops to want several.
 */
#include "base/test_kit.h"
#include "model/test_table.h"

enum { ROWS = 3000, COLUMNS = 40, SHORT_ROWS = 600 };

/* What makes a method quick enough to be fitted here; a method that is not listed has ROWS and its defaults.
 */
static const struct variant {
    const char *words;
    int64_t rows;
} variants[] = {
    {"stonet 2 epochs=2 hidden=20 sdr_iterations=3 weight_decay=0.001", ROWS},
    {"stonet 2 output=refit epochs=1 weight_decay=0.01", ROWS},
    {"stonet 2 front=conv front_image=5,8 epochs=2 weight_decay=0.001", SHORT_ROWS},
    {"nnsdr 2 epochs=1 refine=1 hidden=64 batch=256", ROWS},
    {"autoencoder 2 epochs=1", ROWS},
    {"benn 2 epochs=2 units=50 transforms=30", ROWS},
    {"gmddnet 2 epochs=1 hidden=20,10", ROWS},
    {"opg 2 anchors=30", ROWS},
    {"mave 2 anchors=10", ROWS},
    {"lasso-sir 2 folds=3", ROWS},
    {"gsir 2", SHORT_ROWS},
    {"gsir 2 landmarks=300", ROWS},
    {"gsave 2", SHORT_ROWS},
    {"gsave 2 landmarks=300", SHORT_ROWS},
    {"ksir 2", SHORT_ROWS},
    {"ksir 2 landmarks=300", ROWS},
    {"gkdr 2", SHORT_ROWS},
    {"gkdr 2 landmarks=300", SHORT_ROWS},
    {"kdr 2 iterations=2", SHORT_ROWS},
    {"kdr 2 landmarks=300 iterations=2", SHORT_ROWS},
    {"cve 2 restarts=1 iterations=3", SHORT_ROWS},
    {"lsmie 2 restarts=1 iterations=2", SHORT_ROWS},
};

enum { VARIANTS = sizeof variants / sizeof *variants };

/* What a fit with so many threads leaves: the bytes of its model and Z of its rows by as many threads. */
typedef struct outcome {
    unsigned char *bytes;
    size_t size;
    float *z;
    size_t z_size;
} outcome;

/* What a model says of a row is the same, bit by bit, whatever rows are asked about together with it. */
static void check_rows_alone(const stonet_model *model, const stonet_data *data, const float *z)
{
    static const int64_t counts[] = {1, 3, 17, 130};
    const int64_t n = stonet_data_rows(data), m = stonet_model_outputs(model), q = model->dim;
    SN_BLOCK double *all = sn_calloc((size_t)(n * m), sizeof *all),
                    *some = sn_calloc((size_t)(n * m), sizeof *some);
    SN_BLOCK float *some_z = sn_calloc((size_t)(n * q), sizeof *some_z);
    int64_t row[130];
    OK(stonet_predict(model, data, NULL, all));
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        SN_AUTO(stonet_data) *part = NULL;
        for (int64_t i = 0; i < counts[k]; i++) row[i] = (7 + 13 * i) % n;
        OK(stonet_data_subset(data, row, counts[k], &part));
        OK(stonet_predict(model, part, NULL, some));
        OK(stonet_transform(model, part, NULL, some_z));
        for (int64_t i = 0; i < counts[k]; i++) {
            if (memcmp(some_z + i * q, z + row[i] * q, (size_t)q * sizeof *z) != 0)
                fail_msg("%s: Z of a row among %lld is another", model->method->name, (long long)counts[k]);
            if (memcmp(some + i * m, all + row[i] * m, (size_t)m * sizeof *all) != 0)
                fail_msg("%s: the prediction of a row among %lld is another", model->method->name,
                         (long long)counts[k]);
        }
    }
}

static outcome fit(const char *words, const stonet_data *data, int threads)
{
    outcome out = {0};
    stonet_run run = STONET_RUN_INIT;
    run.threads = threads;
    SN_AUTO(stonet_model) *model = sn_testing_fit(words, data, &run);
    OK(stonet_model_save_bytes(model, &out.bytes, &out.size));
    out.z_size = (size_t)(stonet_data_rows(data) * model->dim) * sizeof *out.z;
    out.z = sn_calloc(out.z_size, 1);
    stonet_use_options options = {.size = sizeof options, .threads = threads};
    OK(stonet_transform(model, data, &options, out.z));
    if (threads == 1) check_rows_alone(model, data, out.z);
    return out;
}

static void outcome_free(outcome *out)
{
    stonet_bytes_free(out->bytes);
    sn_free(out->z);
}

static void check(const char *words, const stonet_data *data, int most)
{
    SN_FREED_BY(outcome_free) outcome one = fit(words, data, 1);
    for (int threads = 2; threads <= most; threads++) {
        SN_FREED_BY(outcome_free) outcome more = fit(words, data, threads);
        if (one.size != more.size || memcmp(one.bytes, more.bytes, one.size) != 0)
            fail_msg("%s: %d threads make another model than one", words, threads);
        assert_int_equal(one.z_size, more.z_size);
        assert_memory_equal(one.z, more.z, one.z_size);
    }
}

/* plain: "METHOD 2" */
static bool is_listed(const char *plain)
{
    for (size_t i = 0; i < VARIANTS; i++)
        if (strncmp(variants[i].words, plain, strlen(plain)) == 0) return true;
    return false;
}

/* single: for the methods that take one target only. */
static void check_all(const stonet_data *all, const stonet_data *few, const stonet_data *single)
{
    for (size_t i = 0; i < VARIANTS; i++) check(variants[i].words, variants[i].rows == ROWS ? all : few, 3);
    for (size_t i = 0; i < sn_method_count(); i++) {
        const char *plain = sn_testing_words("%s 2", sn_method_at(i)->name);
        if (!is_listed(plain)) check(plain, sn_method_at(i)->multi_output ? all : single, 3);
    }
}

TEST(classes)
{
    SN_TABLE all = sn_table_classes(ROWS, COLUMNS, 4, 1), few = sn_table_classes(SHORT_ROWS, COLUMNS, 4, 2);
    check_all(all.data, few.data, all.data);
}

TEST(numbers)
{
    SN_TABLE all = sn_table_numbers(ROWS, COLUMNS, 2, 3), few = sn_table_numbers(SHORT_ROWS, COLUMNS, 2, 4),
             single = sn_table_numbers(ROWS, COLUMNS, 1, 5);
    check_all(all.data, few.data, single.data);
}

/* The learners on all columns, where their own algebra has something to do. */
TEST(learners)
{
    SN_TABLE all = sn_table_classes(ROWS, COLUMNS, 4, 5),
             numbers_table = sn_table_numbers(ROWS, COLUMNS, 2, 6);
    check("none 2 learner=logistic", all.data, 2);
    check("none 2 learner=mlp learner.epochs=2", all.data, 2);
    check("none 2 learner=kernel", all.data, 2);
    check("none 2 learner=linear", numbers_table.data, 2);
    check("none 2 learner=auto", numbers_table.data, 2);
}

RUN_TESTS(NULL, NULL)
