/* stonet compare with several data sets. */
#include "cli/test_support.h"

#include <signal.h>

/* A comparison that would take hours. */
#define ENDLESS " --methods stonet --dim 1 --set epochs=9000000"

/* Twelve rows of twenty columns: too few for phd, which needs the residuals of a linear fit. */
static void write_wide(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    uint32_t seed = 11;
    for (int j = 0; j < 20; j++) fprintf(file, "x%d,", j);
    fprintf(file, "label\n");
    for (int i = 0; i < 12; i++) {
        for (int j = 0; j < 20; j++) fprintf(file, "%.6f,", next_number(&seed) + (i % 2));
        fprintf(file, "%s\n", i % 2 == 0 ? "low" : "high");
    }
    fclose(file);
}

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("full-a.csv", 60, 3);
    write_table("full-b.csv", 80, 4);
    write_wide("wide.csv");
    SH("for i in a b; do cut -d, -f1,2,3,5 full-$i.csv > $i.csv; cut -d, -f1-3 full-$i.csv > x-$i.csv; "
       "cut -d, -f5 full-$i.csv > y-$i.csv; done");
    SH("cut -d, -f1-4 full-b.csv | sed '1s/y/label/' > numbers.csv; mkdir sub; cp b.csv 'sub/b, c.csv'");
    return 0;
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    assert_non_null(text);
    return text;
}

static double number_of(const json_t *row, const char *key)
{
    assert_true(json_is_number(json_object_get(row, key)));
    return json_number_value(json_object_get(row, key));
}

typedef struct summary_line {
    double rank;
    long best, not_told, failed;
} summary_line;

/* The numbers behind "METHOD DIM" in the summary. */
static summary_line line_of(const char *method, const char *dim)
{
    summary_line line = {0};
    const char *at = strstr(captured_out, "\nOver ");
    assert_non_null(at);
    for (at = strchr(at + 1, '\n'); at != NULL; at = strchr(at, '\n')) {
        const char *name = ++at;
        size_t length = strlen(method);
        if (strncmp(name, method, length) != 0 || name[length] != ' ') continue;
        const char *dims = name + length + strspn(name + length, " ");
        length = strlen(dim);
        if (strncmp(dims, dim, length) != 0 || dims[length] != ' ') continue;
        char *rest = NULL;
        line.rank = strtod(dims + length, &rest);
        line.best = strtol(rest, &rest, 10);
        line.not_told = strtol(rest, &rest, 10);
        line.failed = strtol(rest, &rest, 10);
        return line;
    }
    print_error("no line for %s %s in\n%s\n", method, dim, captured_out);
    fail();
    return line;
}

/* ---- what is printed --------------------------------------------------------------------------- */

TEST(rows_of_all_sets_are_listed)
{
    SH("stonet compare a.csv 'sub/b, c.csv' --target label --methods none,pca --dim 1,2 --folds 3 --quiet "
       "--json");
    json_t *rows = captured_json();
    assert_int_equal(json_array_size(rows), 6);
    assert_string_equal(text_of(json_array_get(rows, 2), "data"), "a.csv");
    assert_string_equal(text_of(json_array_get(rows, 3), "data"), "sub/b, c.csv");
    assert_string_equal(text_of(json_array_get(rows, 5), "method"), "pca");
    /* The same numbers as on its own. */
    SN_AUTO(json_t) *alone =
        JSON_OF("stonet compare b.csv --target label --methods none,pca --dim 1,2 --folds 3 --quiet --json");
    assert_int_equal(json_array_size(alone), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_null(json_object_get(json_array_get(alone, i), "data"));
        assert_true(json_equal(json_object_get(json_array_get(alone, i), "values"),
                               json_object_get(json_array_get(rows, 3 + i), "values")));
    }
    json_decref(rows);
    SH("stonet compare a.csv 'sub/b, c.csv' --target label --methods none,pca --dim 1 --folds 3 --quiet "
       "--out rows.csv && cat rows.csv");
    assert_memory_equal(captured_out, "data,criterion,method,dim,", strlen("data,criterion,method,dim,"));
    assert_non_null(strstr(captured_out, "\na.csv,error_rate,none,3,"));
    assert_non_null(strstr(captured_out, "\n\"sub/b, c.csv\",error_rate,pca,1,"));
    SH("wc -l < rows.csv");
    assert_int_equal(strtol(captured_out, NULL, 10), 5);
}

/* Ranks as they are meant: 1 + those that are better + half of those that are equal. */
static double rank_among(const json_t *rows, size_t first, size_t count, size_t i)
{
    double rank = 1;
    double mean = number_of(json_array_get(rows, first + i), "mean");
    for (size_t j = 0; j < count; j++) {
        double other = number_of(json_array_get(rows, first + j), "mean");
        if (j != i) rank += other < mean ? 1 : other > mean ? 0 : 0.5;
    }
    return rank;
}

TEST(a_summary_follows_the_blocks)
{
#define CALL "stonet compare a.csv b.csv --target label --methods none,pca,sir,phd --dim 1 --folds 4 --quiet "
    SN_AUTO(json_t) *rows = JSON_OF(CALL "--json");
    SH(CALL);
    assert_memory_equal(captured_out, "a.csv (60 x 3)\nmethod", strlen("a.csv (60 x 3)\nmethod"));
    assert_non_null(strstr(captured_out, "\n\nb.csv (80 x 3)\nmethod"));
    static const char *const METHODS[] = {"none", "pca", "sir", "phd"};
    long all_best = 0;
    for (size_t i = 0; i < 4; i++) {
        summary_line line = line_of(METHODS[i], i == 0 ? "3" : "1");
        assert_true(fabs(line.rank - 0.5 * (rank_among(rows, 0, 4, i) + rank_among(rows, 4, 4, i))) < 0.0051);
        long expected = 0;
        for (size_t k = 0; k < 2; k++) {
            const json_t *p = json_object_get(json_array_get(rows, 4 * k + i), "p_value");
            expected += json_is_null(p) || json_number_value(p) >= 0.05;
        }
        assert_int_equal(line.not_told, expected);
        assert_int_equal(line.failed, 0);
        all_best += line.best;
    }
    assert_int_equal(all_best, 2);
    sh_prints(CALL "--out table.txt && cat table.txt", "Over 2 data sets");
#undef CALL
}

TEST(target_files_go_with_the_data_in_order)
{
    sh_prints(
        "stonet compare x-a.csv x-b.csv --target-file y-a.csv --target-file y-b.csv --methods pca --dim 1 "
        "--quiet",
        "x-b.csv (80 x 3)");
    assert_int_equal(
        sh("stonet compare x-a.csv x-b.csv --target-file y-b.csv --target-file y-a.csv --methods "
           "pca --dim 1 --quiet"),
        1);
    assert_non_null(strstr(captured_err, "rows"));
}

/* Each set has the criterion of its task; ranks do not mind. */
TEST(tasks_may_be_mixed)
{
    sh_prints("stonet compare a.csv numbers.csv --target label --methods none,pca --dim 1 --folds 2 --quiet",
              "error_rate");
    assert_non_null(strstr(captured_out, "mse"));
    assert_non_null(strstr(captured_out, "Over 2 data sets"));
    sh_refused("stonet compare numbers.csv a.csv --target label --criterion mse" ENDLESS, 2,
               "a.csv: the criterion mse is not for class targets");
    assert_string_equal(captured_out, "");
}

TEST(all_is_every_method)
{
    SN_AUTO(json_t) *known = JSON_OF("stonet methods --json");
    size_t count = json_array_size(json_object_get(known, "methods"));
    assert_true(count > 15);
    SN_AUTO(json_t) *rows = JSON_OF(
        "stonet compare a.csv --target label --methods all --dim 1 --folds 2 --quiet --json --set epochs=2 "
        "--set nnsdr:refine=2 --set benn:units=20 --set iterations=2 --set restarts=1");
    assert_int_equal(json_array_size(rows), count);
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(rows, i);
        assert_string_equal(text_of(row, "method"),
                            text_of(json_array_get(json_object_get(known, "methods"), i), "name"));
        if (!json_is_null(json_object_get(row, "failure"))) print_error("%s\n", text_of(row, "failure"));
        assert_true(json_is_null(json_object_get(row, "failure")));
    }
}

/* ---- what goes wrong --------------------------------------------------------------------------- */

TEST(a_method_that_fails_on_one_set_stops_nothing)
{
    sh_prints("stonet compare wide.csv a.csv --target label --methods phd,pca --dim 1 --folds 2 --quiet",
              "failed: phd: a linear");
    summary_line line = line_of("phd", "1");
    assert_int_equal(line.failed, 1);
    assert_true(line.rank >= 1.5); /* it was last of two on one of them */
    assert_true(line.not_told <= 1);
    /* With tuning the failure comes from inside. */
    SN_AUTO(json_t) *rows = JSON_OF(
        "stonet compare wide.csv a.csv --target label --methods phd,pca --dim 1 --folds 2 --quiet --tune "
        "--tune-folds 2 --grid phd:scale=none,column --json");
    assert_true(json_is_string(json_object_get(json_array_get(rows, 0), "failure")));
    assert_true(json_is_null(json_object_get(json_array_get(rows, 2), "failure")));
}

TEST(a_set_where_all_fail_does_not_hide_the_others)
{
#define CALL "stonet compare numbers.csv a.csv --target label --methods pca,sir --dim 1 --folds 2 --quiet "
    sh_refused(CALL "--learner logistic", 1, "numbers.csv: no method could be fitted");
    assert_non_null(strstr(captured_out, "failed: learner 'logistic' does not do"));
    assert_non_null(strstr(captured_out, "a.csv (60 x 3)"));
    assert_int_equal(sh(CALL "--learner logistic --json"), 1);
    SN_AUTO(json_t) *rows = captured_json();
    assert_int_equal(json_array_size(rows), 4);
    assert_true(json_is_null(json_object_get(json_array_get(rows, 0), "mean")));
#undef CALL
    sh_refused("stonet compare numbers.csv --target label --methods pca --dim 1 --learner logistic", 1,
               "no fit succeeded; the first one failed with: learner 'logistic'");
}

/* Found before the first fit: with these settings that one would not come to its end. */
TEST(mistakes_are_found_before_the_first_fit)
{
    static const struct {
        const char *call;
        int status;
        const char *sentence;
    } cases[] = {
        {"a.csv nowhere.csv --target label", 1, "nowhere.csv"},
        {"a.csv full-b.csv --target colour", 2, "colour"},
        {"x-a.csv x-b.csv --target-file y-a.csv", 2, "DATA is there 2 times, --target-file 1 times"},
        {"x-a.csv --target-file y-a.csv --target-file y-b.csv", 2,
         "DATA is there 1 times, --target-file 2 times"},
        {"x-a.csv x-b.csv --target-file y-a.csv --target-file nowhere.csv", 1, "nowhere.csv"},
        {"x-a.csv b.csv --target label --target-file y-a.csv", 2, "not both"},
        {"a.csv b.csv", 2, "the response is missing"},
        {"a.csv b.csv --target label --test a.csv", 2, "--test goes with one DATA"},
        {"b.csv wide.csv --target label --folds 13", 2, "wide.csv: 12 rows cannot be cut into 13 folds"},
        {"b.csv wide.csv --target label --folds 2 --tune --tune-folds 7", 2, "wide.csv: "},
        {"a.csv b.csv --target label --tune --grid slices=2,3", 2, "a.csv: the grid entry 'slices=2,3'"},
        {"a.csv b.csv --target label --out nowhere/rows.json", 1, "nowhere"},
        {"--target label", 2, "DATA is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = sh("stonet compare" ENDLESS " %s", cases[i].call);
        if (status != cases[i].status || strstr(captured_err, cases[i].sentence) == NULL)
            print_error("%s: %d\n%s\n", cases[i].call, status, captured_err);
        assert_int_equal(status, cases[i].status);
        assert_non_null(strstr(captured_err, cases[i].sentence));
        assert_string_equal(captured_out, "");
    }
}

/* ---- on the way -------------------------------------------------------------------------------- */

/* Two hundred thousand passes over twelve rows are done in a moment; over the many of the third set they
   would take longer than a test may. */
TEST(what_is_finished_is_printed_when_stopped)
{
    static terminal shown;
    SH("for i in a b; do head -13 $i.csv > few-$i.csv; done; "
       "{ cat b.csv; for i in $(seq 1000); do sed 1d b.csv; done; } > many.csv");
    char *compare[] = {"stonet", "compare",   "few-a.csv",       "few-b.csv", "many.csv", "--target",
                       "label",  "--methods", "pca,autoencoder", "--dim",     "1",        "--folds",
                       "2",      "--set",     "epochs=200000",   (char *)NULL};
    terminal_start(&shown, compare);
    assert_true(terminal_read(&shown, "many.csv (3 of 3) comparing autoencoder"));
    kill(shown.child, SIGINT);
    assert_int_equal(terminal_end(&shown), 1);
    assert_non_null(strstr(shown.text, "2 of 3 data sets were finished"));
    assert_non_null(strstr(shown.text, "few-a.csv (12 x 3)"));
    assert_non_null(strstr(shown.text, "Over 2 data sets"));
}

TEST(progress_names_data_and_method)
{
    static terminal shown;
    char *compare[] = {
        "stonet",      "compare",  "a.csv",     "sub/b, c.csv", "--target", "label",     "--methods",
        "autoencoder", "--dim",    "1",         "--folds",      "2",        "--threads", "1",
        "--set",       "epochs=3", (char *)NULL};
    terminal_start(&shown, compare);
    assert_int_equal(terminal_end(&shown), 0);
    assert_non_null(strstr(shown.text, "\ra.csv (1 of 2) comparing autoencoder 0/2"));
    assert_non_null(strstr(shown.text, "\rb, c.csv (2 of 2) comparing autoencoder 0/2"));
}

RUN_TESTS(set_up, leave_test_folder)
