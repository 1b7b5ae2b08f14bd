/* stonet order. */
#include "cli/test_support.h"

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("full.csv", 300, 3);
    SH("cut -d, -f1-4 full.csv > numbers.csv; cut -d, -f1,2,3,5 full.csv > classes.csv");
    return 0;
}

TEST(a_table_and_a_sentence)
{
    sh_prints("stonet order numbers.csv --target y --method sir --set slices=5", "k  criterion");
    assert_non_null(strstr(captured_out, "<- chosen\n"));
    assert_non_null(strstr(captured_out, "\nchosen: 1 (ladle): "));
    SH("stonet order numbers.csv --target y --method sir --set slices=5 --threads 1 > one; stonet order "
       "numbers.csv --target y --method sir --set slices=5 --threads 2 | cmp - one");
}

TEST(json_and_a_picture)
{
    SN_AUTO(json_t) *found = JSON_OF(
        "stonet order classes.csv --target label --method mave --rule cv --max 2 --folds 3 --json --quiet "
        "--plot o.svg");
    assert_string_equal(json_string_value(json_object_get(found, "rule")), "cv");
    assert_true(json_integer_value(json_object_get(found, "chosen")) >= 1);
    assert_true(strlen(json_string_value(json_object_get(found, "reason"))) > 20);
    const json_t *rows = json_object_get(found, "rows");
    assert_int_equal(json_array_size(rows), 3);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 2), "k")), 2);
    assert_true(json_is_real(json_object_get(json_array_get(rows, 0), "loss")));
    SH("cat o.svg");
    assert_int_equal(strncmp(captured_out, "<svg", 4), 0);
    assert_non_null(strstr(captured_out, "dimension k"));
}

TEST(the_dimension_of_a_fit_can_be_left_open)
{
    sh_notes("stonet fit numbers.csv --target y --method sir --dim auto --set slices=5 --out m.model",
             "dimension 1, chosen by ladle");
    SH("stonet transform m.model numbers.csv");
    assert_memory_equal(captured_out, "z1\n", 3);
}

/* Principal components do not look at a response; a rule that must predict one says that it is missing. */
TEST(components_need_no_response)
{
    sh_prints("stonet order numbers.csv --method pca --json --quiet", "\"ladle\"");
    sh_refused("stonet order numbers.csv --method pca --rule cv --quiet", 1, "target");
}

/* The dimension is chosen anew in each training part, for the methods side by side and more than one set. */
TEST(compare_chooses_too)
{
    SN_AUTO(json_t) *rows = JSON_OF(
        "stonet compare numbers.csv --target y --methods sir,ksir --dim 1,auto --folds 3 --set sir:slices=5 "
        "--json --quiet");
    assert_int_equal(json_array_size(rows), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *row = json_array_get(rows, i);
        assert_int_equal(json_integer_value(json_object_get(row, "dim")), i % 2 == 0 ? 1 : 0);
        assert_true(json_is_null(json_object_get(row, "failure")));
        assert_int_equal(json_array_size(json_object_get(row, "chosen")), i % 2 == 0 ? 0 : 3);
    }
    sh_prints("stonet compare numbers.csv numbers.csv --target y --methods sir --dim auto --folds 2 --quiet",
              " auto ");
    sh_refused("stonet compare numbers.csv --target y --methods sir --dim auto --tune", 2,
               "either chosen or tuned");
}

TEST(mistakes_are_said)
{
    static const struct {
        const char *call;
        int status;
        const char *sentence;
    } cases[] = {
        {"numbers.csv --target y --rule ladel", 2, "no rule 'ladel': choose auto, cv, ladle"},
        {"numbers.csv --method sir", 2, "the response is missing"},
        {"numbers.csv --target y --method gsir --rule tests", 1, "use cv or independence"},
        {"numbers.csv --target y --method sir --max -1", 2, "--max takes a whole number"},
        {"numbers.csv --target y --method sir --level 2", 2, "--level"},
        {"numbers.csv --target y --method sir --plot nowhere/o.svg", 1, "nowhere"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(sh("stonet order %s", cases[i].call), cases[i].status);
        if (strstr(captured_err, cases[i].sentence) == NULL) fail_msg("%s", captured_err);
        assert_string_equal(captured_out, "");
    }
}

RUN_TESTS(set_up, leave_test_folder)
