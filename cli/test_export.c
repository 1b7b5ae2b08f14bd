/* stonet export. */
#include "cli/test_support.h"

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("t.csv", 60, 3);
    SH("stonet fit t.csv --target y --dim 1 --method sir --quiet --out m");
    return 0;
}

TEST(the_ending_tells_the_format)
{
    SH("stonet export m --out m.json; stonet export m --format json > again.json; cmp m.json again.json");
    SH("stonet export m --out m.onnx; stonet export m --format onnx > again.onnx; cmp m.onnx again.onnx");
    SH("stonet export m --out m.c --name credit; grep -q '^int credit_predict(' m.c");
    SN_AUTO(json_t) *all = JSON_OF("stonet export m --format json");
    assert_non_null(json_object_get(all, "steps"));
}

TEST(missing_cells_are_spoken_of)
{
    SH("sed '2s/^[^,]*,/,/' t.csv > holes.csv; stonet fit holes.csv --target y --dim 1 --method sir --quiet --out h");
    sh_prints("stonet export h --out h.c 2>&1", "missing cells in 1 column; the file gives no answer");
    SH("stonet fit holes.csv --target y --dim 1 --method sir --quiet --set missing=mean --out h");
    SH("stonet export h --out h.c 2>&1; stonet export m --out m.c 2>&1");
    assert_string_equal(captured_out, "");
}

TEST(mistakes_are_said)
{
    sh_refused("stonet export m", 2, "--format");
    sh_refused("stonet export m --format pmml", 2, "onnx, onnx-matrix, c or json");
    assert_int_equal(sh("stonet export m --out m.pmml"), 2);
    sh_refused("stonet export m --format c --name 1st", 2, "'1st'");
    assert_int_equal(sh("stonet export nothing --format c"), 1);
    assert_int_equal(sh("stonet export t.csv --format c"), 1);
    assert_int_equal(sh("cp m same.json; stonet export same.json --out same.json"), 2);
    assert_string_equal(captured_out, "");
    assert_int_equal(sh("stonet export m --format c > /dev/full"), 1);
}

/* A terminal is no place for bytes. */
TEST(onnx_does_not_go_to_a_terminal)
{
    char *words[] = {"stonet", "export", "m", "--format", "onnx", NULL};
    terminal self;
    terminal_start(&self, words);
    terminal_read(&self, NULL);
    assert_int_equal(end_of(self.child), 2);
    assert_non_null(strstr(self.text, "--out"));
}

RUN_TESTS(set_up, leave_test_folder)
