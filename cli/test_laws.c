/* Censored times, intervals, counts and ordered classes on the command line, from the file to the prediction.
 */
#include "cli/test_watch.h"

static const char FIT[] = "stonet fit t.csv --features 1-3 --dim 1 --set epochs=3 --set weight_decay=0.01 "
                          "--set activation=tanh --set front=none --quiet";

static const char *const RESPONSE[] = {"--target time --event event", "--target-low low --target-high high",
                                       "--target count --exposure years", "--target count --set task=ordinal",
                                       "--target time --event event --set response=ensemble"};

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("all.csv", 300, 1);
    /* time, event, low and high (open in every third row), count, exposure */
    return sh(
        "awk -F, -v OFS=, 'NR == 1 { print $0, \"time,event,low,high,count,years\"; next } { t = exp($4); "
        "seen = (NR %% 3 > 0); print $0, t, seen, t / 2, (seen ? 2 * t : \"\"), int(t), 1 + NR %% 2 }' all.csv "
        "> t.csv");
}

TEST(every_response_is_fitted_scored_and_predicted)
{
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

/* An order that is told makes the task; other values are refused, and classification can still be asked for.
 */
TEST(classes_of_text_in_their_order)
{
    SH("awk -F, -v OFS=, '{ print $1, $2, $3, NR == 1 ? \"q\" : $1 < -.5 ? \"poor\" : $1 < .5 ? \"fair\" : "
       "\"good\" }' t.csv > q.csv");
    sh_notes(
        "stonet fit q.csv --target q --ordinal q=poor,fair,good --dim 1 --set epochs=3 --out m && stonet score m "
        "q.csv && stonet predict m q.csv --proba --out p.csv && cat p.csv",
        "the classes of 'q' are ordered, poor to good");
    assert_non_null(strstr(captured_out, "kappa"));
    assert_non_null(strstr(captured_out, "poor,fair,good\n"));
    SH("stonet shard q.csv --target q --ordinal q=poor,fair,good --out s && stonet fit s --target q --dim 1 --set "
       "epochs=3 --out again && cmp m again");
    SH("stonet fit q.csv --target q --ordinal q=poor,fair,good --dim 1 --set epochs=3 --set task=classification "
       "--out m && stonet score m q.csv");
    assert_null(strstr(captured_out, "kappa"));
    sh_refused("stonet fit q.csv --target q --ordinal q=poor,fair --dim 1 --out m", 1,
               "has the value 'good', which is not in the order given for it");
    sh_refused("stonet fit q.csv --target q --set task=ordinal --dim 1 --out m", 1,
               "texts without an order: say it (ordinal)");
}

TEST(threads_change_no_bit)
{
    for (size_t k = 0; k < sizeof RESPONSE / sizeof *RESPONSE; k++) {
        SH("%s %s --threads 1 --out one", FIT, RESPONSE[k]);
        SH("%s %s --threads 2 --out two && cmp one two", FIT, RESPONSE[k]);
        SH("%s %s --threads 7 --out seven && cmp one seven", FIT, RESPONSE[k]);
    }
}

TEST(ranks_change_no_bit)
{
    if (sh("command -v mpirun && ls $(dirname \"$STONET\")/../lib/libstonet-mpi.so") != 0) {
        printf("skipped: this test needs mpirun, and a build where libopenmpi-dev is installed\n");
        skip();
    }
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* Open MPI leaves memory of its own behind */
    for (size_t k = 0; k < sizeof RESPONSE / sizeof *RESPONSE; k++) {
        SH("%s %s --threads 1 --out one", FIT, RESPONSE[k]);
        for (int ranks = 1; ranks <= 3; ranks++)
            SH("mpirun --oversubscribe -n %d %s %s --threads 1 --out many && cmp one many", ranks, FIT,
               RESPONSE[k]);
    }
}

TEST(killed_fits_go_on)
{
    char arguments[MAX_COMMAND];
    for (size_t r = 0; r < sizeof RESPONSE / sizeof *RESPONSE; r++) {
        SH("%s %s --set epochs=40 --out whole", FIT, RESPONSE[r]);
        snprintf(arguments, sizeof arguments,
                 "%s %s --set epochs=40 --checkpoint kept --every 0 --out pieces", FIT, RESPONSE[r]);
        for (int k = 1; k <= 2; k++) signal_at(arguments, 3 * k, SIGKILL, 128 + SIGKILL, "pieces");
        SH("%s && cmp whole pieces && rm pieces", arguments);
    }
}

TEST(settings_and_dimensions_are_chosen)
{
    sh_prints(
        "stonet tune t.csv --target time --event event --features 1-3 --grid epochs=1,2 --set front=none "
        "--set activation=tanh --set weight_decay=.01 --criterion discordance --quiet",
        "discordance");
    sh_prints(
        "stonet order t.csv --target count --exposure years --features 1-3 --set epochs=2 --set front=none "
        "--set activation=tanh --set weight_decay=.01 --quiet",
        "chosen");
    sh_prints(
        "stonet compare t.csv --target time,event --set task=survival --features 1-3 --methods stonet --dim 1 "
        "--set epochs=2 --set front=none --set activation=tanh --set weight_decay=.01 --quiet",
        "log_loss");
    SH("%s --target time --event event --out m && stonet report m t.csv --out page.html --quiet", FIT);
    SH("stonet export m --format c --out m.c && stonet export m --format onnx --out m.onnx");
}

TEST(what_does_not_go_together_is_said)
{
    assert_int_equal(sh("%s --event event --out m", FIT), 2);
    assert_int_equal(sh("%s --target time --event event --exposure years --out m", FIT), 2);
    assert_int_not_equal(sh("%s --target time --event count --out m", FIT), 0);
    assert_non_null(strstr(captured_err, "an event is 1 (seen) or 0 (censored)"));
    sh_notes("stonet fit t.csv --features 1-3 --dim 1 --method sir --target time --set task=survival --out m",
             "count as seen: no second target (--event)");
    SH("stonet fit t.csv --features 1-3 --dim 1 --method sir --target time --event event --out m");
    assert_null(strstr(captured_err, "count as seen"));
    SH("%s --target time --event event --out m", FIT);
    assert_int_equal(sh("stonet predict m t.csv --times one"), 2);
    assert_int_not_equal(sh("stonet predict m t.csv --times 2,1"), 0);
    sh_refused("stonet tune t.csv --target time --event event --grid lr=.1 --criterion mse", 2,
               "the criterion mse is not for censored targets");
}

RUN_TESTS(set_up, leave_test_folder)
