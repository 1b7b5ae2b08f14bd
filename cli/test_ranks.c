/*
 * The program under mpirun, with more ranks than cores: the same bytes for every number of ranks and threads,
 * one voice, and an end for all when one ends. Without mpirun, or built without MPI, the tests are skipped.
 */
#include "cli/test_watch.h"

#define MPIRUN "mpirun --oversubscribe -n %d stonet "

static const char TRAINING[] =
    "fit t.csv --target label --dim 2 --set hidden=5 --set epochs=3 --set batch=600 --set "
    "weight_decay=0.01 --set restarts=2 --set sdr_iterations=2";
static const char LASTING[] = /* long enough to be killed before its end */
    "fit t.csv --target label --dim 2 --set hidden=5 --set epochs=60 --set batch=600 --set "
    "weight_decay=0.01 --set restarts=1 --set sdr_iterations=2";
static const char REGRESSION[] =
    "fit t.csv --target y --dim 1 --set hidden=4 --set epochs=2 --set batch=256 --set "
    "weight_decay=0.01 --set restarts=1 --set output=refit";

static int fresh(void **state)
{
    (void)state;
    return system("rm -f kept *.model") == 0 ? 0 : -1;
}

/* Ranks and threads: every number of ranks with either number of threads. */
TEST_WITH(ranks_and_threads_change_nothing, fresh, NULL)
{
    static const int ranks[] = {1, 2, 3, 4, 7};
    const char *const fits[] = {TRAINING, REGRESSION};
    for (int f = 0; f < 2; f++) {
        SH("stonet %s --threads 1 --out one.model", fits[f]);
        for (int k = 0; k < 5; k++)
            for (int threads = 1; threads <= 2 - f; threads++) {
                SH(MPIRUN "%s --threads %d --out many.model", ranks[k], fits[f], threads);
                SH("cmp one.model many.model && rm many.model");
            }
    }
}

/* The other MPI loads a shared object of its own, and gives the same bytes. */
TEST_WITH(mpich_gives_the_same_bytes, fresh, NULL)
{
    if (sh("command -v mpiexec.mpich && ls $(dirname \"$STONET\")/../lib/libstonet-mpich.so") != 0) {
        printf("skipped: this test needs mpich, and a build where libmpich-dev is installed\n");
        return;
    }
    SH("stonet %s --threads 1 --out one.model", TRAINING);
    SH("mpiexec.mpich -n 3 stonet %s --threads 1 --out many.model", TRAINING);
    const char *said = strstr(captured_err, "model written");
    assert_non_null(said);
    assert_null(strstr(said + 1, "model written")); /* one voice: three processes that know each other */
    SH("cmp one.model many.model");
}

/* Shards, of which every rank maps its rows. */
TEST_WITH(shards_are_shared_out, fresh, NULL)
{
    SH("rm -rf t.shards && stonet shard t.csv --target label --rows 1024 --out t.shards");
    SH("stonet %s --threads 1 --out one.model", TRAINING);
    SH("mpirun --oversubscribe -n 3 stonet fit t.shards %s --threads 1 --out many.model",
       strstr(TRAINING, "--target"));
    SH("cmp one.model many.model");
}

/* Methods that are sums over rows, with rows enough for several shards. */
TEST_WITH(sums_over_rows_are_shared_out, fresh, NULL)
{
    static const char *const methods[] = {"pca", "sir", "save", "dr", "phd"};
    write_table("l.csv", 40000, 3);
    for (int m = 0; m < 5; m++) {
        SH("stonet fit l.csv --target y --drop label --dim 1 --method %s --threads 1 --out one.model",
           methods[m]);
        for (int ranks = 3; ranks <= (m == 1 ? 7 : 3); ranks += 4) {
            SH(MPIRUN "fit l.csv --target y --drop label --dim 1 --method %s --threads 1 --out many.model",
               ranks, methods[m]);
            SH("cmp one.model many.model && rm many.model");
        }
    }
}

/* The same of kernel methods, whose kernel functions are at landmarks. */
TEST_WITH(sums_over_landmarks_are_shared_out, fresh, NULL)
{
    static const char *const methods[] = {"gsir", "ksir", "gkdr"};
    for (int m = 0; m < 3; m++) {
        SH("stonet fit l.csv --target y --drop label --dim 1 --method %s --set landmarks=20 --threads 1 "
           "--out "
           "one.model",
           methods[m]);
        for (int ranks = m == 0 ? 2 : 3; ranks <= 3; ranks++) {
            SH(MPIRUN "fit l.csv --target y --drop label --dim 1 --method %s --set landmarks=20 --threads %d "
                      "--out many.model",
               ranks, methods[m], ranks - 1);
            SH("cmp one.model many.model && rm many.model");
        }
    }
}

/* batch=auto of a long training: the noise of the gradient is measured by all ranks together. */
TEST_WITH(the_batch_does_not_depend_on_the_ranks, fresh, NULL)
{
    static const char fit[] =
        "fit l.csv --target y --drop label --dim 1 --set hidden=3 --set epochs=33 --set "
        "weight_decay=0.01 --set restarts=1 --set sdr_iterations=1";
    SH("stonet %s --threads 2 --out one.model", fit);
    assert_non_null(strstr(captured_err, "batch=auto: batches of 256 rows"));
    SH(MPIRUN "%s --threads 1 --out many.model", 3, fit);
    SH("cmp one.model many.model");
}

/* Few rows, whose trainings are shared out whole; many in a batch, of which each is shared out. */
TEST_WITH(the_choice_of_settings_is_shared_out, fresh, NULL)
{
    static const char small[] = "fit s.csv --target label --dim 1 --set hidden=3 --set restarts=2 --set "
                                "front=none --set activation=tanh";
    static const char large[] =
        "fit t.csv --target y --dim 1 --set hidden=3 --set restarts=1 --set batch=400 "
        "--set weight_decay=0.01";
    const char *const fits[] = {small, large};
    for (int f = 0; f < 2; f++) {
        SH("stonet %s --threads 2 --out one.model", fits[f]);
        SH(MPIRUN "%s --threads %d --out many.model", f == 0 ? 4 : 3, fits[f], 2 - f);
        SH("cmp one.model many.model");
    }
}

/* The columns of a table of results without the seconds, which are the last of the three numbers after the
   settings. */
TEST_WITH(jobs_are_shared_out, fresh, NULL)
{
    static const char tune[] =
        "tune s.csv --target label --method stonet --dim 1 --set epochs=2 --set restarts=1 "
        "--grid weight_decay=0,0.01,0.1 --grid hidden=2,3 --folds 3";
    static const char compare[] = "compare s.csv --target y --methods sir,pca,gsir,stonet --tune --dim 1 "
                                  "--folds 3 --set stonet:epochs=2 "
                                  "--set stonet:weight_decay=0.01";
    const char *const commands[] = {tune, compare};
    for (int c = 0; c < 2; c++)
        for (int ranks = 2; ranks <= 4; ranks += 2) {
            SH("stonet %s --quiet --out one.csv", commands[c]);
            SH(MPIRUN "%s --quiet --threads %d --out many.csv", ranks, commands[c], ranks / 2);
            SH("for f in one many; do sed -E 's/^([a-z]*,).*((,[^,]*){4})$/\\1\\2/' $f.csv > $f; done; "
               "cmp one many");
        }
}

TEST_WITH(models_are_used_together, fresh, NULL)
{
    SH("stonet %s --out one.model", TRAINING);
    SH("stonet transform one.model t.csv --out one.csv && " MPIRUN
       "transform one.model t.csv --out many.csv && "
       "cmp one.csv many.csv",
       3);
    SH("stonet predict one.model t.csv > one && " MPIRUN "predict one.model t.csv > many && cmp one many", 2);
    SH("stonet score one.model t.csv --target label --json > one && " MPIRUN
       "score one.model t.csv --target label --json > many && cmp one many",
       3);
    SH("stonet fit t.csv --target label --dim 2 --set epochs=1 --set weight_decay=0 --out a.model 2> "
       "one.err; "
       "sed -i 's/in .* s$//' one.err");
    SH(MPIRUN
       "fit t.csv --target label --dim 2 --set epochs=1 --set weight_decay=0 --out a.model 2> many.err; "
       "sed -i 's/in .* s$//' many.err; cmp one.err many.err",
       3);
}

TEST_WITH(what_cannot_be_shared_out_is_refused, fresh, NULL)
{
    assert_int_not_equal(sh(MPIRUN "fit s.csv --target y --dim 1 --method gsir --out g.model", 2), 0);
    assert_non_null(strstr(captured_err, "set landmarks=500"));
    assert_int_not_equal(
        sh(MPIRUN "fit s.csv --target y --dim 1 --method gsave --set landmarks=20 --out g.model", 2), 0);
    assert_non_null(strstr(captured_err, "needs all rows in one"));
    assert_int_not_equal(sh(MPIRUN "order s.csv --target y --method sir", 2), 0);
    assert_non_null(strstr(captured_err, "start it without mpirun"));
    assert_int_not_equal(sh(MPIRUN "fit nowhere.csv --target y --dim 1 --out g.model", 3), 0);
    const char *said = strstr(captured_err, "cannot read nowhere.csv");
    assert_non_null(said);
    assert_null(strstr(said + 1, "cannot read nowhere.csv")); /* by one of them */
    assert_int_not_equal(access("g.model", F_OK), 0);
}

/* Ranks that were not started with the same files and options: all end with a sentence, and write nothing. */
TEST_WITH(other_data_settings_or_seeds_are_refused, fresh, NULL)
{
    static const char *const pairs[][2] = {
        {"fit s.csv --target y --drop label --dim 1 --method sir --out d.model",
         "fit other.csv --target y --drop label --dim 1 --method sir --out d.model"},
        {"fit s.csv --target y --drop label --dim 1 --set epochs=2 --set restarts=1 --out d.model",
         "fit s.csv --target y --drop label --dim 1 --set epochs=2 --set restarts=1 --seed 7 --out d.model"},
        {"fit s.csv --target y --drop label --dim 1 --method sir --out d.model",
         "fit s.csv --target y --drop label --dim 2 --method sir --out d.model"},
        {"tune s.csv --target y --drop label --dim 1 --method sir --grid slices=4,5 --out d.model",
         "tune s.csv --target y --drop label --dim 1 --method sir --grid slices=4,6 --out d.model"},
        {"compare s.csv --target y --drop label --dim 1 --methods sir --folds 3",
         "compare other.csv --target y --drop label --dim 1 --methods sir --folds 3"},
        {"predict p.model s.csv --out d.model", "predict p.model other.csv --out d.model"}};
    SH("sed '3s/^[^,]*/9/' s.csv > other.csv");
    SH("stonet fit s.csv --target y --drop label --dim 1 --method sir --quiet --out p.model");
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        const int status =
            sh("timeout 60 mpirun --oversubscribe -n 1 stonet %s : -n 1 stonet %s", pairs[k][0], pairs[k][1]);
        if (status == 0 || strstr(captured_err, "has other data, settings, seed") == NULL)
            fail_msg("%d: %s: %s", status, pairs[k][1], captured_err);
        assert_int_not_equal(access("d.model", F_OK), 0);
    }
}

/* The processes that mpirun has started. */
static int children_of(pid_t parent, pid_t *list, int room)
{
    char path[64], text[256], *at = text, *end;
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    read_whole(path, text, sizeof text);
    for (long pid; count < room && (pid = strtol(at, &end, 10)) > 0; at = end) list[count++] = (pid_t)pid;
    return count;
}

/* Any rank is killed in the middle: all end, the checkpoint is whole, and another number of ranks goes on. */
TEST_WITH(killed_ranks_end_all_and_others_go_on, fresh, NULL)
{
    char command[MAX_COMMAND];
    SH("stonet %s --threads 1 --out one.model", LASTING);
    for (int victim = 0; victim < 3; victim++) {
        pid_t ranks[8] = {0};
        (void)unlink("kept"); /* each is killed early */
        snprintf(command, sizeof command,
                 MPIRUN "%s --threads 1 --checkpoint kept --every 0 --out many.model", 3, LASTING);
        watched self = start(command);
        assert_true(wait_for_checkpoints(&self, 2));
        assert_int_equal(children_of(self.child, ranks, 8), 3);
        kill(ranks[victim], SIGKILL);
        assert_int_not_equal(finish(&self), 0);
        assert_int_not_equal(access("many.model", F_OK), 0);
        assert_int_equal(access("kept", F_OK), 0);
    }
    SH(MPIRUN "%s --threads 2 --checkpoint kept --every 0 --out many.model", 2, LASTING);
    assert_non_null(strstr(captured_err, "going on"));
    SH("cmp one.model many.model");
    assert_int_not_equal(access("kept", F_OK), 0);
}

int main(void)
{
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("OMP_WAIT_POLICY", "passive", 1);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* Open MPI leaves memory of its own behind */
    if (enter_test_folder(NULL) != 0) return 1;
    write_table("t.csv", 1300, 1);
    write_table("s.csv", 150, 2);
    if (sh("command -v mpirun && ls $(dirname \"$STONET\")/../lib/libstonet-mpi.so") != 0) {
        printf("skipped: these tests need mpirun, and a build where libopenmpi-dev is installed\n");
        return leave_test_folder(NULL) == 0 ? 0 : 1;
    }
    const int failed = sn_test_run(NULL, NULL);
    return leave_test_folder(NULL) == 0 ? failed : 1;
}
