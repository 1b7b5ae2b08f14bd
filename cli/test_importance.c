/* stonet importance. */
#include "cli/test_support.h"

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("full.csv", 200, 3);
    SH("cut -d, -f1-4 full.csv > t.csv; stonet fit t.csv --target y --dim 2 --method sir --quiet --out m");
    return 0;
}

TEST(largest_first_with_a_picture)
{
    SH("stonet importance m t.csv --target y --plot i.svg");
    assert_memory_equal(captured_out, "variable  importance", strlen("variable  importance"));
    const char *a = strstr(captured_out, "\na "), *c = strstr(captured_out, "\nc ");
    assert_true(a != NULL && c != NULL && a < c);
    SH("cat i.svg");
    assert_int_equal(strncmp(captured_out, "<svg", 4), 0);
    SN_AUTO(json_t) *rows =
        JSON_OF("stonet importance m t.csv --target y --kind shapley --repeats 4 --json --quiet");
    assert_int_equal(json_array_size(rows), 3);
    assert_true(json_is_real(json_object_get(json_array_get(rows, 0), "se")));
}

TEST(refits_take_the_training_rows)
{
    SN_AUTO(json_t) *rows =
        JSON_OF("stonet importance m t.csv --target y --kind refit --train t.csv --json --quiet");
    assert_int_equal(json_array_size(rows), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "variable")), "a");
    assert_true(json_real_value(json_object_get(json_array_get(rows, 0), "importance")) > 0.1);
    assert_true(fabs(json_real_value(json_object_get(json_array_get(rows, 2), "importance"))) < 0.1);
}

TEST(stability_names_what_it_selects)
{
    sh_notes("stonet importance m t.csv --target y --kind stability --repeats 1",
             "1 of 3 variables are selected (a share of 0.75 and more): a\n");
    sh_notes("stonet fit t.csv --target y --dim 1 --set select=group --set select_penalty=1 --set epochs=2 "
             "--set weight_decay=0 --out s",
             "looks at 1 of 3 columns: a\n");
    SN_AUTO(json_t) *rows = JSON_OF("stonet importance s t.csv --target y --json --quiet");
    assert_true(json_real_value(json_object_get(json_array_get(rows, 1), "importance")) == 0.0);
}

TEST(mistakes_are_said)
{
    sh_refused("stonet importance m t.csv --target y --kind magic", 2, "no kind of importance 'magic'");
    SH("stonet importance m t.csv > own.txt && stonet importance m t.csv --target y | cmp - own.txt");
    sh_refused("stonet importance m t.csv --target y --kind refit", 2, "give --train FILE");
    assert_int_equal(sh("stonet importance m t.csv --target y --kind stability --train t.csv"), 2);
    assert_int_equal(sh("stonet importance m t.csv --target nothing"), 2);
    assert_string_equal(captured_out, "");
}

RUN_TESTS(set_up, leave_test_folder)
