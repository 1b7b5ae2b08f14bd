/* Rows that count differently, rows with gaps, and rows that belong together, through the program. */
#include "cli/test_support.h"

/* w.csv has weights 0 .. 3, many.csv the rows so many times; gaps.csv lacks some cells of a. In people.csv
   each of 40 people has four nearly equal rows, and a response that has nothing to do with the features. */
static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    return sh(
        "awk -v OFS=, 'BEGIN {srand(3); print \"a,b,c,w,y,k\"; for (i = 0; i < 160; i++) {a = rand() - .5; b "
        "= "
        "rand() + a; y = a + b * b + .1 * rand(); print a, b, rand(), i * 7 %% 4, y, (y > .4 ? \"up\" : "
        "\"down\")}}' > w.csv"
        " && awk -F, -v OFS=, '{for (k = 0; k < (NR == 1 ? 1 : $4); k++) print $1, $2, $3, $5, $6}' w.csv "
        "> many.csv"
        " && awk -v OFS=, 'BEGIN {srand(5); print \"who,a,b,c,y\"; for (i = 0; i < 160; i++) {p = i %% 40; "
        "if "
        "(i < 40) {a[p] = rand(); b[p] = rand(); c[p] = rand(); y[p] = rand()} print 100 + p, a[p] + 1e-5 * "
        "rand(), b[p], c[p], y[p] + 1e-5 * rand()}}' > people.csv"
        " && cut -d, -f1-3,5 w.csv | awk -F, -v OFS=, 'NR > 1 && NR %% 3 == 0 {$1 = \"\"} 1' > gaps.csv");
}

TEST(whole_weights_are_repeated_rows)
{
    /* the kernel learner has landmarks at rows, of which a weight is one and a repeated row several */
    SH("stonet fit w.csv --target y --drop k --weights w --method sir --set slices=5 --learner linear --dim 1 --quiet --out "
       "w.model");
    SH("stonet fit many.csv --target y --drop k --method sir --set slices=5 --learner linear --dim 1 --quiet --out m.model");
    SH("stonet info w.model --json | tr -d ' \\n' | grep -o '\"inputs\":[^]]*]'");
    assert_string_equal(captured_out, "\"inputs\":[\"a\",\"b\",\"c\"]\n"); /* no feature */
    SH("stonet predict w.model w.csv > p.w && stonet predict m.model w.csv > p.m && paste -d, p.w p.m | awk "
       "-F, "
       "'NR > 1 && ($1 - $2) ^ 2 > 1e-8 {print}'");
    assert_string_equal(captured_out, "");
    SH("stonet score w.model w.csv --weights w --json > s.w; stonet score w.model many.csv --json > s.m; for "
       "f "
       "in s.w s.m; do grep -o '\"mse\": [0-9]*\\.[0-9]\\{6\\}' $f; done | uniq | wc -l");
    assert_int_equal(atoi(captured_out), 1);
    SH("stonet score w.model w.csv --json | grep -o '\"mse\": [0-9]*\\.[0-9]\\{6\\}' > s.p; grep -o "
       "'\"mse\": "
       "[0-9]*\\.[0-9]\\{6\\}' s.w | cmp -s - s.p; echo $?");
    assert_int_equal(atoi(captured_out), 1); /* without weights it is another */
}

/* Weights of 1 are none: the same file. */
TEST(weights_of_one_change_nothing)
{
    SH("awk -F, -v OFS=, '{if (NR > 1) $4 = 1; print}' w.csv > ones.csv");
    for (const char *how = "sir\0stonet --set epochs=3 --set hidden=4 --set restarts=1\0"; *how != '\0';
         how += strlen(how) + 1) {
        SH("stonet fit ones.csv --target y --drop k,w --method %s --dim 1 --quiet --out plain.model", how);
        SH("stonet fit ones.csv --target y --drop k --weights w --method %s --dim 1 --quiet --out one.model",
           how);
        SH("cmp plain.model one.model");
    }
}

TEST(weights_are_heeded_or_refused)
{
    static const char *const refused[] = {
        "fit w.csv --target y --drop k --weights w --method gsir --dim 1 --out o",
        "fit w.csv --target y --drop k --weights w --method sir --learner mlp --dim 1 --out o",
        "order w.csv --target y --drop k --weights w --method sir --rule ladle",
        "importance w.model w.csv --weights w --kind stability"};
    SH("stonet fit w.csv --target y --drop k --weights w --method sir --set slices=5 --dim 1 --quiet --out "
       "w.model");
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        if (sh("stonet %s", refused[k]) != 1) fail_msg("%s: %s", refused[k], captured_err);
        if (strstr(captured_err, "no weighted form") == NULL) fail_msg("%s: %s", refused[k], captured_err);
    }
    assert_int_not_equal(sh("stonet fit w.csv --target y --weights v --method sir --dim 1 --out o"), 0);
    assert_non_null(strstr(captured_err, "has no column 'v'"));
    SH("stonet importance w.model w.csv --weights w --kind gradient");
    SH("stonet fit w.csv --target k --drop y --weights w --method none --dim 1 --quiet --out k.model");
    sh_notes("stonet calibrate k.model w.csv --target k --weights w --folds 3 --out c.model",
             "intervals and sets hold for rows as they come");
    SH("stonet fit w.csv --target k --drop y,w --set class_weight=balanced --method none --dim 1 --quiet "
       "--out b");
    assert_int_equal(
        sh("stonet fit w.csv --target y --drop k --set class_weight=balanced --method none --dim 1 --out b"),
        2);
    assert_non_null(strstr(captured_err, "class_weight=balanced is for classes"));
}

TEST(gaps_leave_something_open)
{
    sh_notes(
        "stonet fit gaps.csv --target y --dim 1 --set epochs=4 --set hidden=4 --set weight_decay=0.01 --set "
        "activation=tanh --set restarts=1 --set front=none --out g.model",
        "cells are missing, in 53 of 160 rows (a 53)");
    SH("stonet predict g.model gaps.csv > plain.csv && stonet predict g.model gaps.csv --missing-sd > "
       "sd.csv");
    SH("head -1 sd.csv");
    assert_string_equal(captured_out, "prediction,missing_sd\n");
    SH("cut -d, -f1 sd.csv | cmp - plain.csv"); /* the numbers are the same */
    SH("awk -F, 'NR > 1 && (NR %% 3 == 0) != ($2 > 0) {print}' sd.csv");
    assert_string_equal(captured_out, "");
    SH("stonet transform g.model gaps.csv > z.csv && stonet predict g.model gaps.csv --missing-sd --json | "
       "grep -c "
       "missing_sd");
    assert_int_equal(atoi(captured_out), 160);
    assert_int_equal(sh("stonet predict g.model gaps.csv --missing-sd --spread"), 2);
    SH("stonet fit gaps.csv --target y --method sir --set slices=5 --dim 1 --quiet --out s.model");
    SH("stonet predict s.model gaps.csv --missing-sd | awk -F, 'NR > 1 && $2 != 0' | wc -l");
    assert_int_equal(atoi(captured_out), 0); /* what is expected is not drawn */
    sh_notes("stonet fit gaps.csv --target y --method sir --set slices=5 --dim 1 --set missing=error --out "
             "e.model; "
             "test $? = 1",
             "missing=error refuses them");
}

/* The held-out error of the only method in the last comparison. */
static double compared(void)
{
    const char *mse = strstr(captured_out, "\"mean\":");
    assert_non_null(mse);
    return strtod(mse + 7, NULL);
}

TEST(groups_are_never_parted)
{
    SH("stonet compare people.csv --target y --drop who --methods gsir --dim 1 --json --quiet");
    const double parted = compared();
    SH("stonet compare people.csv --target y --group who --methods gsir --dim 1 --json --quiet");
    const double together = compared();
    assert_true(parted < 0.05 && together > 0.05); /* the variance of the response is 1/12 */
    SH("stonet tune people.csv --target y --group who --method gsir --dim 1 --grid complexity=1 --json "
       "--quiet");
    assert_true(compared() > 0.05);
    sh_prints("stonet order people.csv --target y --group who --method gsir --rule cv --max 1 --json --quiet",
              "\"chosen\": 0");
    /* The same from shards, and by the number of the column. */
    SH("stonet shard people.csv --target y --group who --out people.shards --quiet && stonet compare "
       "people.shards --target y --methods gsir --dim 1 --json --quiet");
    assert_true(compared() == together);
    SH("stonet compare people.csv --target 5 --header yes --group 1 --methods gsir --dim 1 --json --quiet");
    assert_true(compared() == together);
    sh_refused("stonet compare people.shards --target y --group who --methods gsir --dim 1", 2,
               "give --group to 'stonet shard'");
}

TEST(fits_and_answers_take_groups)
{
    SH("stonet fit people.csv --target y --group who --dim 1 --set front=kernel --out g.model");
    assert_null(strstr(captured_err, "nearly the same features"));
    SH("stonet info g.model --json | tr -d ' \\n' | grep -o '\"inputs\":[^]]*]'");
    assert_string_equal(captured_out, "\"inputs\":[\"a\",\"b\",\"c\"]\n"); /* no feature */
    sh_notes("stonet fit people.csv --target y --drop who --dim 1 --set front=kernel --out p.model",
             "of the rows have nearly the same features as another row");
    SH("stonet fit people.csv --target y --group who --dim 1 --method sir --quiet --out s.model");
    SH("stonet calibrate s.model people.csv --group who --quiet --out c.model");
    SH("stonet calibrate s.model people.csv --quiet --out other.model");
    assert_int_equal(sh("cmp -s c.model other.model"), 1);
    SH("stonet coef s.model people.csv --group who --se --csv > se.g && stonet coef s.model people.csv --se "
       "--csv > se.p");
    assert_int_equal(sh("cmp -s se.g se.p"), 1);
    SH("stonet transform s.model people.csv --se people.csv --refits 4 --group who > z.g && stonet transform "
       "s.model "
       "people.csv --se people.csv --refits 4 > z.p");
    assert_int_equal(sh("cmp -s z.g z.p"), 1);
    SH("stonet importance s.model people.csv --group who --kind stability --repeats 2 --quiet");
    assert_int_equal(sh("stonet transform s.model people.csv --group who"), 2);
}

TEST(wrong_groups_are_refused)
{
    SH("awk -F, -v OFS=, 'NR == 3 {$1 = \"\"} 1' people.csv > hole.csv");
    sh_refused("stonet fit hole.csv --target y --group who --dim 1 --out x.model", 1,
               "row 2 (line 3), column 1 ('who'): the group is missing");
    sh_refused("stonet fit people.csv --target y --group y --dim 1 --out x.model", 2,
               "the target and cannot be the group of the rows too");
    assert_int_equal(sh("stonet fit people.csv --target y --group nobody --dim 1 --out x.model"), 2);
    sh_refused("stonet compare people.csv --target y --group who --folds 41 --methods sir --dim 1", 2,
               "41 folds of 40 groups");
}

/* Copies need no word of the user, and the user hears of them. */
TEST(copies_stay_together)
{
    SH("awk -F, 'NR == 1 || NR <= 41' people.csv > once.csv; (cat once.csv; sed 1d once.csv; sed 1d "
       "once.csv) > copies.csv");
    SH("stonet compare copies.csv --target y --drop who --methods gsir --dim 1 --json --quiet");
    assert_true(compared() > 0.05);
    sh_notes("stonet fit copies.csv --target y --drop who --dim 1 --set front=kernel --out x.model",
             "80 of 120 rows repeat another row exactly");
}

RUN_TESTS(set_up, leave_test_folder)
