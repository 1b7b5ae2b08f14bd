/* The program end to end: every command on small data, through the shell, as a user would. */
#include "cli/test_support.h"

#include <pty.h>
#include <signal.h>
#include <sys/stat.h>

enum { TRAIN_ROWS = 90, TEST_ROWS = 40 };

/* Few epochs: these tests are about the program, not about the quality of the fit. */
#define QUICK "--set epochs=4 --quiet"

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value)) print_error("no number '%s'\n", key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static int lines_of(const char *text)
{
    int lines = 0;
    for (; *text != '\0'; text++) lines += *text == '\n';
    return lines;
}

static int lines_of_file(const char *path)
{
    SH("cat %s", path);
    return lines_of(captured_out);
}

static bool exists(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0;
}

/* ---- help -------------------------------------------------------------------------------------- */

TEST(help_is_complete)
{
    static const char *const commands[] = {"fit",     "transform",    "predict",  "score",   "tune",
                                           "compare", "independence", "generate", "methods", "info",
                                           "demo",    "calibrate",    "shard",    "impute"};
    SH("stonet --help");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        assert_non_null(strstr(captured_out, commands[i]));
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        SH("stonet %s --help", commands[i]);
        assert_non_null(strstr(captured_out, "Usage: stonet"));
        assert_non_null(strstr(captured_out, "--help"));
        assert_string_equal(captured_err, "");
        SH("stonet help %s", commands[i]);
    }
    sh_prints("stonet fit --help", "--seed S");
    assert_non_null(strstr(captured_out, "[default: 1]"));
    SH("stonet --version");
    assert_int_equal(strncmp(captured_out, "stonet ", 7), 0);
    assert_non_null(strstr(captured_out, "BLAS"));
}

/* ---- the round trip ---------------------------------------------------------------------------- */

TEST(classes_round_trip)
{
    SH("stonet fit train.csv --target label --dim 2 " QUICK " --out c.model");
    assert_string_equal(captured_out, "");
    assert_string_equal(captured_err, "");
    SH("stonet transform c.model test.csv --out z.csv");
    assert_int_equal(lines_of_file("z.csv"), TEST_ROWS + 1);
    assert_int_equal(strncmp(captured_out, "z1,z2\n", 6), 0);
    SH("stonet transform c.model test.csv | cmp - z.csv");
    SH("stonet predict c.model test.csv --proba");
    assert_int_equal(lines_of(captured_out), TEST_ROWS + 1);
    assert_non_null(strstr(captured_out, "low"));
    SH("stonet predict c.model test.csv --out labels.csv");
    assert_int_equal(lines_of_file("labels.csv"), TEST_ROWS + 1);
    SH("cut -d, -f5 test.csv | paste -d' ' - labels.csv | awk 'NR>1 && $1!=$2' | wc -l");
    double wrong = strtod(captured_out, NULL);
    SN_AUTO(json_t) *scores = JSON_OF("stonet score c.model test.csv --target label --json");
    assert_true(number_of(scores, "n") == TEST_ROWS);
    assert_true(fabs(number_of(scores, "error_rate") - wrong / TEST_ROWS) < 1e-9);
    assert_true(fabs(number_of(scores, "accuracy") + number_of(scores, "error_rate") - 1) < 1e-9);
    assert_true(number_of(scores, "log_loss") > 0);
    sh_prints("stonet score c.model test.csv --target 5", "error_rate");
}

/* A method that does not look at the response is fitted without one; all columns are features then. */
TEST(no_response_is_needed_by_pca)
{
    SH("cut -d, -f1-4 train.csv > features.csv");
    sh_notes("stonet fit features.csv --method pca --dim 2 --out p.model", "no response");
    SH("stonet transform p.model test.csv");
    assert_int_equal(lines_of(captured_out), TEST_ROWS + 1);
    SH("stonet info p.model");
    sh_notes("stonet predict p.model test.csv || test $? = 1", "without a response");
    sh_notes("stonet score p.model test.csv --target label || test $? = 1", "without a response");
}

TEST(numbers_round_trip)
{
    SH("cut -d, -f1-4 train.csv > numbers.csv; cut -d, -f1-4 test.csv > more.csv; cut -d, -f1-3 test.csv > "
       "x.csv; "
       "cut -d, -f4 test.csv > y.csv");
    sh_notes(
        "stonet fit numbers.csv --target y --dim 1 --set epochs=4 --set front=none --log history.csv --out "
        "n.model",
        "network 3-");
    assert_non_null(strstr(captured_err, "\nchosen: "));
    assert_non_null(strstr(captured_err, "\nnext: "));
    assert_non_null(strstr(captured_err, "n.model"));
    assert_true(lines_of_file("history.csv") > 1);
    SH("stonet info n.model | grep -c 'network, weight decay [^;]*; held-out loss [0-9.]*$'");
    assert_true(atoi(captured_out) >= 3); /* lines under each other */
    SH("stonet score n.model more.csv --target y --json");
    json_t *scores = captured_json();
    static const char *const keys[] = {"n", "mse", "mse_scaled", "r2", "correlation"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) number_of(scores, keys[i]);
    double mse = number_of(scores, "mse");
    json_decref(scores);
    SH("stonet score n.model x.csv --target-file y.csv --json");
    scores = captured_json();
    assert_true(number_of(scores, "mse") == mse);
    json_decref(scores);
    SH("stonet predict n.model x.csv | paste -d' ' - y.csv | awk 'NR>1{s+=($1-$2)^2} END{printf \"%%.12g\", "
       "s/(NR-1)}'");
    assert_true(fabs(strtod(captured_out, NULL) - mse) < 1e-5 * mse);
    SH("stonet predict n.model x.csv --out p.npy && head -c 6 p.npy | tail -c 5");
    assert_string_equal(captured_out, "NUMPY");
}

TEST(transform_in_every_way)
{
    SH("stonet fit train.csv --target label --dim 2 --set hidden=5 --set weight_decay=0.001 " QUICK
       " --out t.model");
    SH("stonet transform t.model test.csv --draws 3 --seed 5 --out d.csv");
    assert_int_equal(lines_of_file("d.csv"), 3 * TEST_ROWS + 1);
    SH("stonet transform t.model test.csv --draws 3 --seed 5 --threads 1 | cmp - d.csv");
    assert_int_not_equal(sh("stonet transform t.model test.csv --draws 3 --seed 6 | cmp - d.csv"), 0);
    SH("stonet transform t.model test.csv --activated --out a.csv");
    assert_int_equal(lines_of_file("a.csv"), TEST_ROWS + 1);
    SH("stonet transform t.model test.csv --impute --target label --out i.csv");
    assert_int_equal(lines_of_file("i.csv"), TEST_ROWS + 1);
    assert_int_not_equal(sh("cmp a.csv i.csv"), 0);
    SH("stonet transform t.model test.csv --out z.csv.gz && gzip -dc z.csv.gz | wc -l");
    assert_int_equal(atoi(captured_out), TEST_ROWS + 1);
}

TEST(same_seed_same_bytes)
{
    static const int threads[] = {1, 2, 7};
    for (int i = 0; i < 3; i++)
        SH("stonet fit train.csv --target label --dim 2 " QUICK " --seed 3 --threads %d --out t%d.model",
           threads[i], threads[i]);
    SH("cmp t1.model t2.model && cmp t1.model t7.model");
    SH("stonet fit train.csv --target label --dim 2 " QUICK " --seed 4 --threads 2 --out other.model");
    assert_int_not_equal(sh("cmp t1.model other.model"), 0);
}

/* ---- looking around ---------------------------------------------------------------------------- */

TEST(generated_data)
{
    sh_prints("stonet generate", "waveform");
    SN_AUTO(json_t) *list = JSON_OF("stonet generate --json");
    assert_true(json_array_size(list) >= 5);
    SH("stonet generate waveform --rows 50 --seed 7 --out g1.csv && "
       "stonet generate waveform --rows 50 --seed 7 --out g2.csv && cmp g1.csv g2.csv");
    assert_int_equal(lines_of_file("g1.csv"), 51);
    assert_null(strstr(captured_out, "truth"));
    SH("stonet generate waveform --rows 50 --seed 7 --out g1.csv --truth truth.csv");
    assert_int_equal(lines_of_file("truth.csv"), 51);
    assert_int_equal(strncmp(captured_out, "truth1", 6), 0);
    SH("stonet generate waveform --rows 50 --seed 8 --out g3.csv");
    assert_int_not_equal(sh("cmp g1.csv g3.csv"), 0);
}

TEST(methods_and_info)
{
    sh_prints("stonet methods", "stonet");
    assert_non_null(strstr(captured_out, "logistic"));
    sh_prints("stonet methods stonet", "default");
    const char *const order[] = {"\n  hidden ", "\n  epochs ", "\n  dim ", "\n  sweeps ", "\n  engine "};
    const char *at = captured_out; /* the sampler's settings come after those that people change */
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        at = strstr(at, order[k]);
        if (at == NULL) fail_msg("'%s' is not where it should be", order[k]);
        assert_null(strstr(at + 1, order[k])); /* and each once */
    }
    SH("stonet methods logistic");
    SN_AUTO(json_t) *all = JSON_OF("stonet methods --json");
    assert_true(json_array_size(json_object_get(all, "methods")) > 2);
    SH("stonet methods stonet --json");
    json_decref(captured_json());
    sh_prints("stonet fit train.csv --target label --dim 2 --method pca --quiet --out i.model && stonet info "
              "i.model",
              "pca");
    SN_AUTO(json_t) *about = JSON_OF("stonet info i.model --json");
    assert_true(number_of(about, "dim") == 2);
    assert_true(number_of(about, "rows") == TRAIN_ROWS);
    json_decref(about);
    sh_prints("stonet fit train.csv --target label --dim 2 --quiet --out i2.model && stonet info i2.model",
              "held-out loss");
    assert_null(strstr(captured_out, "\\x0a")); /* candidates have a line each */
    sh_prints("stonet info i.model --verify", "as it was written");
    /* As an older version wrote it: another name for the hash, which is passed over. */
    sh_prints(
        "LC_ALL=C sed 's/stonet.hash/stonet.hush/' i.model > old.model && stonet info old.model --verify",
        "not checked");
    assert_non_null(strstr(captured_err, "note: old.model is of an older version and has no hash"));
    SH("stonet info old.model --verify --json");
    about = captured_json();
    assert_true(json_is_false(json_object_get(about, "verified")));
}

/* ---- tune and compare -------------------------------------------------------------------------- */

TEST(tune_then_fit)
{
    SN_AUTO(json_t) *rows = JSON_OF(
        "stonet tune train.csv --target label --method pca --folds 3 --grid dim=1,2,3 --best best.json --json "
        "--quiet");
    assert_int_equal(json_array_size(rows), 3);
    double least = INFINITY;
    double mean_at[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        assert_int_equal(json_array_size(json_object_get(row, "values")), 3);
        mean_at[(int)number_of(row, "dim")] = number_of(row, "mean");
        least = fmin(least, number_of(row, "mean"));
    }
    json_decref(rows);
    SN_AUTO(json_t) *about = JSON_OF(
        "stonet fit train.csv --target label --config best.json --quiet --out best.model && stonet info "
        "best.model --json");
    assert_true(mean_at[(int)number_of(about, "dim")] == least);
    sh_prints(
        "stonet tune train.csv --target label --method pca --folds 3 --grid dim=1,2,3 --within 1000 --best "
        "simple.json --quiet --out rows.csv && cat simple.json",
        "\"dim\": 1");
    SH("stonet tune train.csv --target label --dim 1 --method pca --folds 3 --grid scale=none,column "
       "--quiet");
    assert_int_equal(lines_of(captured_out), 4);
    assert_non_null(strstr(captured_out, "scale=none"));
    SH("stonet tune train.csv --target label --method pca --folds 3 --grid dim/scale=1/none,2/column --json "
       "--quiet");
    rows = captured_json();
    assert_int_equal(json_array_size(rows), 2);
}

TEST(compare_methods)
{
    SN_AUTO(json_t) *rows = JSON_OF(
        "stonet compare train.csv --target label --methods none,pca,sir --dim 1,2 --folds 3 --out rows.json "
        "--quiet && "
        "cat rows.json");
    assert_int_equal(json_array_size(rows), 5);
    json_t *first = json_array_get(rows, 0);
    assert_string_equal(json_string_value(json_object_get(first, "method")), "none");
    assert_int_equal(json_array_size(json_object_get(first, "values")), 3);
    assert_true(number_of(first, "seconds") >= 0);
    SH("stonet compare train.csv --target label --methods pca --dim 1,2 --folds 3 --csv --quiet");
    assert_int_equal(lines_of(captured_out), 3);
    SH("stonet compare train.csv --target label --methods none,pca --dim 2 --test test.csv --quiet");
    assert_int_equal(lines_of(captured_out), 4);
    SH("stonet compare train.csv --target label --methods pca,sir --dim 1 --folds 2 --set sir:slices=3 --set "
       "scale=none --quiet");
}

/* ---- words, signals and files ------------------------------------------------------------------ */

TEST(quiet_in_a_pipe)
{
    SH("stonet fit train.csv --target label --dim 2 --set epochs=4 --out q.model");
    assert_null(strchr(captured_err, '\r'));
    assert_null(strchr(captured_err, '\033'));
    assert_non_null(strstr(captured_err, "error rate"));
}

/* A stage is drawn when it begins, however short it is. */
TEST(progress_on_a_terminal)
{
    static terminal shown;
    char *fit[] = {"stonet", "fit",   "train.csv", "--target", "label",   "--dim",
                   "2",      "--set", "epochs=4",  "--out",    "p.model", (char *)NULL};
    terminal_start(&shown, fit);
    assert_int_equal(terminal_end(&shown), 0);
    assert_non_null(strstr(shown.text, "\rchoosing settings 0"));
    assert_non_null(strstr(shown.text, "\rtraining 1"));
    assert_non_null(strstr(shown.text, "loss"));
    assert_non_null(strstr(shown.text, "\033[K"));
}

/* Starts a fit that would take hours, waits until it has come to the stage and sends it a signal; gives its
   exit status, and what it said in shown. */
static int interrupt_fit(const char *decay, const char *stage, int number, terminal *shown)
{
    char *fit[] = {"stonet",      "fit",   "train.csv",     "--target",       "label",
                   "--dim",       "2",     "--set",         "epochs=1000000", "--set",
                   (char *)decay, "--out", "stopped.model", (char *)NULL};
    terminal_start(shown, fit);
    assert_true(terminal_read(shown, stage));
    kill(shown->child, number);
    return terminal_end(shown);
}

TEST(interrupt_keeps_the_model)
{
    static terminal shown;
    static const struct {
        const char *decay, *stage;
        int number;
    } cases[] = {{"weight_decay=0.01", "\rtraining ", SIGINT},
                 {"weight_decay=0.01", "\rtraining ", SIGTERM},
                 {"weight_decay=0.01", "\rtraining ", SIGHUP},
                 {"weight_decay=auto", "\rchoosing settings ", SIGINT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SH("rm -f stopped.model");
        assert_int_equal(interrupt_fit(cases[i].decay, cases[i].stage, cases[i].number, &shown), 1);
        assert_non_null(strstr(shown.text, "the model so far was saved in stopped.model"));
        SH("stonet score stopped.model test.csv --target label");
        sh_prints("stonet info stopped.model", "stopped");
    }
}

TEST(divergence_keeps_the_last_good_model)
{
    int status =
        sh("stonet fit train.csv --target label --dim 2 --set lr=1000000 --set s_out=100 --set epochs=5 "
           "--set weight_decay=0.01 --out d.model");
    assert_int_equal(status, 1);
    assert_non_null(strstr(captured_err, "the last good model was saved in d.model"));
    sh_prints("stonet info d.model", "diverged");
    SH("stonet predict d.model test.csv");
}

TEST(failing_writes_leave_nothing)
{
#ifdef __clang__
    skip(); /* its OpenMP has a file of its own in memory, and ends any program where files may not grow */
#endif
    SH("stonet fit train.csv --target label --dim 2 --method pca --quiet --out w.model");
    SH("stonet generate waveform --rows 400 --out big.csv && mkdir clean && echo old > clean/kept.csv");
    SH("stonet fit big.csv --target y --dim 2 --method pca --quiet --out big.model");
    assert_int_equal(
        sh("trap '' XFSZ; ulimit -f 1; stonet transform big.model big.csv --out clean/z.csv 2>/dev/null"), 1);
    assert_int_equal(
        sh("trap '' XFSZ; ulimit -f 1; stonet transform big.model big.csv --out clean/kept.csv 2>/dev/null"),
        1);
    SH("ls clean; cat clean/kept.csv");
    assert_string_equal(captured_out, "kept.csv\nold\n");
    assert_int_equal(sh("stonet transform w.model test.csv --out missing/z.csv"), 1);
    assert_false(exists("missing"));
    assert_int_equal(sh("stonet transform w.model test.csv --out /dev/full"), 1);
    sh_refused("stonet transform w.model test.csv > /dev/full", 1, "standard output");
    SH("ls -A | grep -c tmp || true");
    assert_string_equal(captured_out, "0\n");
}

/* ---- the demo ---------------------------------------------------------------------------------- */

TEST(demo_shows_and_draws)
{
    sh_prints("mkdir drawn && stonet demo --out drawn", "logistic regression on x");
    assert_non_null(strstr(captured_out, "StoNet"));
    SH("cat drawn/demo-waveform.svg");
    assert_int_equal(strncmp(captured_out, "<svg", 4), 0);
    assert_non_null(strstr(captured_out, "</svg>"));
    int dots = 0;
    for (const char *at = captured_out; (at = strstr(at, "<circle")) != NULL; at++) dots++;
    assert_true(dots >= 4600);
}

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("train.csv", TRAIN_ROWS, 1);
    write_table("test.csv", TEST_ROWS, 2);
    return 0;
}

RUN_TESTS(set_up, leave_test_folder)
