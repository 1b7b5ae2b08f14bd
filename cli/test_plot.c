/* --plot of transform, fit and compare. */
#include "cli/test_support.h"

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("full.csv", 200, 3);
    SH("cut -d, -f1-4 full.csv > t.csv; cut -d, -f1-3,5 full.csv > c.csv");
    return 0;
}

static int64_t count_of(const char *path, const char *word)
{
    SH("cat %s", path);
    assert_int_equal(strncmp(captured_out, "<svg", 4), 0);
    int64_t count = 0;
    for (const char *at = strstr(captured_out, word); at != NULL; at = strstr(at + 1, word)) count++;
    return count;
}

/* A dot for each row and one for each entry of the legend: fifths of a number, or classes. */
TEST(z_is_drawn_by_the_response)
{
    SH("stonet fit t.csv --target y --method sir --dim 2 --quiet --out m --plot fit.svg");
    assert_int_equal(count_of("fit.svg", "<circle"), 200 + 5);
    SH("stonet transform m t.csv --target y --plot by.svg --out z.csv; stonet transform m t.csv --plot "
       "plain.svg");
    assert_int_equal(count_of("by.svg", "<circle"), 200 + 5);
    assert_int_equal(count_of("plain.svg", "<circle"), 200);
    SH("stonet fit c.csv --target label --method sir --dim 1 --quiet --out k --plot classes.svg");
    assert_int_equal(count_of("classes.svg", "<circle"), 200 + 3);
    assert_non_null(strstr(captured_out, ">mid</text>"));
    SH("stonet transform k c.csv --target label --plot classes.svg --out z.csv");
    assert_int_equal(count_of("classes.svg", "<circle"), 200 + 3);
}

/* A number needs one column of Z: the second shows what else the units see. */
TEST(a_column_without_effect_says_so)
{
    sh_prints(
        "stonet fit t.csv --target y --dim 2 --set epochs=4 --quiet --out m --plot fit.svg && cat fit.svg",
        "Z1 (100% of the effect on the output)");
    assert_non_null(strstr(captured_out, "Z2 (no effect on the output)"));
}

TEST(the_training_curve_stands_beside)
{
    SH("stonet fit t.csv --target y --dim 1 --set epochs=3 --set hidden=4 --quiet --out m --plot fit.svg");
    sh_prints("cat fit.svg", ">training loss</text>");
    assert_non_null(strstr(captured_out, ">response</text>"));
}

TEST(comparisons_are_bars)
{
    SH("stonet compare t.csv --target y --methods sir,pca --dim 1,auto --folds 3 --quiet --plot bars.svg");
    sh_prints("cat bars.svg", ">sir auto</text>");
    assert_non_null(strstr(captured_out, ">pca 1</text>"));
    sh_refused("stonet compare t.csv t.csv --target y --methods sir --plot bars.svg", 2,
               "--plot goes with one DATA");
    assert_int_equal(sh("stonet transform m t.csv --plot nowhere/z.svg"), 1);
    assert_string_equal(captured_out, "");
}

RUN_TESTS(set_up, leave_test_folder)
