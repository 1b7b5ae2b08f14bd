/* Every command takes shards for the table that they were made of, with the same results. */
#include "cli/test_support.h"

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("t.csv", 2500, 1);
    return sh("stonet shard t.csv --target y --rows 1024 --out s");
}

/* The same command on both gives the same file and says the same. */
static void same(const char *before, const char *after)
{
    SH("stonet %s t.csv %s --out o1 > p1 2>/dev/null && stonet %s s %s --out o2 > p2 2>/dev/null", before,
       after, before, after);
    SH("cmp o1 o2 && cmp p1 p2");
}

TEST(fits_are_the_same)
{
    same("fit", "--target y --dim 1 --set epochs=2 --set lr=0.01 --set weight_decay=0.001");
    SH("cp o1 m");
    same("fit", "--target y --dim 1 --method sir");
    same("fit", "--target 4 --dim 1 --method save");
}

TEST(uses_are_the_same)
{
    same("transform m", "");
    same("predict m", "");
    SH("stonet score m t.csv > p1 && stonet score m s/index.json > p2 && cmp p1 p2");
}

/* A row near 0 among rows far from it: which digits count is known when there is a model, not before. */
TEST(digits_that_a_model_needs_are_kept)
{
    uint32_t seed = 5;
    for (int k = 0; k < 2; k++) {
        FILE *file = fopen(k == 0 ? "far.csv" : "new.csv", "w");
        fputs("a,b,y\n", file);
        if (k == 1) fputs("0,0,0\n", file);
        for (int i = 0; i < 300; i++) {
            const double u = next_number(&seed);
            fprintf(file, "%.17g,%.6f,%.6f\n", 1e9 + u, next_number(&seed), 5 * u);
        }
        fclose(file);
    }
    SH("stonet fit far.csv --target y --dim 1 --method sir --out far.model");
    SH("stonet shard new.csv --target y --out far.shards");
    SH("stonet predict far.model new.csv --out p1 && stonet predict far.model far.shards --out p2");
    SH("cmp p1 p2");
    SH("stonet fit new.csv --target y --dim 1 --method sir --out m1 && "
       "stonet fit far.shards --target y --dim 1 --method sir --out m2 && cmp m1 m2");
}

/* Waiting for a pipe that nobody writes to ends with the first signal, and the folder that was begun goes. */
TEST(signals_leave_nothing_behind)
{
    static const char *const signals[] = {"TERM", "HUP", "INT"};
    SH("mkfifo pipe");
    for (int k = 0; k < 3; k++) {
        /* sh ignores SIGINT for jobs in the background: env gives it back */
        SH("env --default-signal=INT stonet shard pipe --out left & p=$!\n"
           "while [ -z \"$(ls -d left* 2>/dev/null)\" ]; do sleep 0.05; done\n"
           "sleep 0.2; kill -%s $p; (sleep 20; kill -9 $p) & w=$!\n"
           "wait $p; r=$?; kill $w; [ $r = 1 ] && [ -z \"$(ls -d left* 2>/dev/null)\" ]",
           signals[k]);
        assert_non_null(strstr(captured_err, "stopped before pipe was read"));
    }
}

/* The first signal ends whoever waits for the other end of a pipe. */
TEST(pipes_are_not_waited_for)
{
    static const char *const commands[] = {
        "stonet fit pipe --target y --dim 1 --out o",
        "stonet fit t.csv --target y --dim 1 --method sir --learner linear --out pipe", /* is there in a
                                                                                           second */
        "stonet fit t.csv --target y --dim 1 --config pipe --out o",
        "stonet predict m pipe",
    };
    SH("rm -f pipe; mkfifo pipe");
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++)
        SH("%s & p=$!\n"
           "sleep 1; kill -TERM $p; (sleep 20; kill -9 $p) & w=$!\n"
           "wait $p; r=$?; kill $w; [ $r = 1 ] || [ $r = 143 ]",
           commands[k]);
    sh_refused("stonet info pipe", 1, "not a plain file");
}

/* 1 GB in 1 MB: refused by its ratio, or by what was allowed; and read when it was. */
TEST(packed_bytes_are_bounded)
{
    SH("(echo x,y; yes 1,2 | head -c 300000000) | gzip -1 > bomb.csv.gz");
    sh_refused("stonet fit bomb.csv.gz --target y --dim 1 --method sir --out o", 1, "more than");
    assert_non_null(strstr(captured_err, "--max-bytes"));
    SH("gzip -c t.csv > t.csv.gz");
    sh_refused("stonet predict m t.csv.gz --max-bytes 10000", 1, "more than 10000 bytes");
    assert_int_equal(sh("cat t.csv | stonet predict m /dev/stdin --max-bytes 10000"), 1);
    SH("stonet predict m t.csv.gz --max-bytes 1000000 --out p1 && stonet predict m t.csv --out p2");
    SH("cmp p1 p2");
}

TEST(what_is_wrong_is_said)
{
    sh_refused("stonet shard t.csv", 2, "--out DIR");
    sh_refused("stonet shard t.csv --out s", 1, "not empty");
    assert_int_equal(sh("stonet shard none.csv --out r"), 1);
    assert_int_equal(sh("stonet shard t.csv --target none --out r; ls -d r*"), 2);
    sh_refused("stonet fit s --target y --dim 1 --drop x1 --out o", 2, "'stonet shard'");
}

RUN_TESTS(set_up, leave_test_folder)
