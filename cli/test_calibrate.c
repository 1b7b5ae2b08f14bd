/* fit --calibrate, calibrate, predict --interval and --sets, score, transform --se, through the shell. */
#include "cli/test_support.h"

/* Small tables: numbers (y) and classes (label), with a header. */
static void write_tables(const char *path, int rows, unsigned seed)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a,b,c,y,label\n", file);
    unsigned state = seed * 2654435761u + 1;
    for (int i = 0; i < rows; i++) {
        double u[6];
        for (int j = 0; j < 6; j++) {
            state = state * 1664525u + 1013904223u;
            u[j] = (double)(state >> 8) / 16777216.0;
        }
        const double noise = u[3] + u[4] + u[5] - 1.5;
        fprintf(file, "%.5f,%.5f,%.5f,%.5f,%s\n", u[0], u[1], u[2], 3.0 * u[0] + noise,
                u[0] + 0.6 * noise > 0.6 ? "yes" : "no");
    }
    fclose(file);
}

static double number_in(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    if (at == NULL) fail_msg("there is no %s in: %s", name, text);
    return strtod(at + strlen(name), NULL);
}

TEST(intervals)
{
    SH("stonet fit train.csv --target y --dim 3 --method none --set task=regression --out plain.model "
       "--quiet --set learner=linear || cat .err");
    sh_refused("stonet predict plain.model test.csv --interval 0.9", 1, "was not calibrated");
    sh_notes(
        "stonet fit train.csv --target y --dim 3 --method none --learner linear --calibrate --out y.model",
        "calibrated by cv+ with 200 rows");
    SH("stonet predict y.model test.csv --interval 0.9");
    assert_int_equal(strncmp(captured_out, "prediction,low,high\n", 20), 0);
    double predicted, low, high;
    assert_int_equal(sscanf(captured_out, "prediction,low,high\n%lf,%lf,%lf\n", &predicted, &low, &high), 3);
    assert_true(low < predicted && predicted < high);
    SH("stonet score y.model test.csv --target y --level 0.8");
    assert_true(number_in(captured_out, "level") == 0.8);
    assert_true(fabs(number_in(captured_out, "coverage") - 0.8) < 0.06);
    assert_true(number_in(captured_out, "interval_width") > 0.5);
    /* The predictions are those of the model that was not calibrated. */
    SH("stonet predict y.model test.csv > a.csv; stonet predict plain.model test.csv | cmp - a.csv");
    sh_prints("stonet info y.model", "cv+");
    /* Several responses. */
    SH("stonet fit train.csv --target y,c --dim 2 --method none --learner linear --calibrate --out two.model "
       "--quiet");
    SH("stonet predict two.model test.csv --interval 0.9");
    assert_int_equal(strncmp(captured_out, "prediction1,low1,high1,prediction2,low2,high2\n", 46), 0);
}

TEST(fresh_rows)
{
    SH("stonet fit train.csv --target y --dim 1 --method sir --out sir.model --quiet");
    sh_notes("stonet calibrate sir.model fresh.csv --target y --fresh --out fresh.model",
             "calibrated by fresh with 100 rows");
    assert_null(strstr(captured_err, "warning"));
    sh_notes("{ head -1 train.csv; tail -n +2 train.csv | tac; } > turned.csv; stonet calibrate sir.model "
             "turned.csv "
             "--target y --fresh --out narrow.model",
             "the fresh rows look like the training rows");
    SH("stonet predict fresh.model test.csv --interval 0.9 --out i.npy");
    SH("head -6 fresh.csv > few.csv; stonet calibrate sir.model few.csv --target y --fresh --out few.model");
    sh_notes("stonet predict few.model test.csv --interval 0.9", "has 5 rows, and level 0.9 needs 9");
    assert_non_null(strstr(captured_out, "inf"));
    sh_notes("stonet calibrate sir.model train.csv --target y --folds 5 --out folds.model",
             "calibrated by cv+ with 200 rows");
    sh_notes("stonet calibrate sir.model fresh.csv --target y --out other.model",
             "fitted on 200 rows and is calibrated with 100");
}

TEST(sets)
{
    sh_notes("stonet fit train.csv --target label --dim 1 --method sir --calibrate --out c.model",
             "temperature");
    SH("stonet predict c.model test.csv --sets 0.9");
    assert_true(strncmp(captured_out, "no,yes\n", 7) == 0 || strncmp(captured_out, "yes,no\n", 7) == 0);
    assert_non_null(strstr(captured_out, "\n1,0\n"));
    assert_non_null(strstr(captured_out, "\n0,1\n"));
    SH("stonet predict c.model test.csv --sets 0.9 --by-class");
    SN_AUTO(json_t) *scores = JSON_OF("stonet score c.model test.csv --target label --json");
    static const char *const names[] = {"balanced_accuracy", "auc",     "brier",
                                        "calibration_error", "level",   "error_rate",
                                        "coverage",          "set_size"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(json_is_number(json_object_get(scores, names[i])));
    const json_t *confusion = json_object_get(scores, "confusion");
    json_int_t rows = 0;
    for (size_t i = 0; i < 4; i++)
        rows += json_integer_value(json_array_get(json_array_get(confusion, i / 2), i % 2));
    assert_int_equal(rows, 500);
    assert_true(json_number_value(json_object_get(scores, "coverage")) > 0.85);
    sh_prints("stonet score c.model test.csv --target label", "true \\ predicted");
    SH("stonet calibrate c.model train.csv --target label --score lac --out lac.model --quiet");
    SH("stonet score lac.model test.csv --target label");
}

TEST(standard_errors)
{
    SH("stonet fit train.csv --target y --dim 1 --method sir --out se.model --quiet");
    SH("stonet transform se.model test.csv --se train.csv --target y --refits 10");
    assert_int_equal(strncmp(captured_out, "z1,se1\n", 7), 0);
    assert_non_null(strstr(captured_err, "10 refits"));
    double z, se;
    assert_int_equal(sscanf(captured_out, "z1,se1\n%lf,%lf\n", &z, &se), 2);
    assert_true(se > 0.0 && se < 1.0);
    SH("stonet transform se.model test.csv > z.csv; stonet transform se.model test.csv --se train.csv "
       "--target y "
       "--refits 2 --quiet | cut -d, -f1 | cmp - z.csv");
    sh_refused("stonet transform se.model test.csv --se fresh.csv --target y", 1, "fitted on 200 rows");
}

TEST(wrong_usage)
{
    static const struct {
        const char *command;
        int status;
        const char *says;
    } CASES[] = {
        {"stonet predict y.model test.csv --interval 90", 2, "between 0 and 1"},
        {"stonet predict y.model test.csv --interval 0", 2, "between 0 and 1"},
        {"stonet predict y.model test.csv --sets 0.9", 1, "predicts numbers"},
        {"stonet predict c.model test.csv --interval 0.9", 1, "predicts classes"},
        {"stonet predict c.model test.csv --sets 0.9 --proba", 2, "choose one"},
        {"stonet predict c.model test.csv --by-class", 2, "is for --sets"},
        {"stonet score plain.model test.csv --target y --level 0.9", 1, "was not calibrated"},
        {"stonet calibrate y.model train.csv --target y", 2, "--out"},
        {"sed 1s/y/z/ train.csv > renamed.csv; stonet calibrate y.model renamed.csv --out o.model", 2,
         "the response of the model"},
        {"stonet calibrate y.model train.csv --target y --out y.model", 2, "y.model"},
        {"stonet calibrate y.model train.csv --target y --fresh --folds 3 --out o.model", 2, "--folds"},
        {"stonet calibrate y.model train.csv --target y --score raps --out o.model", 2, "aps or lac"},
        {"stonet transform se.model test.csv --se train.csv --target y --draws 3", 2, "plain Z"},
        {"stonet fit train.csv --dim 2 --method pca --calibrate --out p.model", 1, "nothing to calibrate"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const int status = sh("%s", CASES[i].command);
        if (status != CASES[i].status || strstr(captured_err, CASES[i].says) == NULL)
            fail_msg("%s: exit status %d, %s", CASES[i].command, status, captured_err);
    }
}

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_tables("train.csv", 200, 1);
    write_tables("test.csv", 500, 2);
    write_tables("fresh.csv", 100, 3);
    return 0;
}

RUN_TESTS(set_up, leave_test_folder)
