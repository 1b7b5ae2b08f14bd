/*
 * Commands that are killed and go on. The test watches the folder: the program is killed (SIGKILL) as soon as
 * it has written its checkpoint for the k-th time, whatever it is doing by then.
 */
#include "cli/test_watch.h"

static const char FIT[] =
    "fit t.csv --target label --dim 1 --set hidden=3 --set epochs=30 --set batch=16 --set "
    "weight_decay=0.01 --set restarts=1 --set sdr_iterations=5 --quiet";

static int fresh(void **state)
{
    (void)state;
    return system("rm -f kept *.model") == 0 ? 0 : -1;
}

TEST_WITH(killed_fits_go_on, fresh, NULL)
{
    char arguments[MAX_COMMAND];
    SH("stonet %s --out whole.model --threads 1", FIT);
    for (int k = 1; k <= 5; k++) {
        snprintf(arguments, sizeof arguments,
                 "stonet %s --checkpoint kept --every 0 --threads %d --out pieces.model", FIT, 1 + k % 2);
        signal_at(arguments, 2 * k, SIGKILL, 128 + SIGKILL, "pieces.model");
        assert_int_not_equal(access("pieces.model", F_OK), 0);
    }
    SH("stonet %s --checkpoint kept --every 0 --out pieces.model && cmp whole.model pieces.model", FIT);
    assert_int_not_equal(access("kept", F_OK), 0);
    SH("test -z \"$(ls .tmp* 2>/dev/null)\"");
}

TEST_WITH(killed_searches_go_on, fresh, NULL)
{
    static const char tune[] =
        "tune t.csv --target label --method stonet --dim 1 --set epochs=2 --set restarts=1 --grid "
        "weight_decay=0,0.01,0.1 --grid hidden=3,4 --folds 3";
    static const char compare[] =
        "compare t.csv --target y --methods sir,stonet,pca --dim 1 --folds 4 --set stonet:epochs=2 --set "
        "stonet:weight_decay=0.01 --set stonet:restarts=1";
    const char *const commands[] = {tune, compare};
    for (int c = 0; c < 2; c++) {
        char arguments[MAX_COMMAND];
        SH("stonet %s --out whole.csv --threads 1 --quiet", commands[c]);
        for (int k = 1; k <= 3; k++) {
            snprintf(arguments, sizeof arguments,
                     "stonet %s --checkpoint kept --every 0 --threads %d --out pieces.csv", commands[c],
                     1 + k % 2);
            signal_at(arguments, k, SIGKILL, 128 + SIGKILL, "pieces.csv");
        }
        SH("stonet %s --checkpoint kept --every 0 --out pieces.csv", commands[c]);
        assert_non_null(strstr(captured_err, "going on from the checkpoint kept"));
        SH("for f in whole pieces; do sed -E 's/^([a-z]*,).*((,[^,]*){4})$/\\1\\2/' $f.csv > $f; done; cmp "
           "whole pieces");
        assert_int_not_equal(access("kept", F_OK), 0);
    }
}

TEST_WITH(stopped_fits_go_on, fresh, NULL)
{
    SH("stonet %s --out whole.model --threads 1", FIT);
    char arguments[MAX_COMMAND];
    snprintf(arguments, sizeof arguments, "stonet %s --checkpoint kept --every 0 --out pieces.model", FIT);
    signal_at(arguments, 4, SIGINT, 1, "pieces.model");
    SH("stonet %s --checkpoint kept --out pieces.model && cmp whole.model pieces.model", FIT);
}

TEST_WITH(wrong_checkpoints_are_refused, fresh, NULL)
{
    char arguments[MAX_COMMAND];
    snprintf(arguments, sizeof arguments, "stonet %s --checkpoint kept --every 0 --out pieces.model", FIT);
    signal_at(arguments, 2, SIGKILL, 128 + SIGKILL, "pieces.model");
    assert_int_equal(sh("stonet %s --seed 2 --checkpoint kept --out x.model", FIT), 2);
    assert_non_null(strstr(captured_err, "another job"));
    sh_refused("stonet tune t.csv --target label --method sir --dim 1 --checkpoint kept", 2, "another job");
    assert_int_equal(sh("cp t.csv u.csv; stonet %s --checkpoint u.csv --out x.model", FIT), 1);
    assert_non_null(strstr(captured_err, "is not a checkpoint"));
    assert_int_equal(sh("stonet %s --checkpoint nowhere/kept --out x.model", FIT), 1);
    assert_int_not_equal(access("x.model", F_OK), 0);
    SH("head -c 100 kept > cut");
    assert_int_equal(sh("stonet %s --checkpoint cut --out x.model", FIT), 1);
    assert_non_null(strstr(captured_err, "remove it to begin anew"));
    sh_notes("stonet fit t.csv --target label --dim 1 --method sir --checkpoint new --out sir.model",
             "writes no checkpoint");
}

static int prepare(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("t.csv", 120, 1);
    return 0;
}

RUN_TESTS(prepare, leave_test_folder)
