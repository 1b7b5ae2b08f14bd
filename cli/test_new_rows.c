/* New rows for a model: what the model does not use must not matter, what it uses must. */
#include "cli/test_support.h"

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("all.csv", 120, 1);
    return sh(
        "cut -d, -f1-4 all.csv > train.csv && sed 1d train.csv > bare.csv && head -6 train.csv > new.csv "
        "&& stonet fit train.csv --target y --method pca --dim 2 --quiet --out named.model "
        "&& stonet fit bare.csv --target 4 --method pca --dim 2 --quiet --out bare.model "
        "&& stonet predict named.model new.csv > expected.csv "
        "&& stonet transform named.model new.csv > z.csv");
}

/* The rows of new.csv, changed by an awk programme, give the same predictions and the same Z. */
static void same(const char *model, const char *awk)
{
    SH("awk -F, -v OFS=, '%s' new.csv > changed.csv", awk);
    SH("stonet predict %s changed.csv | cmp - expected.csv", model);
    SH("stonet transform %s changed.csv | cmp - z.csv", model);
}

TEST(the_response_may_be_blank)
{
    same("named.model", "NR > 1 {$4 = \"\"} 1");
    same("named.model", "NR == 3 {$4 = \"NA\"} 1");
    same("named.model", "NR > 1 {$4 = \"to come\"} 1");
    same("named.model", "{print $3, $2, $1}"); /* and need not be there, nor the order be the same */
    same("bare.model", "NR > 1 {$4 = \"\"; print}");
    same("bare.model", "NR > 1 {print $1, $2, $3}");
}

TEST(other_columns_may_hold_anything)
{
    same("named.model", "{print $1, $2, $3, NR == 1 ? \"note\" : NR == 2 ? \"\" : \"5\"}");
    same("named.model", "{print NR == 1 ? \"huge\" : \"1e300\", $1, $2, $3}");
    same("named.model", "{print NR == 1 ? \"when\" : \"inf\", $1, $2, $3}");
    same("named.model", "{print $1, NR == 1 ? \"odd\" : NR == 4 ? \"oops\" : NR / 7, $2, $3}");
    SH("awk -F, -v OFS=, '{print $0, NR == 1 ? \"note\" : \"\"}' new.csv > changed.csv");
    SH("stonet score named.model new.csv --target y > score.txt");
    SH("stonet score named.model changed.csv --target y | cmp - score.txt");
}

TEST(used_columns_still_matter)
{
    SH("awk -F, -v OFS=, 'NR == 3 {$2 = \"1e39\"} 1' new.csv > changed.csv");
    sh_refused("stonet predict named.model changed.csv", 1, "too large for single precision");
    SH("cut -d, -f1,3 new.csv > changed.csv");
    sh_refused("stonet predict named.model changed.csv", 1, "has no column 'b'");
    SH("cut -d, -f1,3 new.csv | sed 1d > changed.csv");
    sh_refused("stonet predict bare.model changed.csv", 1, "has 2 columns and the model was fitted on 3");
    SH("awk -F, -v OFS=, 'NR == 3 {$4 = \"\"} 1' new.csv > changed.csv");
    sh_refused("stonet score named.model changed.csv --target y", 1, "the cell of the target is empty");
}

/* A text column that looks like an identifier is left out of the model, so it may be blank or missing. */
TEST(an_identifier_may_be_missing)
{
    SH("awk -F, -v OFS=, 'NR > 1 {print \"id\" NR, $1, $2, $3, $4}' train.csv > ids.csv");
    SH("stonet fit ids.csv --target 5 --method pca --dim 2 --quiet --out ids.model");
    same("ids.model", "NR > 1 {print \"\", $1, $2, $3, $4}");
    same("ids.model", "NR > 1 {print \"\", $1, $2, $3, \"\"}");
    same("ids.model", "NR > 1 {print $1, $2, $3}");
}

/* Four columns of doubles as .npy, the last not a number. */
TEST(arrays_may_lack_the_response)
{
    FILE *text = fopen("new.csv", "r"), *array = fopen("new.npy", "wb");
    assert_true(text != NULL && array != NULL);
    char header[119];
    memset(header, ' ', sizeof header);
    memcpy(header, "{'descr': '<f8', 'fortran_order': False, 'shape': (5, 4), }", 59);
    header[117] = '\n';
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, array);
    fwrite(header, 1, 118, array);
    assert_int_equal(fscanf(text, "%*s"), 0);
    for (int i = 0; i < 5; i++) {
        double row[4];
        assert_int_equal(fscanf(text, "%lf,%lf,%lf,%lf", &row[0], &row[1], &row[2], &row[3]), 4);
        row[3] = (double)NAN;
        fwrite(row, sizeof *row, 4, array);
    }
    fclose(text);
    fclose(array);
    SH("stonet predict bare.model new.npy | cmp - expected.csv");
    SH("stonet transform bare.model new.npy | cmp - z.csv");
}

/* Names that are numbers look like a row of data, unless one says what they are. */
TEST(headers_of_numbers)
{
    SH("awk -F, -v OFS=, 'NR == 1 {print 2019, 2020, 2021, 2022; next} 1' train.csv > years.csv");
    SH("stonet fit years.csv --header yes --target 2022 --method pca --dim 2 --quiet --out years.model");
    SH("stonet info years.model --json | grep -A3 '\"inputs\"' | grep -q 2020");
    SH("awk -F, -v OFS=, 'NR == 1 {print 2019, 2020, 2021, 2022; next} 1' new.csv > new-years.csv");
    SH("stonet predict years.model new-years.csv --header yes | cmp - expected.csv");
    SH("stonet transform years.model new-years.csv --header yes | cmp - z.csv");
    SH("stonet transform years.model new-years.csv | wc -l > lines && grep -qx 7 lines"); /* a row too many */
    sh_prints("printf 'a,b\n1,x\n2,y\n' > words.csv && stonet independence words.csv --header no --x 1 --y 2 "
              "--json",
              "\"n\": 3");
    sh_refused("stonet predict years.model new-years.csv --header perhaps", 2,
               "--header takes yes, no or auto, not 'perhaps'");
    SH("stonet generate waveform --rows 9 --out w.npy");
    sh_refused("stonet fit w.npy --header yes --target 1 --method pca --dim 1 --out w.model", 2,
               "has no header");
}

/* Of two columns of one name, nobody knows which is meant; unless the model was fitted on both. */
TEST(names_that_come_twice)
{
    SH("awk -F, -v OFS=, '{print NR == 1 ? \"a\" : 1000, $0}' new.csv > twice.csv");
    SH("awk -F, -v OFS=, '{print $0, NR == 1 ? \"z,z\" : \"1,2\"}' new.csv > others.csv");
    static const char *const commands[] = {"predict", "transform", "score"};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(sh("stonet %s named.model twice.csv", commands[k]), 1);
        assert_non_null(
            strstr(captured_err, "twice.csv has two columns 'a', and the model was fitted on one"));
        SH("stonet %s named.model others.csv", commands[k]); /* which the model does not use */
    }
    SH("awk -F, -v OFS=, '{print NR == 1 ? \"a\" : NR * NR %% 17, $0}' train.csv > both.csv");
    sh_notes("stonet fit both.csv --target y --method pca --dim 2 --out both.model",
             "two columns have the same name: the later one is called 'a.2'");
    SH("stonet predict both.model both.csv && stonet score both.model twice.csv");
}

/* A label that would turn the terminal red, clear it and ring its bell. */
TEST(control_characters_are_shown)
{
    SH("printf 'x,bad\\033[2Jname,y\\n' > evil.csv");
    SH("awk 'BEGIN {for (i = 0; i < 20; i++) print i * i %% 7 \",\" i %% 3 \",\" (i %% 2 ? "
       "\"\\033[31mred\\007\" : "
       "\"ok\")}' >> evil.csv");
    SH("stonet fit evil.csv --target y --method pca --dim 1 --out evil.model");
    assert_null(strchr(captured_err, '\033'));
    SH("stonet info evil.model");
    assert_null(strchr(captured_out, '\033'));
    assert_non_null(strstr(captured_out, "\\x1b[31mred\\x07"));
    assert_non_null(strstr(captured_out, "bad\\x1b[2Jname"));
    SH("sed 's/ok/\\x1b[0m\\xc2\\x9bnew/' evil.csv > other.csv");
    assert_int_equal(sh("stonet score evil.model other.csv --target y"), 1);
    assert_null(strchr(captured_err, '\033'));
    assert_non_null(strstr(captured_err, "'\\x1b[0m\\xc2\\x9bnew'"));
    SH("stonet predict evil.model evil.csv"); /* into a file: as it is */
    assert_non_null(strchr(captured_out, '\033'));
    SH("sed 's/.\\[31mred./to\xe2\x80\xaered/' evil.csv > turned.csv"); /* U+202E turns the text around */
    SH("stonet fit turned.csv --target y --method pca --dim 1 --quiet --out turned.model");
    SH("stonet info turned.model");
    assert_null(strstr(captured_out, "\xe2\x80\xae"));
    assert_non_null(strstr(captured_out, "to\\xe2\\x80\\xaered"));
}

/* The column that names the rows cannot be called as a column of the output. */
TEST(names_of_rows_do_not_meet_predictions)
{
    SH("stonet generate ring --rows 40 --out r.csv && stonet fit r.csv --target y --method sir --dim 1 "
       "--quiet "
       "--out r.model");
    SH("sed '1s/^/prediction,/; 1!s/^/a,/' r.csv > named.csv");
    static const char *const ways[] = {"", "--json", "--out o.csv"};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        assert_int_equal(sh("stonet predict r.model named.csv --id prediction %s", ways[k]), 1);
        assert_non_null(strstr(captured_err, "names the rows, and the output has a column 'prediction'"));
    }
    SH("stonet transform r.model named.csv --id prediction | head -1");
    assert_string_equal(captured_out, "prediction,z1\n");
}

/* Classes are called as the file calls them, also where these are numbers. */
TEST(labels_keep_their_spelling)
{
    static const char *const pairs[][2] = {{"01", "2.0"},
                                           {"12345678901", "12345678902"},
                                           {"9007199254740993", "9007199254740997"},
                                           {"9007199254740993", "9007199254740992"},
                                           {"-007", "1e3"}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        SH("awk 'BEGIN {print \"a,b,y\"; for (i = 0; i < 60; i++) print i %% 2 + i / 1000 \",\" i * i %% 7 "
           "\",\" "
           "(i %% 2 ? \"%s\" : \"%s\")}' > l.csv",
           pairs[k][0], pairs[k][1]);
        SH("stonet fit l.csv --target y --method sir --dim 1 --quiet --out l.model");
        SH("stonet predict l.model l.csv > p.csv && cut -d, -f3 l.csv | tail -n +2 > y.csv && tail -n +2 "
           "p.csv | "
           "cmp - y.csv");
        SH("stonet score l.model l.csv --json | tr -d ' \n' | grep '\"error_rate\":0.0'");
        SH("stonet predict l.model l.csv --proba | head -1 | grep -F -- '%s'", pairs[k][0]);
    }
}

/* Two labels that are one double are two classes all the same, also to a table that has one of them. Where a
   double is all there is of them, or they are many, it is said. */
TEST(labels_beyond_doubles_stay_apart)
{
    SH("awk 'BEGIN {print \"a,b,y\"; for (i = 0; i < 60; i++) print i %% 2 + i / 1000 \",\" i * i %% 7 \",\" "
       "\"900719925474099\" (i %% 2 ? \"3\" : \"2\")}' > l.csv");
    SH("stonet fit l.csv --target y --method sir --dim 1 --quiet --out l.model");
    SH("sed -n '1p; /3$/p' l.csv > one.csv && stonet score l.model one.csv --json | tr -d ' \n' | "
       "grep '\"error_rate\":0.0'");
    SH("awk 'BEGIN {print \"a,b,y\"; for (i = 0; i < 60; i++) print i \",\" i * i %% 7 \",\" \"90071992547\" "
       "41000 + i %% 20}' > many.csv");
    assert_int_equal(
        sh("stonet fit many.csv --target y --set task=classification --method sir --dim 1 --out m"), 1);
    assert_non_null(strstr(captured_err, "are the same number in double precision"));
    SH("stonet fit many.csv --target y --set task=regression --method sir --dim 1 --quiet --out m");
}

/* Texts that no training row had are told, unless nobody wants to hear of them. */
TEST(predictions_can_be_quiet)
{
    SH("awk 'BEGIN {print \"a,t,y\"; for (i = 0; i < 40; i++) print i %% 7 \",\" (i %% 2 ? \"u\" : \"v\") "
       "\",\" i}' > "
       "q.csv");
    SH("stonet fit q.csv --target y --method sir --dim 1 --quiet --out q.model && sed '2s/,v,/,w,/' q.csv > "
       "unseen.csv");
    sh_notes("stonet predict q.model unseen.csv", "'t'");
    SH("stonet predict q.model unseen.csv --quiet");
    assert_string_equal(captured_err, "");
}

/* A column that the model reads is no response to score by. */
TEST(a_feature_is_no_response)
{
    SH("stonet generate ring --rows 40 --out r.csv && stonet fit r.csv --target y --method sir --dim 1 "
       "--quiet "
       "--out r.model");
    sh_refused("stonet score r.model r.csv --target x1", 2, "column 'x1' is a feature of the model");
}

/* Answers that come from the rows of the fit say so, and those that need no others do not. */
TEST(rows_of_the_fit_are_told)
{
    SH("stonet generate ring --rows 60 --seed 1 --out own.csv");
    SH("stonet generate ring --rows 60 --seed 2 --out other.csv");
    SH("stonet fit own.csv --target y --method sir --dim 1 --out own.model");
    static const char *const commands[] = {"score", "importance", "report --out own.html"};
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
        char line[200];
        for (int own = 0; own < 2; own++) {
            for (int quiet = 0; quiet < 2; quiet++) {
                snprintf(line, sizeof line, "stonet %s own.model %s.csv%s", commands[k],
                         own ? "own" : "other", quiet ? " --quiet" : "");
                assert_int_equal(sh(line), 0);
                assert_int_equal(strstr(captured_err, "look like the training rows") != NULL, own && !quiet);
            }
        }
    }
    SH("stonet transform own.model own.csv");
    assert_null(strstr(captured_err, "training rows"));
}

RUN_TESTS(set_up, leave_test_folder)
