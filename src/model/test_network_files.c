/* The files of models made of networks: one history, one form, and what is refused and named when it is
 * damaged. */
#include "base/test_kit.h"
#include "base/test_store.h"
#include "model/test_table.h"

TEST(histories_have_one_header)
{
    SN_TABLE numbers = sn_table_numbers(60, 4, 2, 2);
    static const char *const TRAINED[] = {
        "stonet 2 hurry epochs=3", "nnsdr 2 hurry epochs=3", "autoencoder 2 hurry epochs=3 learner=linear",
        "benn 2 hurry epochs=3 units=20 learner=linear", "gmddnet 2 hurry epochs=3 learner=linear"};
    int found = 0;
    for (size_t i = 0; i < sn_method_count(); i++) found += sn_method_at(i)->history != NULL;
    assert_int_equal(found, sizeof TRAINED / sizeof *TRAINED); /* a new method with a history: add it */
    for (size_t i = 0; i < sizeof TRAINED / sizeof *TRAINED; i++) {
        SN_AUTO(stonet_model) *model = sn_testing_fit(TRAINED[i], numbers.data, NULL);
        SN_BLOCK char *history = stonet_model_history_csv(model);
        assert_non_null(history);
        const char *rows = strchr(history, '\n') + 1;
        assert_int_equal(strncmp(history, "stage,epoch,loss,lr\n", (size_t)(rows - history)), 0);
        int lines = 0;
        const bool divergence = strncmp(TRAINED[i], "gmddnet", 7) == 0; /* its loss is one below 0 */
        for (const char *line = rows; *line != '\0'; line = strchr(line, '\n') + 1, lines++) {
            char stage[64];
            long long epoch;
            double loss, lr;
            assert_int_equal(sscanf(line, "%63[^,],%lld,%lf,%lf", stage, &epoch, &loss, &lr), 4);
            assert_true(epoch >= 1 && isfinite(loss) && (loss > 0 || divergence) && lr > 0);
        }
        assert_true(lines >= 3);
    }
}

typedef struct edit {
    const char *name; /* of a text entry or a tensor, after "method." or "learner." */
    const char *word; /* the entry's new value; NULL: `number` goes into the tensor's first place */
    double number;
    const char *says;
} edit;

static const edit EDITS[] = {
    {"activation", "softplus", 0, "activation' is 'softplus', no activation"},
    {"activation", "2", 0, "activation' is '2'"},
    {"input_activation", "off", 0, "input_activation' is 'off'"},
    {"first_layer", "bent", 0, "first_layer' is 'bent'"},
    {"task", "ranking", 0, "task' is 'ranking'"},
    {"scaling", "yes", 0, "scaling' is 'yes'"},
    {"widths", NULL, 3, "w1' has a wrong type or shape"},
    {"widths", NULL, 0, "widths'"},
};
static const edit STONET_EDITS[] = {
    {"integrator", "leapfrog", 0, "method.integrator' is 'leapfrog'"},
    {"start", "anywhere", 0, "method.start' is 'anywhere'"},
    {"first_layer", "linear", 0, "not one of a StoNet"},
    {"lr", "fast", 0, "method.lr' is 'fast'"},
    {"sweeps", "0", 0, "method.sweeps' is '0'"},
    {"explained_share", NULL, -1, "method.explained_share' does not hold shares"},
};

static sn_store *edited(const sn_store *from, const char *name, const edit *change)
{
    sn_store *store = sn_store_without(from, name);
    const sn_tensor *t = sn_store_find(from, name);
    if (change->word != NULL ? sn_store_find_text(from, name) == NULL : t == NULL)
        fail_msg("there is no %s to change", name);
    if (change->word != NULL) {
        OK(sn_store_put_text(store, name, change->word));
        return store;
    }
    OK(sn_store_put(store, name, t->dtype, t->rank, t->shape, t->data));
    void *data = sn_store_find(store, name)->data;
    if (t->dtype == SN_F64) *(double *)data = change->number;
    if (t->dtype == SN_I64) *(int64_t *)data = (int64_t)change->number;
    return store;
}

static void assert_refused(const sn_store *whole, const char *prefix, const edit *change)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", prefix, change->name);
    SN_AUTO(sn_store) *bad = edited(whole, name, change);
    stonet_model *back = NULL;
    stonet_status status = sn_model_from_store(bad, &back);
    if (status != STONET_ERROR_FORMAT || strstr(stonet_last_error(), change->says) == NULL)
        fail_msg("%s: got %d '%s', wanted '%s'", name, status, stonet_last_error(), change->says);
    assert_null(back);
}

TEST(damaged_networks_are_refused_by_name)
{
    SN_TABLE numbers = sn_table_numbers(60, 4, 1, 2);
    static const char *const CASES[][2] = {{"stonet 2 hurry", "method."},
                                           {"nnsdr 2 hurry", "method."},
                                           {"autoencoder 2 hurry learner=linear", "method."},
                                           {"pca 2 learner=mlp learner.epochs=3", "learner."}};
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        SN_AUTO(stonet_model) *model = sn_testing_fit(CASES[k][0], numbers.data, NULL), *back = NULL;
        SN_AUTO(sn_store) *store = sn_testing_store(model);
        OK(sn_model_from_store(store, &back));
        for (size_t i = 0; i < sizeof EDITS / sizeof *EDITS; i++)
            assert_refused(store, CASES[k][1], &EDITS[i]);
        for (size_t i = 0; k == 0 && i < sizeof STONET_EDITS / sizeof *STONET_EDITS; i++)
            assert_refused(store, CASES[k][1], &STONET_EDITS[i]);
    }
}

TEST(unknown_facts_are_refused)
{
    static const edit FACTS[] = {
        {"format_version", "3", 0, "written by a newer stonet (format 3, this one reads up to 2)"},
        {"format_version", "0", 0, "'format_version' is '0'"},
        {"format_version", "two", 0, "'format_version' is 'two'"},
        {"format_version", "1", 0, "'stonet.outcome' is 'done'"}, /* format 1 has a number there */
        {"stonet.outcome", "perhaps", 0, "'stonet.outcome' is 'perhaps'"},
        {"stonet.outcome", "0", 0, "'stonet.outcome' is '0'"},
        {"stonet.method", "magic", 0, "'magic'"},
        {"stonet.dim", "3", 0, "do not fit together"},
        {"stonet.dim", "0", 0, "stonet.dim"},
        {"stonet.learner", "logistix", 0, "logistix"},
        {"stonet.settings", "[1]", 0, "stonet.settings"},
        {"format", "pytorch", 0, "not a model of stonet"},
        {"schema.task", "ranking", 0, "'schema.task' is 'ranking'"},
    };
    SN_TABLE numbers = sn_table_numbers(60, 4, 1, 2);
    SN_AUTO(stonet_model) *model = sn_testing_fit("pca 2 learner=linear", numbers.data, NULL);
    SN_AUTO(sn_store) *store = sn_testing_store(model);
    for (size_t i = 0; i < sizeof FACTS / sizeof *FACTS; i++) assert_refused(store, "", &FACTS[i]);
}

RUN_TESTS(NULL, NULL)
