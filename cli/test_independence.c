/* stonet independence and score --sufficiency, through the shell. */
#include "cli/test_support.h"

enum { ROWS = 300 };

static double number_in_json(const char *key)
{
    SN_AUTO(json_t) *json = captured_json();
    assert_true(json_is_number(json_object_get(json, key)));
    return json_number_value(json_object_get(json, key));
}

static void assert_text_in_json(const char *key, const char *expected)
{
    SN_AUTO(json_t) *json = captured_json();
    assert_string_equal(json_string_value(json_object_get(json, key)), expected);
}

TEST(dependence_is_found)
{
    static const char *const how[] = {"",
                                      "--approx hbe",
                                      "--approx gamma",
                                      "--approx chi2",
                                      "--approx perm --permutations 199",
                                      "--test dcor --permutations 199",
                                      "--test rit --repeats 5",
                                      "--features 8 --threads 1"};
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        SH("stonet independence table.csv --x a --y y --json %s", how[i]);
        assert_true(number_in_json("p_value") <= 0.005);
        assert_true(number_in_json("statistic") > 0.0);
        assert_int_equal((int)number_in_json("n"), ROWS);
        SH("stonet independence table.csv --x b --y c --json %s", how[i]);
        assert_true(number_in_json("p_value") > 0.01);
    }
    /* the text column is made of y */
    SH("stonet independence table.csv --x label --y y --json");
    assert_true(number_in_json("p_value") < 1e-6);
    SH("stonet independence table.csv --x label --y c --json");
    assert_true(number_in_json("p_value") > 0.01);
}

TEST(conditioning)
{
    const char *const tests[] = {"rcit", "rcot", "gcm"};
    for (int i = 0; i < 3; i++) {
        const char *test = tests[i];
        SH("stonet independence table.csv --x label --y a,b --given y --test %s --json", test);
        assert_true(number_in_json("p_value") > 0.01);
        assert_text_in_json("test", test);
        SH("stonet independence table.csv --x a --y y --given b,c --test %s --json", test);
        assert_true(number_in_json("p_value") < 1e-3);
    }
    SH("stonet independence table.csv --x a --y y --given b --json");
    assert_text_in_json("test", "gcm");
}

TEST(censored_times_are_refused)
{
    sh_refused("stonet independence table.csv --x a --y y --event b", 2,
               "times that were cut short (--event b) cannot be tested");
}

TEST(columns_by_name_number_and_range)
{
    static char by_name[MAX_CAPTURED];
    SH("stonet independence table.csv --x a,b,c --y y");
    memcpy(by_name, captured_out, sizeof by_name);
    assert_non_null(strstr(captured_out, "p_value"));
    static const char *const same[] = {"--x 1-3 --y 4", "--x 1,2-3 --y y", "--x c,a,b --y 4-4",
                                       "--x=1-3,2 --y=y"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        SH("stonet independence table.csv %s", same[i]);
        assert_string_equal(captured_out, by_name);
    }
    SH("stonet independence table.csv --x 1-3 --y y --seed 2");
    assert_string_not_equal(captured_out, by_name);
}

static void assert_refused(const char *arguments, int exit_status, const char *words)
{
    char command[200];
    snprintf(command, sizeof command, "stonet independence table.csv %s", arguments);
    sh_refused(command, exit_status, words);
    assert_string_equal(captured_out, "");
}

/* The law that is printed is the one that was used. */
TEST(permutations_are_named)
{
    SH("awk 'BEGIN {srand(1); print \"a,b\"; for (i = 0; i < 1000; i++) print rand() \",\" rand()}' > "
       "long.csv");
    SH("head -61 long.csv > short.csv && stonet independence short.csv --x a --y b | grep -F 'rit (perm)'");
    SH("stonet independence short.csv --x a --y b --json | grep '\"approx\": \"perm\"'");
    SH("stonet independence long.csv --x a --y b | grep -F 'rit (lpb4)'");
    SH("stonet independence long.csv --x a --y b --test dcor --permutations 9 | grep -F 'dcor (perm)'");
}

TEST(mistakes_are_told)
{
    assert_refused("--x a", 2, "--y COLS is missing");
    assert_refused("--y a", 2, "--x COLS is missing");
    assert_refused("--x a --y labell", 1, "did you mean 'label'");
    assert_refused("--x 0 --y y", 1, "'0' is not within the columns 1 to 5");
    assert_refused("--x 4-6 --y a", 1, "'4-6' is not within");
    assert_refused("--x 3-2 --y a", 1, "'3-2' is not within");
    assert_refused("--x 99999999999999999999 --y a", 1, "there is no column");
    assert_refused("--x a,,b --y y", 1, "there is no column ''");
    assert_refused("--x a,b --y b", 1, "column 'b' is in both --x and --y");
    assert_refused("--x a --y y --given y,c", 1, "column 'y' is in both --y and --given");
    assert_refused("--x a --y y --test rcit", 2, "none are given");
    assert_refused("--x a --y y --given b --test dcor", 2, "do not condition");
    assert_refused("--x a --y y --test spearman", 2, "auto, rit, rcit, rcot, gcm or dcor");
    assert_refused("--x a --y y --approx exact", 2, "lpb4, hbe, gamma, chi2 or perm");
    assert_refused("--x a --y y --repeats 0", 2, "--repeats takes");
}

TEST(sufficiency_of_a_model)
{
    SH("stonet fit table.csv --target y --method sir --dim 2 --out sir.model --quiet");
    SH("stonet score sir.model table.csv --target y --sufficiency --json --quiet");
    double p = number_in_json("sufficiency_p_value");
    assert_true(p >= 0.0 && p <= 1.0);
    double second = number_in_json("prediction_p_value");
    assert_true(second >= 0.0 && second <= 1.0);
    assert_true(fabs(number_in_json("explained_by_z_and_x") - number_in_json("explained_by_z") -
                     number_in_json("lost")) < 1e-9);
    sh_prints("stonet score sir.model table.csv --target y --sufficiency --quiet --threads 1",
              "sufficiency_p_value");
}

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("table.csv", ROWS, 3);
    return 0;
}

RUN_TESTS(set_up, leave_test_folder)
