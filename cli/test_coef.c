/* stonet coef. */
#include "cli/test_support.h"

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("full.csv", 200, 3);
    SH("cut -d, -f1-4 full.csv > t.csv; stonet fit t.csv --target y --dim 2 --method sir --quiet --out m");
    SH("stonet fit t.csv --target y --dim 1 --method ksir --quiet --out k");
    return 0;
}

TEST(directions_in_three_forms)
{
    SH("stonet coef m");
    assert_memory_equal(captured_out, "feature", strlen("feature"));
    assert_non_null(strstr(captured_out, "\na "));
    SH("stonet coef m t.csv --target y --se --csv --quiet");
    assert_memory_equal(captured_out, "feature,z1,z1_se,z2,z2_se\na,", 28);
    SN_AUTO(json_t) *all = JSON_OF("stonet coef m t.csv --target y --se --json --quiet");
    assert_string_equal(json_string_value(json_object_get(all, "kind")), "directions");
    assert_int_equal(json_integer_value(json_object_get(all, "pairs")), 25);
    assert_int_equal(json_array_size(json_object_get(all, "rows")), 3);
}

TEST(gradients_need_rows)
{
    sh_refused("stonet coef k", 1, "give rows");
    sh_prints("stonet coef k t.csv", "direction1");
    assert_non_null(strstr(captured_out, "\n(share)"));
    sh_refused("stonet coef k t.csv --target y --se", 1, "only directions have standard errors");
}

TEST(mistakes_are_said)
{
    sh_refused("stonet coef m --se", 2, "--se needs the rows");
    assert_int_equal(sh("stonet coef m --target y"), 2);
    assert_int_equal(sh("stonet coef m t.csv --se --target y --target-file t.csv"), 2);
    assert_int_equal(sh("stonet coef nothing"), 1);
    assert_string_equal(captured_out, "");
}

RUN_TESTS(set_up, leave_test_folder)
