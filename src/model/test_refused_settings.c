/* Settings that do not go together, and what a network cannot be: refused when it is fitted, by a sentence
   that names them. */
#include "base/json.h"
#include "base/test_kit.h"
#include "base/test_nodes.h"
#include "model/test_table.h"

typedef struct choice {
    const char *settings;
    const char *words; /* of the sentence; NULL: it is fitted */
} choice;

static const choice CHOICES[] = {
    {"sigma2=0.1", "both 'sigma2' and 'epsilon'"},
    {"epsilon=0.1", "both 'sigma2' and 'epsilon'"},
    {"sigma2=0.1,0.1 epsilon=0.01", "'sigma2' has 2 values"},
    {"sigma2=0.1 epsilon=0.01,0.1,0.1", "'epsilon' has 3 values"},
    {"sigma2=0.1 epsilon=0.01 eta=1000", "eta times epsilon"},
    {"sigma2=0.1 epsilon=0.001 eta=1", NULL},
    {"sigma2=0.001,0.01,0.1 epsilon=0.001,0.002", NULL},
    {"eta=1", "'eta' belongs to the absolute form"},
    {"gamma=0.1 lr=0.1", "'gamma' or 'lr', not both"},
    {"gamma=0.1,0.1", "'gamma' has 2 values"},
    {"gamma=1e-7", NULL},
    {"output=refit response=location-scale", "output=refit"},
    {"hidden=2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2", "'hidden' has 34 layers"},
    {"start=forward", NULL},
    {"schedule=power integrator=euler", NULL},
    {"schedule=constant layer_step=residual", NULL},
    {"schedule=averaged sdr_iterations=0", NULL},
    {"input_activation=tanh", NULL},
    {"hidden=none", NULL},
    {"hidden=auto", NULL},
    {"front=kernel front_complexity=1 front_linear=0.5 front_landmarks=5", NULL},
    {"front=kernel hidden=auto", NULL},
    {"front=conv", "image"},
    {"front=conv front_image=2,3", "an image of 6 numbers"},
    {"front=conv front_image=4", "image"},
    {"engine=ref l1=0.01", NULL},
    {"task=classification", ""},
    {"learner=logistic", "logistic"},
    {"class_weight=balanced", ""},
    {"missing=error missing_indicators=on", ""},
    {"dim=1000 hidden=none", NULL},
};

TEST(networks)
{
    SN_TABLE table = sn_table_numbers(30, 4, 1, 3);
    stonet_run run = STONET_RUN_INIT;
    run.threads = 1;
    for (size_t k = 0; k < sizeof CHOICES / sizeof *CHOICES; k++) {
        SN_AUTO(stonet_spec) *spec =
            sn_testing_spec_of("stonet 1 hidden=2 epochs=2 activation=tanh weight_decay=0 front=none");
        sn_testing_set(spec, CHOICES[k].settings);
        SN_AUTO(stonet_model) *model = NULL;
        const stonet_status status = stonet_fit(spec, table.data, &run, &model);
        const bool refused = CHOICES[k].words != NULL && CHOICES[k].words[0] != '\0';
        if ((refused && (status == STONET_OK || strstr(stonet_last_error(), CHOICES[k].words) == NULL)) ||
            (CHOICES[k].words == NULL && status != STONET_OK))
            fail_msg("%s: %s", CHOICES[k].settings, status == STONET_OK ? "fitted" : stonet_last_error());
    }
}

static long accepted, refused;

/* What is taken is written as it was meant: the text of the spec makes the same spec again. */
static void parse(const json_t *whole, void *user)
{
    (void)user;
    SN_BLOCK char *text = json_dumps(whole, 0);
    SN_AUTO(stonet_spec) *spec = NULL, *again = NULL;
    if (stonet_spec_parse(text, &spec) == STONET_OK) {
        SN_BLOCK char *first = stonet_spec_json(spec);
        assert_non_null(first);
        if (stonet_spec_parse(first, &again) != STONET_OK) fail_msg("%s: %s", first, stonet_last_error());
        SN_BLOCK char *second = stonet_spec_json(again);
        assert_string_equal(first, second);
        accepted++;
    } else {
        assert_true(strlen(stonet_last_error()) > 10);
        refused++;
    }
}

TEST(configs)
{
    SN_AUTO(json_t) *whole =
        json_loads("{\"method\": \"stonet\", \"dim\": 2, \"scale\": \"none\", \"learner\": \"mlp\","
                   " \"settings\": {\"hidden\": [3, 2], \"lr\": 0.1, \"sigma2\": [0.1, 1e-7], "
                   "\"activation\": \"tanh\", \"epochs\": \"auto\", \"seed_text\": 1},"
                   " \"learner_settings\": {\"epochs\": 3, \"hidden\": [4]}}",
                   0, NULL);
    assert_non_null(whole);
    json_object_del(json_object_get(whole, "settings"), "seed_text");
    test_each_node(&(test_nodes){.whole = whole, .look = parse}, whole);
    assert_true(accepted > 20 && refused > 100);
    char text[4000];
    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    json_object_set_new(json_object_get(whole, "settings"), "hidden", json_string(text));
    parse(whole, NULL);
    const long before = accepted; /* names of columns may be long */
    json_object_set_new(whole, "curves_columns", json_sprintf("%05000d-x", 1));
    json_object_del(json_object_get(whole, "settings"), "hidden");
    parse(whole, NULL);
    assert_int_equal(accepted, before + 1);
    json_t *list = json_array();
    for (int i = 0; i < 3000; i++) json_array_append_new(list, json_integer(1000000 + i));
    json_object_set_new(json_object_get(whole, "settings"), "hidden", list);
    parse(whole, NULL);
    json_object_set_new(json_object_get(whole, "settings"), "hidden", json_loads("[true]", 0, NULL));
    parse(whole, NULL);
}

RUN_TESTS(NULL, NULL)
