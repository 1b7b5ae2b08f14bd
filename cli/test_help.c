/* What the program says about itself: help and tables fit a terminal, manual and completion have all options.
 */
#include "cli/test_support.h"

static const char *const commands[] = {"fit",     "transform",    "predict",    "score",   "tune",
                                       "compare", "order",        "importance", "coef",    "calibrate",
                                       "report",  "independence", "generate",   "methods", "info",
                                       "export",  "demo",         "completion", "shard",   "impute"};
enum { COMMANDS = sizeof commands / sizeof *commands, WIDTH = 80 };

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("t.csv", 60, 3);
    return sh("stonet fit t.csv --target y --drop label --method sir --set slices=5 --dim 1 --quiet --out m");
}

/* Letters as seen: bytes that continue a UTF-8 character take no room. */
static void check_width(const char *what)
{
    int column = 0;
    for (const char *at = captured_out; *at != '\0'; at++) {
        column = *at == '\n' ? 0 : column + (((unsigned char)*at & 0xC0) != 0x80);
        if (column <= WIDTH) continue;
        const char *from = at - column + 1;
        fail_msg("%s: a line is longer than %d: %.*s", what, WIDTH, column + 20, from);
    }
}

TEST(all_fits_a_terminal)
{
    SH("stonet --help");
    check_width("stonet");
    for (size_t i = 0; i < COMMANDS; i++) {
        SH("stonet %s --help", commands[i]);
        check_width(commands[i]);
        SH("stonet help %s", commands[i]);
    }
    static const char *const tables[] = {"methods", "methods stonet", "methods gsir", "generate"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        SH("stonet %s", tables[i]);
        check_width(tables[i]);
    }
    SH("stonet compare t.csv --target y --drop label --methods sir,pca --dim 1 --folds 3 --learner linear "
       "--quiet");
    check_width("compare");
}

/* Every option that the help shows is in the manual and in what the shells complete by. */
TEST(manual_and_completion_have_all_options)
{
    SH("stonet completion bash > bash.txt && bash -n bash.txt && stonet completion zsh > zsh.txt && "
       "stonet completion fish > fish.txt && stonet help --man > man.txt");
    for (size_t i = 0; i < COMMANDS; i++) {
        SH("stonet help --man %s > page.txt && grep -q 'stonet.-%s' man.txt", commands[i], commands[i]);
        SH("for option in $(stonet %s --help | sed -n 's/^  --\\([a-z-]*\\).*/\\1/p'); do "
           "grep -qF -- \"$(echo $option | sed 's/-/\\\\-/g')\" page.txt || echo \"manual of %s: $option\"; "
           "grep -qF -- \"--$option\" bash.txt || echo \"bash: $option\"; "
           "[ $option = help ] || grep -qF -- \"--$option\" zsh.txt || echo \"zsh: $option\"; "
           "[ $option = help ] || grep -qF -- \"-l $option\" fish.txt || echo \"fish: $option\"; done",
           commands[i], commands[i]);
        assert_string_equal(captured_out, "");
    }
    SH("bash -c 'source ./bash.txt; COMP_WORDS=(stonet fit --tar); COMP_CWORD=2; _stonet; echo "
       "${COMPREPLY[@]}'");
    assert_string_equal(captured_out, "--target --target-file --target-low --target-high\n");
    SH("bash -c 'source ./bash.txt; COMP_WORDS=(stonet tr); COMP_CWORD=1; _stonet; echo ${COMPREPLY[@]}'");
    assert_string_equal(captured_out, "transform\n");
    SH("bash -c 'source ./bash.txt; COMP_WORDS=(stonet fit --set weight_); COMP_CWORD=3; _stonet; echo "
       "${COMPREPLY[@]}'");
    assert_string_equal(captured_out, "weight_decay=\n");
    SH("grep -c -e \"-l set .*weight_decay=\" fish.txt && grep -c \"set.*setting:.*weight_decay=\" zsh.txt");
    assert_int_equal(sh("stonet completion tcsh"), 2);
    assert_int_equal(sh("stonet help --man nothing"), 2);
}

TEST(mistyped_words_are_answered)
{
    static const struct {
        const char *typed, *says;
    } words[] = {{"stonet fti t.csv", "did you mean 'fit'?"},
                 {"stonet fit t.csv --traget y", "did you mean --target?"},
                 {"stonet fit t.csv --target lable --dim 1 --out o", "did you mean 'label'?"},
                 {"stonet fit t.csv --target y --dim 1 --method stonte --out o", "stonet"},
                 {"stonet fit t.csv --target y --dim 1 --set epoch=3 --out o", "epochs"},
                 {"stonet fit t.csv --target y --dim 1 --set activation=tahn --out o", "tanh"},
                 {"stonet generate wavefrom --out w.csv", "waveform"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        assert_int_equal(sh("%s", words[i].typed), 2);
        if (strstr(captured_err, words[i].says) == NULL) fail_msg("%s: %s", words[i].typed, captured_err);
    }
}

/* Where there is no terminal, a line now and then says how far a job is. */
TEST(a_log_hears_of_the_progress)
{
    sh_notes(
        "STONET_PROGRESS=0 stonet fit t.csv --target y --drop label --dim 1 --set epochs=4 --set hidden=4 "
        "--set batch=20 --set activation=tanh --set weight_decay=0 --set restarts=1 --set front=none --set "
        "levels=none "
        "--out o",
        "training ");
    assert_non_null(strstr(captured_err, " left\n"));
    SH("stonet fit t.csv --target y --drop label --dim 1 --set epochs=4 --set hidden=4 --set weight_decay=0 "
       "--set activation=tanh --set restarts=1 --out o"); /* over long before the first line is due */
    assert_null(strstr(captured_err, " left\n"));
}

TEST(every_result_can_be_json)
{
    static const char *const jobs[] = {
        "fit t.csv --target y --drop label --method sir --dim 1 --out o --quiet",
        "transform m t.csv",
        "predict m t.csv",
        "score m t.csv",
        "info m",
        "methods",
        "generate",
        "coef m",
        "importance m t.csv",
        "order t.csv --target y --drop label --method sir",
        "report m t.csv --out page.html --quiet",
        "export m --out m.c",
        "generate waveform --rows 5 --out w.csv",
        "completion"};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        SH("stonet %s --json > o.json", jobs[i]);
        SH("head -c 1 o.json; tail -c 2 o.json");
        assert_true(captured_out[0] == '[' || captured_out[0] == '{');
    }
    SH("stonet predict m t.csv --json | head -4 | tr -d ' \\n'");
    assert_memory_equal(captured_out, "[{\"prediction\":", 15);
    SH("stonet transform m t.csv --id label --out z.json && head -5 z.json | tr -d ' \\n'");
    assert_memory_equal(captured_out, "[{\"label\":\"", 11);
    assert_int_equal(sh("stonet fit t.csv --target y --method sir --dim 1 --json --out -"), 2);
    assert_int_equal(sh("stonet export m --format c --json"), 2);
    assert_int_equal(sh("stonet report m t.csv --json --out -"), 2);
    sh_refused("stonet export m --json --out \"$(printf '\\377.c')\"", 1, "a name in it is not UTF-8");
    sh_prints("stonet export m --out m.c --name mine --json && grep -c mine m.c", "\"format\": \"c\"");
    SH("stonet completion --json | tr -d ' \\n'");
    for (const char *name = "fit\0report\0export\0demo\0completion\0"; *name != '\0';
         name += strlen(name) + 1) {
        char entry[64];
        snprintf(entry, sizeof entry, "{\"name\":\"%s\"", name);
        assert_non_null(strstr(captured_out, entry));
    }
}

/* What cannot be written is said, and is no success. */
TEST(a_full_disk_is_a_failure)
{
    static const char *const jobs[] = {"--version", "--help",          "help fit",       "fit --help",
                                       "methods",   "completion bash", "help --man",     "help --man fit",
                                       "generate",  "info m",          "predict m t.csv"};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        if (sh("stonet %s > /dev/full", jobs[i]) != 1 || strstr(captured_err, "cannot write") == NULL)
            fail_msg("%s: %s", jobs[i], captured_err);
    }
    /* The limit on the size of a file sends a signal, which by itself ends a program without a word. */
    sh_refused("bash -c 'ulimit -f 4; exec stonet generate waveform --rows 5000 --out w.csv'", 1, "w.csv");
    assert_non_null(strstr(captured_err, "File too large"));
}

/* OpenMP ends a program that asks for more threads than the system gives. */
TEST(any_number_of_threads_will_do)
{
    SH("stonet predict m t.csv > one.csv");
    SH("OMP_NUM_THREADS=99999 stonet predict m t.csv > many.csv && cmp one.csv many.csv");
    SH("stonet predict m t.csv --threads 1024 > many.csv && cmp one.csv many.csv");
    SH("OMP_NUM_THREADS=99999 stonet compare t.csv --target y --drop label --methods sir --dim 1 --folds 3 "
       "--quiet");
}

RUN_TESTS(set_up, leave_test_folder)
