/* What is to be written is looked at before the work begins, and is never one of the inputs. */
#include "cli/test_support.h"

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("all.csv", 60, 1);
    return sh("cut -d, -f1-4 all.csv > in.csv && cp in.csv copy.csv && cut -d, -f1-3 in.csv > x.csv "
              "&& cut -d, -f4 in.csv > y.csv && ln -s in.csv link.csv && ln in.csv hard.csv && mkdir sub "
              "&& echo '{\"method\": \"pca\", \"dim\": 1}' > c.json "
              "&& stonet fit in.csv --target y --method pca --dim 1 --quiet --out m.model "
              "&& cp m.model kept.model");
}

/* Ends as wrong usage that says `words`, and leaves the inputs alone. */
static void refused(const char *command, const char *words)
{
    int status = sh("%s", command);
    if (status != 2 || strstr(captured_err, words) == NULL)
        fail_msg("%s\nexit status %d: %s", command, status, captured_err);
    SH("cmp in.csv copy.csv && cmp m.model kept.model && test -s y.csv && test -s c.json");
}

#define FIT " --target y --method pca --dim 1 --quiet "

TEST(an_input_is_not_written_over)
{
    refused("stonet fit in.csv" FIT "--out in.csv", "--out would write over in.csv, which is read");
    refused("stonet fit in.csv" FIT "--out ./sub/../in.csv", "write over in.csv");
    refused("stonet fit in.csv" FIT "--out link.csv", "write over in.csv");
    refused("stonet fit link.csv" FIT "--out in.csv", "write over link.csv");
    refused("stonet fit in.csv" FIT "--out hard.csv", "write over in.csv");
    refused("stonet fit in.csv" FIT "--out new.model --log in.csv", "--log would write over in.csv");
    refused("stonet fit x.csv --target-file y.csv --method pca --dim 1 --out y.csv",
            "--out would write over y.csv, which is read by --target-file");
    refused("stonet fit in.csv --target y --config c.json --out c.json", "read by --config");
    refused("stonet transform m.model in.csv --out in.csv", "write over in.csv");
    refused("stonet transform m.model in.csv --out m.model", "write over m.model");
    refused("stonet predict m.model in.csv --out in.csv", "write over in.csv");
    refused("stonet tune in.csv" FIT "--best in.csv", "--best would write over in.csv");
    refused("stonet tune in.csv --target y --config c.json --best c.json", "read by --config");
    refused("stonet compare x.csv --target-file y.csv --methods pca --dim 1 --out y.csv", "by --target-file");
    refused("stonet compare in.csv copy.csv --target y --methods pca --dim 1 --out copy.csv",
            "write over copy.csv");
    refused("stonet compare copy.csv --target y --methods pca --dim 1 --test in.csv --out in.csv",
            "read by --test");
}

TEST(two_results_do_not_share_a_file)
{
    refused("stonet fit in.csv" FIT "--out both --log both", "--out and --log would write the same file");
    refused("stonet fit in.csv" FIT "--out both --log sub/../both", "would write the same file");
    refused("stonet generate waveform --rows 5 --out w.csv --truth ./w.csv", "would write the same file");
    refused("stonet tune in.csv" FIT "--best b.json --out b.json", "would write the same file");
    assert_int_not_equal(sh("test -e both -o -e w.csv -o -e b.json"), 0);
    SH("stonet fit in.csv" FIT "--out /dev/null --log /dev/null"); /* a device takes anything */
    SH("stonet fit in.csv" FIT "--out sub/in.csv");                /* the same name, another folder */
}

/* The data are missing in all of these, so what is said shows that the output was looked at first. */
TEST(what_cannot_be_written_is_said_first)
{
    char name[300];
    memset(name, 'n', 290);
    name[290] = '\0';
    assert_int_equal(sh("stonet fit none.csv" FIT "--out %s", name), 1);
    assert_non_null(strstr(captured_err, "File name too long"));
    sh_refused("stonet fit none.csv" FIT "--out /proc/m", 1, "cannot write /proc/m");
    SH("touch locked && chmod 400 locked && mkdir shut && chmod 500 shut");
    if (geteuid() == 0) {
        print_message("the superuser may write everywhere: permissions are not tested\n");
    } else {
        sh_refused("stonet fit none.csv" FIT "--out locked", 1, "cannot write locked");
        sh_refused("stonet fit none.csv" FIT "--out shut/m", 1, "cannot write shut/m");
    }
    sh_refused("stonet fit none.csv" FIT "--out m.model", 1, "none.csv");
    SH("cmp m.model kept.model && test \"$(ls | grep -c tmp)\" = 0");
}

TEST(a_full_disk_is_said_first)
{
    SH("mkdir disk");
    if (sh("unshare -rm mount -t tmpfs -o size=64k none disk") != 0) {
        print_message("no small disk can be made here: a full one is not tested\n");
        skip();
    }
    sh_notes("unshare -rm sh -c 'mount -t tmpfs -o size=64k none disk && head -c 65536 /dev/zero > disk/all "
             "&& stonet fit none.csv" FIT "--out disk/m; test $? = 1'",
             "cannot write disk/m: No space left on device");
}

/* 18 classes: a table of 19 columns, a line a class, each with its numbers. */
TEST(wide_tables_keep_their_lines)
{
    SH("awk 'BEGIN {print \"a,b,y\"; for (i = 0; i < 72; i++) "
       "print i %% 18 + i / 99 \",\" i * i %% 7 \",c\" 100 + i %% 18}' > classes.csv");
    SH("stonet fit classes.csv --target y --method pca --dim 1 --quiet --out classes.model");
    SH("stonet score classes.model classes.csv |"
       " awk '/^c1/ {n += NF == 19} /^true/ {h = NF} END {print n, h}'");
    assert_string_equal(captured_out, "18 21\n");
}

/* impute: a table for every draw, in the order of the file, with the cells that are there as they stand. */
TEST(completed_tables_are_written)
{
    SH("stonet generate passengers --rows 200 --out gaps.csv");
    SH("stonet impute gaps.csv --draws 2 --quiet --out 'full-{draw}.csv' && test ! -e full-3.csv");
    SH("grep -c NA gaps.csv | awk '{print ($1 > 5)}'; grep -c NA full-1.csv || true");
    assert_string_equal(captured_out, "1\n0\n");
    SH("head -n 1 full-2.csv; cut -d, -f1,2,4,5 gaps.csv > a; cut -d, -f1,2,4,5 full-2.csv > b; cmp a b");
    assert_string_equal(captured_out, "name,sex,age,class,survived\n");
    SH("stonet impute gaps.csv --draws 2 --quiet --out 'again-{draw}.csv'; cmp again-2.csv full-2.csv; "
       "cmp -s full-1.csv full-2.csv || echo other");
    assert_string_equal(captured_out, "other\n");
    refused("stonet impute gaps.csv --out one.csv", "put {draw} into its name");
    refused("stonet impute gaps.csv", "give --out my-{draw}.csv");
}

/* --dim 1,3: the models of two calls, each in a file of its own. */
TEST(a_list_of_dims_is_several_models)
{
#define SHORT "stonet fit in.csv --target y --set epochs=5 --quiet "
    SH(SHORT "--dim 1,3 --out 'list{dim}.model' --log 'list{dim}.csv' --json | head -n 1");
    assert_string_equal(captured_out, "[\n");
    SH("test -s list1.csv -a -s list3.csv && test ! -e 'list{dim}.model'");
    SH(SHORT "--dim 1 --out one.model && cmp one.model list1.model");
    SH(SHORT "--dim 3 --out 'three{dim}.model' && cmp three3.model list3.model");
    refused("stonet fit in.csv --target y --dim 1,2 --out m.model", "put {dim} into its name");
    refused("stonet fit in.csv --target y --dim 1,2 --out 'a{dim}' --log b.csv", "--log is one file");
    refused("stonet fit none.csv --target y --dim 1,0 --out 'a{dim}'", "cannot be '0'");
    refused("stonet fit none.csv --target y --dim 1,auto --out 'a{dim}'", "cannot be 'auto'");
    SH(SHORT "--dim 1,2 --checkpoint kept --out 'c{dim}.model' && test ! -e kept && cmp c1.model one.model");
}

RUN_TESTS(set_up, leave_test_folder)
