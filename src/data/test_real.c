/* The data sets of the paper, where the folder STONET_DATA has them. */
#include "base/test_kit.h"
#include "data/schema.h"

/* Reads files of the folder, or skips the test. */
static stonet_data *read_set(const char *name, const char *target, const char *target_name)
{
    const char *root = getenv("STONET_DATA");
    if (root == NULL || root[0] == '\0') {
        print_message("STONET_DATA is not set: skipped\n");
        skip();
    }
    char path[512], target_path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    snprintf(target_path, sizeof target_path, "%s/%s", root, target_name != NULL ? target_name : "");
    stonet_read_options how = {
        .size = sizeof how, .target = target, .target_file = target_name != NULL ? target_path : NULL};
    stonet_data *data;
    OK(stonet_data_read(path, &how, &data));
    return data;
}

static void check_schema(const stonet_data *data, sn_scale scale, sn_task task, int64_t outputs)
{
    SN_AUTO(sn_schema) *schema = NULL;
    if (sn_schema_fit(data, &(sn_encoding){.scale = SN_SCALE_AUTO, .task = SN_TASK_AUTO}, NULL, &schema) !=
        STONET_OK)
        fail_msg("%s", stonet_last_error());
    assert_int_equal(schema->scale, scale);
    assert_int_equal(schema->task, task);
    assert_int_equal(sn_schema_outputs(schema), outputs);
}

TEST(test_sets)
{
    static const struct {
        const char *name, *target, *labels;
        int64_t n, p;
        sn_task task;
        int64_t outputs;
    } sets[] = {
        {"breast-cancer/breast-cancer_train_data_1.asc", NULL,
         "breast-cancer/breast-cancer_train_labels_1.asc", 200, 9, SN_CLASSIFICATION, 2},
        {"flare-solar/flare-solar_train_data_1.asc", NULL, "flare-solar/flare-solar_train_labels_1.asc", 666,
         9, SN_CLASSIFICATION, 2},
        {"heart/heart_train_data_1.asc", NULL, "heart/heart_train_labels_1.asc", 170, 13, SN_CLASSIFICATION,
         2},
        {"german/german_train_data_1.asc", NULL, "german/german_train_labels_1.asc", 700, 20,
         SN_CLASSIFICATION, 2},
        {"waveform/waveform_train_data_1.asc", NULL, "waveform/waveform_train_labels_1.asc", 400, 21,
         SN_CLASSIFICATION, 2},
        {"thyroid/thyroid_all_data.asc", NULL, "thyroid/thyroid_all_labels.asc", 215, 5, SN_CLASSIFICATION,
         2},
        {"uci-pumadyn32nm/data.csv.gz", "33", NULL, 8192, 32, SN_REGRESSION, 1},
        {"uci-keggundirected/data.csv.gz", "28", NULL, 63608, 27, SN_REGRESSION, 1},
        {"ct-slices/slice_localization_data_first682.csv.gz", "reference", NULL, 682, 385, SN_REGRESSION, 1},
    };
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        SN_AUTO(stonet_data) *data = read_set(sets[k].name, sets[k].target, sets[k].labels);
        assert_int_equal(data->n, sets[k].n);
        assert_int_equal(data->n_numeric, sets[k].p);
        assert_int_equal(data->n_text, 0);
        assert_int_equal(data->has_header, strncmp(sets[k].name, "ct-slices", 9) == 0);
        check_schema(data, SN_SCALE_COLUMN, sets[k].task, sets[k].outputs);
    }
}

TEST(test_mnist)
{
    SN_AUTO(stonet_data) *data =
        read_set("mnist/t10k-images-idx3-ubyte.gz", NULL, "mnist/t10k-labels-idx1-ubyte.gz");
    static const int counts[10] = {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009};
    int met[10] = {0};
    assert_int_equal(data->n, 10000);
    assert_int_equal(data->n_numeric, 784);
    for (int i = 0; i < 10000; i++) met[(int)data->y[i]]++;
    assert_memory_equal(met, counts, sizeof met);
    check_schema(data, SN_SCALE_COMMON, SN_CLASSIFICATION, 10);
    float *scaled = data->owned_x;
    for (int i = 0; i < 10000 * 784; i++) scaled[i] /= 255;
    check_schema(data, SN_SCALE_COMMON, SN_CLASSIFICATION, 10);
}

RUN_TESTS(NULL, NULL)
