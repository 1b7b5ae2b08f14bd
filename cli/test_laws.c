/* Censored times, intervals and counts on the command line, from the file to the prediction. */
#include "cli/test_support.h"

static const char FIT[] = "stonet fit t.csv --features 1-3 --dim 1 --set epochs=3 --set weight_decay=0.01 "
                          "--set activation=tanh --set front=none --quiet";

static int set_up(void **state)
{
    (void)state;
    if (enter_test_folder() != 0) return -1;
    write_table("all.csv", 300, 1);
    /* time, event, low and high (open in every third row), count, exposure */
    return sh(
        "awk -F, -v OFS=, 'NR == 1 { print $0, \"time,event,low,high,count,years\"; next } { t = exp($4); "
        "seen = (NR %% 3 > 0); print $0, t, seen, t / 2, (seen ? 2 * t : \"\"), int(t), 1 + NR %% 2 }' all.csv "
        "> t.csv");
}

static int tear_down(void **state)
{
    (void)state;
    return leave_test_folder();
}

static void every_response_is_fitted_scored_and_predicted(void **state)
{
    (void)state;
    SH("%s --target time --event event --out m && stonet score m t.csv && stonet predict m t.csv --times 1,2",
       FIT);
    assert_non_null(strstr(captured_out, "concordance"));
    assert_non_null(strstr(captured_out, "median,beyond_1,beyond_2,mean_to_2"));
    SH("%s --target-low low --target-high high --out m && stonet score m t.csv", FIT);
    assert_non_null(strstr(captured_out, "log_likelihood"));
    SH("%s --target count --exposure years --out m && stonet score m t.csv", FIT);
    assert_non_null(strstr(captured_out, "deviance_explained"));
    SH("%s --target count --set task=ordinal --out m && stonet score m t.csv", FIT);
    assert_non_null(strstr(captured_out, "kappa"));
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    SH("%s --target time --event event --threads 1 --out one", FIT);
    SH("%s --target time --event event --threads 7 --out seven && cmp one seven", FIT);
}

static void what_does_not_go_together_is_said(void **state)
{
    (void)state;
    assert_int_equal(sh("%s --event event --out m", FIT), 2);
    assert_int_equal(sh("%s --target time --event event --exposure years --out m", FIT), 2);
    assert_int_not_equal(sh("%s --target time --event count --out m", FIT), 0);
    assert_non_null(strstr(captured_err, "an event is 1 (seen) or 0 (censored)"));
    SH("%s --target time --event event --out m", FIT);
    assert_int_equal(sh("stonet predict m t.csv --times one"), 2);
    assert_int_not_equal(sh("stonet predict m t.csv --times 2,1"), 0);
    assert_int_not_equal(sh("stonet order t.csv --target time,event --set task=survival"), 0);
    assert_non_null(strstr(captured_err, "task=survival"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_response_is_fitted_scored_and_predicted),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(what_does_not_go_together_is_said),
    };
    return cmocka_run_group_tests_name("cli_laws", tests, set_up, tear_down);
}
