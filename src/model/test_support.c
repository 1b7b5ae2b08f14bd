/* Columns a model does not look at: said in every way, kept in the file, and true. */
#include "base/json.h"
#include "base/test_kit.h"
#include "model/test_table.h"

enum { N = 90, P = 5 };

/* Column 0 says all there is to say; the penalty is given, so that one path is walked and nothing compared.
 */
#define WITH(select) "stonet 1 select_penalty=1 epochs=3 weight_decay=0 select=" select

static void check_names(const stonet_model *model, const char *name)
{
    SN_BLOCK char *text = stonet_model_json(model);
    SN_AUTO(json_t) *about = json_loads(text, 0, NULL);
    const json_t *support = json_object_get(about, "support");
    assert_int_equal(json_array_size(support), name != NULL ? 1 : P);
    if (name != NULL) assert_string_equal(json_string_value(json_array_get(support, 0)), name);
}

TEST(test_support)
{
    SN_TABLE table = sn_table_numbers(N, P, 1, 4);
    SN_AUTO(stonet_model) *all = sn_testing_fit(WITH("none"), table.data, NULL),
                          *some = sn_testing_fit(WITH("group"), table.data, NULL),
                          *again = sn_testing_again(some);
    unsigned char used[P];
    assert_int_equal(stonet_model_support(all, NULL), P);
    check_names(all, NULL);
    assert_int_equal(stonet_model_support(some, used), 1);
    for (int j = 0; j < P; j++) assert_int_equal(used[j], j == 0);
    check_names(some, "x1");
    assert_int_equal(stonet_model_support(NULL, used), 0);

    memset(used, 7, sizeof used);
    assert_int_equal(stonet_model_support(again, used), 1);
    for (int j = 0; j < P; j++) assert_int_equal(used[j], j == 0);

    /* Whatever stands in the other columns. */
    double before[N], after[N];
    OK(stonet_predict(again, table.data, NULL, before));
    for (int i = 0; i < N; i++)
        for (int j = 1; j < P; j++) table.x[i * P + j] = (float)(100 * j - i);
    OK(stonet_predict(again, table.data, NULL, after));
    assert_memory_equal(before, after, sizeof before);
}

RUN_TESTS(NULL, NULL)
