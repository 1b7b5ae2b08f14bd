/* Model files of 0.1.0 and 0.2.0 (golden/0.1 and 0.2, made by make.sh there) still load and give what they
   gave. */
#include "base/test_kit.h"
#include "model/test_table.h"

static const char *const MODELS[] = {
    "0.1/stonet-classes", "0.1/stonet-numbers", "0.1/nnsdr", "0.1/autoencoder-mlp", "0.1/pca-mlp", "0.1/sir",
    "0.1/gsir",           "0.2/blend",          "0.2/kernel"};
enum { N_MODELS = sizeof MODELS / sizeof *MODELS, ROWS = 60, MOST = 3 };

static void golden_path(char *path, size_t size, const char *name, const char *ending)
{
    const char *root = getenv("STONET_GOLDEN");
    snprintf(path, size, "%s/src/model/golden/%s%s", root != NULL ? root : ".", name, ending);
}

/* The numbers of a CSV file below its header line; returns how many. */
static int64_t read_numbers(const char *name, const char *ending, double *out)
{
    char path[512], line[512];
    golden_path(path, sizeof path, name, ending);
    FILE *file = fopen(path, "r");
    if (file == NULL) fail_msg("cannot open %s (set STONET_GOLDEN to the repository root)", path);
    int64_t count = 0;
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL)
        for (char *at = line, *end = line; *end != '\n'; at = end + 1) {
            assert_true(count < (int64_t)ROWS * MOST);
            out[count++] = strtod(at, &end);
            assert_true(end > at);
        }
    fclose(file);
    return count;
}

static stonet_model *load(const char *name)
{
    char path[512];
    golden_path(path, sizeof path, name, ".model");
    stonet_model *model = NULL;
    if (stonet_model_load(path, &model) != STONET_OK) fail_msg("%s: %s", name, stonet_last_error());
    return model;
}

/* The table beside a model. */
static stonet_data *read_rows(const char *model)
{
    char path[512], rows[16];
    snprintf(rows, sizeof rows, "%.3s/rows", model);
    golden_path(path, sizeof path, rows, ".csv");
    stonet_data *data = NULL;
    OK(stonet_data_read(path, NULL, &data));
    assert_true(stonet_data_rows(data) <= ROWS);
    return data;
}

static void assert_close(const char *name, int64_t count, const double *got, const double *wanted)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(got[i] - wanted[i]) <= 1e-5 * (1 + fabs(wanted[i]))))
            fail_msg("%s: number %lld is %.9g, it was %.9g", name, (long long)i, got[i], wanted[i]);
}

TEST(they_give_what_they_gave)
{
    for (int k = 0; k < N_MODELS; k++) {
        SN_AUTO(stonet_data) *rows = read_rows(MODELS[k]);
        const int64_t n = stonet_data_rows(rows);
        SN_AUTO(stonet_model) *model = load(MODELS[k]);
        double wanted[ROWS * MOST], got[ROWS * MOST];
        float z[ROWS * MOST];
        int64_t count = n * stonet_model_dim(model);
        assert_int_equal(read_numbers(MODELS[k], ".z.csv", wanted), count);
        OK(stonet_transform(model, rows, NULL, z));
        for (int64_t i = 0; i < count; i++) got[i] = (double)z[i];
        assert_close(MODELS[k], count, got, wanted);
        count = n * stonet_model_outputs(model);
        assert_int_equal(read_numbers(MODELS[k], ".prediction.csv", wanted), count);
        OK(stonet_predict(model, rows, NULL, got));
        assert_close(MODELS[k], count, got, wanted);
    }
}

/* Saved again, in the format of today, and loaded: the same bits, and the same facts about the model. */
TEST(they_can_be_written_anew)
{
    for (int k = 0; k < N_MODELS; k++) {
        SN_AUTO(stonet_data) *rows = read_rows(MODELS[k]);
        SN_AUTO(stonet_model) *model = load(MODELS[k]), *back = sn_testing_again(model);
        assert_same_answers(model, back, rows);
        SN_BLOCK char *facts = stonet_model_json(model), *facts_again = stonet_model_json(back);
        assert_string_equal(facts, facts_again);
    }
}

/* Bytes of a golden file with one text in it replaced by another of the same length. */
static unsigned char *edited(const char *name, const char *from, const char *to, size_t *size)
{
    char path[512];
    golden_path(path, sizeof path, name, ".model");
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char *bytes = malloc(1 << 16);
    *size = fread(bytes, 1, 1 << 16, file);
    fclose(file);
    const size_t length = strlen(from);
    assert_int_equal(length, strlen(to));
    for (size_t i = 0; i + length <= *size; i++)
        if (memcmp(bytes + i, from, length) == 0) {
            memcpy(bytes + i, to, length);
            return bytes;
        }
    fail_msg("%s has no %s", name, from);
    return NULL;
}

TEST(damaged_ones_are_refused)
{
    static const struct {
        const char *model, *from, *to, *says;
    } EDITS[] = {
        {"0.1/nnsdr", "\"method.activation\":\"2\"", "\"method.activation\":\"9\"",
         "'method.activation' is '9'"},
        {"0.1/nnsdr", "\"method.task\":\"1\"", "\"method.task\":\"2\"", "'method.task' is '2'"},
        {"0.1/nnsdr", "\"method.theta\"", "\"method.thetb\"", "'method.theta'"},
        {"0.1/nnsdr", "\"stonet.outcome\":\"0\"", "\"stonet.outcome\":\"7\"", "'stonet.outcome' is '7'"},
        {"0.1/nnsdr", "\"stonet.method\":\"nnsdr\"", "\"stonet.method\":\"nnsdx\"", "'nnsdx'"},
        {"0.1/nnsdr", "\"format_version\":\"1\"", "\"format_version\":\"2\"", "'stonet.outcome' is '0'"},
        {"0.1/pca-mlp", "\"learner.scaled\":\"1\"", "\"learner.scaled\":\"5\"", "'learner.scaled' is '5'"},
        {"0.1/pca-mlp", "\"learner.mean\"", "\"learner.meen\"", "'learner.mean'"},
        {"0.1/stonet-classes", "\"euler\"", "\"ruler\"", "'method.integrator' is 'ruler'"},
        {"0.1/stonet-classes", "\"sigmoid\"", "\"sigmoit\"", "'method.activation' is 'sigmoit'"},
    };
    for (size_t i = 0; i < sizeof EDITS / sizeof *EDITS; i++) {
        size_t size;
        SN_BLOCK unsigned char *bytes = edited(EDITS[i].model, EDITS[i].from, EDITS[i].to, &size);
        stonet_model *model = NULL;
        stonet_status status = stonet_model_load_bytes(bytes, size, &model);
        if (status != STONET_ERROR_FORMAT || strstr(stonet_last_error(), EDITS[i].says) == NULL)
            fail_msg("%s: got %d '%s'", EDITS[i].says, status, stonet_last_error());
        assert_null(model);
    }
}

/* Whatever happens to the bytes: an error, or a model that can be used without touching foreign memory. */
TEST(damaged_ones_never_crash)
{
    static const char *const NETWORKS[] = {"0.1/stonet-classes", "0.1/nnsdr", "0.1/autoencoder-mlp",
                                           "0.1/pca-mlp"};
    SN_AUTO(stonet_data) *rows = read_rows(NETWORKS[0]);
    sn_random random = sn_random_from(7, SN_STREAM_TEST, 3);
    for (size_t k = 0; k < sizeof NETWORKS / sizeof *NETWORKS; k++)
        for (int trial = 0; trial < 200; trial++) {
            size_t size;
            SN_BLOCK unsigned char *bytes = edited(NETWORKS[k], "\"format\"", "\"format\"", &size);
            uint64_t header;
            memcpy(&header, bytes, sizeof header);
            /* Digits by digits, so that the header stays JSON; now and then a bit anywhere. */
            for (int flips = 0; flips < 3; flips++) {
                size_t at = 8 + sn_random_below(&random, header);
                while (bytes[at] < '0' || bytes[at] > '9') at = 8 + (at - 7) % header;
                bytes[at] = (unsigned char)('0' + sn_random_below(&random, 10));
                if (trial % 4 == 0)
                    bytes[sn_random_below(&random, size)] ^=
                        (unsigned char)(1u << sn_random_below(&random, 8));
            }
            SN_AUTO(stonet_model) *model = NULL;
            if (stonet_model_load_bytes(bytes, size, &model) == STONET_OK &&
                stonet_model_dim(model) <= MOST && stonet_model_outputs(model) <= MOST) {
                float z[ROWS * MOST];
                double out[ROWS * MOST];
                stonet_transform(model, rows, NULL, z);
                stonet_predict(model, rows, NULL, out);
            }
        }
}

RUN_TESTS(NULL, NULL)
