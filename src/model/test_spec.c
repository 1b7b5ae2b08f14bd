#include "base/json.h"
#include "base/test_kit.h"
#include "model/test_table.h"

TEST(unknown_names_are_refused_with_the_nearest)
{
    SN_AUTO(stonet_spec) *spec = NULL;
    assert_says(stonet_spec_create("pcaa", &spec), STONET_ERROR_ARGUMENT, "did you mean 'pca'");
    assert_null(spec);
    assert_says(stonet_spec_create("zzzzzzzz", &spec), STONET_ERROR_ARGUMENT, "zzzzzzzz");
    OK(stonet_spec_create("sir", &spec));
    assert_says(stonet_spec_set(spec, "slicse", "3"), STONET_ERROR_ARGUMENT, "did you mean 'slices'");
    assert_says(stonet_spec_set(spec, "dimm", "3"), STONET_ERROR_ARGUMENT, "did you mean 'dim'");
    assert_says(stonet_spec_set(spec, "dim", "0"), STONET_ERROR_ARGUMENT, "'dim' cannot be '0'");
    assert_says(stonet_spec_set(spec, "dim", "two"), STONET_ERROR_ARGUMENT, "two");
    assert_says(stonet_spec_set(spec, "scale", "big"), STONET_ERROR_ARGUMENT, "column");
    assert_says(stonet_spec_set(spec, "learner", "forest"), STONET_ERROR_ARGUMENT, "logistic");
    assert_says(stonet_spec_set(spec, "learner.l2", "1"), STONET_ERROR_ARGUMENT, "needs a learner");
    OK(stonet_spec_set(spec, "learner", "logistic"));
    assert_says(stonet_spec_set(spec, "learner.nonsense", "1"), STONET_ERROR_ARGUMENT, "logistic");
    stonet_spec_free(NULL);
}

/* The table of common settings names the learners by hand. */
TEST(every_learner_can_be_chosen)
{
    SN_AUTO(stonet_spec) *spec = NULL;
    OK(stonet_spec_create("pca", &spec));
    for (size_t i = 0; i < sn_learner_count(); i++) {
        const sn_learner *learner = sn_learner_at(i);
        OK(stonet_spec_set(spec, "learner", learner->name));
        assert_ptr_equal(spec->learner, learner);
        for (size_t k = 0; k < learner->n_params; k++) {
            char name[128];
            snprintf(name, sizeof name, "learner.%s", learner->params[k].name);
            OK(stonet_spec_set(spec, name, learner->params[k].initial));
            assert_true(sn_spec_has(spec, name));
        }
    }
    OK(stonet_spec_set(spec, "learner", "auto"));
    assert_null(spec->learner);
}

/* No method may shadow a common setting, and all texts must be fit for people. */
TEST(the_tables_of_all_methods_are_sound)
{
    for (size_t i = 0; i < sn_method_count(); i++) {
        const sn_method *method = sn_method_at(i);
        SN_AUTO(stonet_spec) *spec = NULL;
        OK(stonet_spec_create(method->name, &spec));
        assert_non_null(method->title);
        if (method->sizes == NULL) fail_msg("method %s has no sizes", method->name);
        for (size_t k = 0; k < method->n_params; k++) {
            const sn_param *param = &method->params[k];
            assert_non_null(param->help);
            for (size_t c = 0; c < sn_common_param_count; c++)
                assert_string_not_equal(param->name, sn_common_params[c].name);
            OK(stonet_spec_set(spec, param->name, param->initial));
        }
        SN_BLOCK char *text = stonet_spec_json(spec);
        assert_non_null(text);
    }
    for (size_t i = 0; i < sn_learner_count(); i++)
        if (sn_learner_at(i)->sizes == NULL) fail_msg("learner %s has no sizes", sn_learner_at(i)->name);
}

static char *write_config(const char *text)
{
    static char path[256];
    sn_testing_path(path, sizeof path, "config.json");
    OK(stonet_bytes_write(path, text, strlen(text)));
    return path;
}

TEST(config_files_round_trip)
{
    SN_AUTO(stonet_spec) *spec = NULL, *back = NULL;
    const char *path =
        write_config("{\"method\": \"sir\", \"dim\": 3, \"scale\": \"none\", \"learner\": \"logistic\","
                     " \"settings\": {\"slices\": 7}, \"learner_settings\": {\"l2\": 0.125}}");
    OK(stonet_spec_read(path, &spec));
    assert_string_equal(spec->method->name, "sir");
    assert_int_equal(sn_int(spec->common, "dim"), 3);
    assert_true(sn_is(spec->common, "scale", "none"));
    assert_int_equal(sn_int(spec->settings, "slices"), 7);
    assert_true(sn_real(spec->learner_settings, "l2") == 0.125);
    SN_BLOCK char *text = stonet_spec_json(spec);
    OK(stonet_spec_read(write_config(text), &back));
    SN_BLOCK char *again = stonet_spec_json(back);
    assert_string_equal(text, again);
    SN_AUTO(stonet_spec) *copy = NULL;
    OK(stonet_spec_copy(spec, &copy));
    SN_BLOCK char *of_copy = stonet_spec_json(copy);
    assert_string_equal(text, of_copy);
    remove(path);
}

TEST(numbers_survive_the_config_exactly)
{
    static const char *const VALUES[] = {"0.1", "1e-7", "0.30000000000000004", "1234.5678901234567", "3"};
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++) {
        SN_AUTO(stonet_spec) *spec = sn_testing_spec_of("pca learner=logistic"), *back = NULL;
        OK(stonet_spec_set(spec, "learner.l2", VALUES[i]));
        SN_BLOCK char *text = stonet_spec_json(spec);
        const char *path = write_config(text);
        OK(stonet_spec_read(path, &back));
        assert_true(sn_real(back->learner_settings, "l2") == strtod(VALUES[i], NULL));
        remove(path);
    }
}

TEST(bad_configs_are_named_with_their_file)
{
    static const struct {
        const char *text;
        stonet_status status;
        const char *words;
    } BAD[] = {
        {"", STONET_ERROR_FORMAT, "not valid JSON"},
        {"{\"method\": \"pca\"", STONET_ERROR_FORMAT, "not valid JSON"},
        {"{\"method\": \"pca\", \"method\": \"sir\"}", STONET_ERROR_FORMAT, "duplicate"},
        {"[]", STONET_ERROR_ARGUMENT, "method"},
        {"{\"dim\": 2}", STONET_ERROR_ARGUMENT, "method"},
        {"{\"method\": 3}", STONET_ERROR_ARGUMENT, "method"},
        {"{\"method\": \"nope\"}", STONET_ERROR_ARGUMENT, "nope"},
        {"{\"method\": \"pca\", \"dim\": -1}", STONET_ERROR_ARGUMENT, "dim"},
        {"{\"method\": \"pca\", \"dim\": 1.5}", STONET_ERROR_ARGUMENT, "dim"},
        {"{\"method\": \"pca\", \"dim\": null}", STONET_ERROR_ARGUMENT, "dim"},
        {"{\"method\": \"sir\", \"slices\": 3}", STONET_ERROR_ARGUMENT, "inside"},
        {"{\"method\": \"sir\", \"settings\": {\"slice\": 3}}", STONET_ERROR_ARGUMENT, "slices"},
        {"{\"method\": \"sir\", \"settings\": {\"slices\": {}}}", STONET_ERROR_ARGUMENT, "slices"},
        {"{\"method\": \"sir\", \"settings\": {\"slices\": []}}", STONET_ERROR_ARGUMENT, "slices"},
        {"{\"method\": \"sir\", \"settings\": 3}", STONET_ERROR_ARGUMENT, "settings"},
        {"{\"method\": \"sir\", \"learner_settings\": {\"l2\": 1}}", STONET_ERROR_ARGUMENT, "learner"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        stonet_spec *spec = NULL;
        const char *path = write_config(BAD[i].text);
        assert_says(stonet_spec_read(path, &spec), BAD[i].status, BAD[i].words);
        assert_non_null(strstr(stonet_last_error(), path));
        assert_null(spec);
        remove(path);
    }
    stonet_spec *spec = NULL;
    assert_says(stonet_spec_read("/nonexistent/x.json", &spec), STONET_ERROR_IO, "/nonexistent/x.json");
    assert_says(stonet_spec_read("/tmp", &spec), STONET_ERROR_IO, "folder");
}

TEST(methods_json_has_every_method_and_setting)
{
    SN_BLOCK char *text = stonet_methods_json();
    SN_AUTO(json_t) *all = json_loads(text, 0, NULL);
    assert_non_null(all);
    json_t *methods = json_object_get(all, "methods");
    assert_int_equal(json_array_size(methods), sn_method_count());
    for (size_t i = 0; i < sn_method_count(); i++) {
        json_t *method = json_array_get(methods, i);
        assert_string_equal(json_string_value(json_object_get(method, "name")), sn_method_at(i)->name);
        assert_int_equal(json_array_size(json_object_get(method, "settings")), sn_method_at(i)->n_params);
        assert_true(json_array_size(json_object_get(method, "tasks")) > 0);
    }
    assert_int_equal(json_array_size(json_object_get(all, "learners")), sn_learner_count());
    assert_int_equal(json_array_size(json_object_get(all, "common")), sn_common_param_count);
}

RUN_TESTS(NULL, NULL)
