/*
 * Tables as they come. Each line is a file that somebody has: how it is made from base.csv (columns a, b, y),
 * how it is fitted, and what must happen: the same model as from the plain file, a sentence about what was
 * done, or a refusal that says what to do. Nothing crashes, nothing is lost in silence, no column is taken
 * for another.
 */
#include "cli/test_support.h"

typedef struct awkward {
    const char *what;    /* for the reader, and when it fails */
    const char *make;    /* shell: writes the file $f */
    const char *file;    /* its name; NULL: f.csv */
    const char *options; /* of the fit; NULL: --target y */
    const char *says;    /* on stderr; NULL: nothing that needs a test */
} awkward;

#define AWK(programme)     "awk -F, -v OFS=, '" programme "' base.csv > $f"
/* One more column in front: its name, and its cells for the lines from 2 on. */
#define FRONT(name, cell)  AWK("{print NR == 1 ? \"" name "\" : " cell ", $0}")
/* One more column behind. */
#define BEHIND(name, cell) AWK("{print $0, NR == 1 ? \"" name "\" : " cell "}")
#define BYTES(text)        "printf '" text "' > $f"

/* The same numbers in another dress: fitted on them, a model predicts what it does for base.csv, bit by bit.
 */
static const awkward same[] = {
    {"the plain file", "cp base.csv $f", NULL, NULL, NULL},
    {"line ends of DOS", "sed 's/$/\\r/' base.csv > $f", NULL, NULL, NULL},
    {"line ends of the old Macintosh", "tr '\\n' '\\r' < base.csv > $f", NULL, NULL, NULL},
    {"a byte order mark", "(printf '\\357\\273\\277'; cat base.csv) > $f", NULL, NULL, NULL},
    {"no line end at the end", "head -c -1 base.csv > $f", NULL, NULL, NULL},
    {"blank lines here and there", "sed '3s/^/\\n\\n/; $s/$/\\n\\n/' base.csv > $f", NULL, NULL, NULL},
    {"blanks around the cells", "sed 's/,/ , /g; s/^/  /' base.csv > $f", NULL, NULL, NULL},
    {"every cell in quotes", "sed 's/,/\",\"/g; s/^/\"/; s/$/\"/' base.csv > $f", NULL, NULL, NULL},
    {"semicolons", "tr , ';' < base.csv > $f", NULL, NULL, NULL},
    {"tabs", "tr , '\\t' < base.csv > $f", "f.tsv", NULL, NULL},
    {"tabs, called .csv", "tr , '\\t' < base.csv > $f", NULL, NULL, NULL},
    {"blanks in columns", "tr , ' ' < base.csv | column -t > $f", "f.txt", NULL, NULL},
    {"commas, called .txt", "cp base.csv $f", "f.txt", NULL, NULL},
    {"gzipped, called .csv", "gzip -c base.csv > $f", NULL, NULL, NULL},
    {"numbers with exponents", "awk -F, -v OFS=, 'NR > 1 {$1 = sprintf(\"%+.12E\", $1)} 1' base.csv > $f",
     NULL, NULL, NULL},
    {"numbers without the zero before the point", "sed 's/\\<0\\././g' base.csv > $f", NULL, NULL, NULL},
    {"R's write.csv with row names", FRONT("\\\"\\\"", "\"\\\"\" NR - 1 \"\\\"\""), NULL, NULL,
     "note: column 1 is left out: it has no name and numbers the rows"},
    {"pandas' to_csv with its index", FRONT("", "NR - 2"), NULL, NULL, "note: column 1 is left out"},
    {"read and written again by pandas", FRONT("Unnamed: 0", "NR - 2"), NULL, NULL,
     "note: column 1 is left out"},
    {"read and written again by readr", FRONT("...1", "NR - 1"), NULL, NULL, "note: column 1 is left out"},
    {"an index of rows that were shuffled", FRONT("", "(NR * 37) % 101"), NULL, NULL,
     "note: column 1 is left out"},
    {"an index behind the others", BEHIND("", "NR - 1"), NULL, NULL, "note: column 3 is left out"},
    {"R's write.table: no name over the row names",
     "awk -F, 'NR == 1 {print \"\\\"a\\\" \\\"b\\\" \\\"y\\\"\"} NR > 1 {print \"\\\"\" NR - 1 \"\\\"\", $1, "
     "$2, $3}' "
     "base.csv > $f",
     "f.txt", NULL, "note: column 1 is left out"},
    {"row names that are words, without a name", FRONT("", "\"row \" NR"), NULL, NULL,
     "note: column 1 is left out: it has no name and names the rows"},
    {"notes of all kinds", BEHIND("note", "\"this is number \" NR"), NULL, NULL,
     "warning: column 'note' is left out: 80 distinct texts in 80 rows"},
    {"a name for every row", FRONT("who", "\"P-\" NR"), NULL, "--target y --id who", NULL},
    {"a number for every row", FRONT("who", "1000 + NR"), NULL, "--target y --id who", NULL},
    {"ids with blanks and quotes", FRONT("who", "\"\\\"a, \\\"\\\"\" NR \"\\\"\\\"\\\"\""), NULL,
     "--target y --id who", NULL},
    {"a column to be left out", BEHIND("z", "NR * NR"), NULL, "--target y --drop z", NULL},
    {"columns to be left out, with anything in them", BEHIND("z,w", "\"oops,1e300\""), NULL,
     "--target y --drop z,w", NULL},
    {"only some columns wanted", FRONT("z", "sin(NR)"), NULL, "--target y --features a,b", NULL},
    {"only some columns wanted, by number", FRONT("z", "sin(NR)"), NULL, "--target 4 --features 2-3", NULL},
    {"a name with a comma in it", "sed '1s/a/\"a, or so\"/' base.csv > $f", NULL, NULL, NULL},
    {"a name over two lines", "sed '1s/a/\"a\\nsquare metres\"/' base.csv > $f", NULL, NULL, NULL},
    {"names with blanks and accents", "sed '1s/a/Stra\\xc3\\x9fe \\xc2\\xb2/' base.csv > $f", NULL, NULL,
     NULL},
    {"names in Latin-1", "sed '1s/a/Gr\\xf6\\xdfe/' base.csv > $f", NULL, NULL, NULL},
    {"years as names", "sed '1s/a,b/2019,2020/' base.csv > $f", NULL, NULL, NULL},
    {"an unnamed column that is called as another would be", "sed '1s/a,b/,x1/' base.csv > $f", NULL, NULL,
     NULL},
    {"the response first", AWK("{print $3, $1, $2}"), NULL, NULL, NULL},
    {"no names at all", "sed 1d base.csv > $f", NULL, "--target 3", NULL},
    {"no names, and a column to be left out",
     "sed 1d base.csv | awk -F, -v OFS=, '{print $1, NR % 7, $2, $3}' > $f", NULL, "--target 4 --drop 2",
     NULL},
    {"no names, and the response in the middle",
     "sed 1d base.csv | awk -F, -v OFS=, '{print $1, $3, $2}' > $f", NULL, "--target 2", NULL},
    {"the response in a file of its own", "cut -d, -f1,2 base.csv > $f; cut -d, -f3 base.csv > y.csv", NULL,
     "--target-file y.csv", NULL},
};

/* Read, and the user is told what became of it. */
static const awkward told[] = {
    {"missing cells", AWK("NR == 5 {$1 = \"NA\"} NR == 9 {$2 = \"\"} 1"), NULL, NULL,
     "2 of 160 cells are missing, in 2 of 80 rows"},
    {"words of their own for missing cells", AWK("NR == 5 {$1 = \"-999\"} NR == 9 {$2 = \"unknown\"} 1"),
     NULL, "--target y --na=-999,unknown", "2 of 160 cells are missing"},
    {"rows without a response", AWK("NR == 5 {$3 = \"\"} 1"), NULL, "--target y --drop-missing-target",
     "note: 1 row of f.csv is left out: its response is missing"},
    {"a column that is always the same", BEHIND("unit", "7"), NULL, NULL,
     "1 constant feature is without effect: unit"},
    {"two columns of one name", BEHIND("a", "sin(NR)"), NULL, NULL, NULL},
    {"a copy of the response", BEHIND("copy", "2 * $3 + 1"), NULL, NULL,
     "warning: column 'copy' is nearly the same as the target 'y'"},
    {"a copy of the classes", AWK("{print $1, $2, NR == 1 ? \"y,z\" : ($3 > 0) ? \"up,1\" : \"down,0\"}"),
     NULL, NULL, "warning: column 'z' is nearly the same as the target 'y'"},
    {"a number for every row, under a name", FRONT("customer", "5000 + NR"), NULL, NULL,
     "warning: column 'customer' has a different whole number in every row"},
    {"text categories", BEHIND("town", "NR % 3 == 0 ? \"Ulm\" : \"Jena\""), NULL, NULL,
     "column 'town' is text: one feature for each of its 2 values"},
    {"yes and no", BEHIND("smokes", "NR % 3 == 0 ? \"yes\" : \"no\""), NULL, NULL,
     "column 'smokes' is text: one feature for each of its 2 values"},
    {"hundreds of text values",
     "awk -F, -v OFS=, 'NR == 1 {print $0, \"zip\"} NR > 1 {for (k = 0; k < 10; k++) print $0, \"Z\" (NR * 7 "
     "+ k * "
     "k) % 300}' base.csv > $f",
     NULL, NULL, "column 'zip' is text with 259 values: one feature for each of the"},
    {"an order", BEHIND("size", "NR % 3 == 0 ? \"S\" : NR % 3 == 1 ? \"M\" : \"L\""), NULL,
     "--target y --ordinal size=S,M,L", "column 'size' is ordered: one feature, 1 for S to 3 for L"},
    {"an order of digits", BEHIND("grade", "NR % 3 + 1"), NULL, "--target y --ordinal grade=3,2,1",
     "column 'grade' is ordered: one feature, 1 for 3 to 3 for 1"},
    {"dates", BEHIND("day", "sprintf(\"2024-%02d-%02d\", 1 + NR % 12, 1 + NR % 28)"), NULL, NULL,
     "column 'day' has dates: their days are counted"},
    {"dates with the time and a season",
     BEHIND("t", "sprintf(\"2024-%02d-01T%02d:30:00Z\", 1 + NR % 12, NR % 24)"), NULL,
     "--target y --season t", "and the time of the year has two features"},
    {"dates, some of them missing", BEHIND("day", "NR % 9 ? sprintf(\"2024/%d/1\", 1 + NR % 12) : \"\""),
     NULL, NULL, "column 'day' has dates"},
    {"dates with the day first", BEHIND("day", "sprintf(\"%02d.%02d.19%02d\", 1 + NR % 28, 1 + NR % 12, NR)"),
     NULL, NULL, "column 'day' is left out: 80 distinct texts in 80 rows (dates are read as 2024-05-01)"},
    {"a date that is none", BEHIND("day", "sprintf(\"2024-02-%02d\", 1 + NR % 31)"), NULL, NULL,
     "column 'day' is text"},
    {"a comma at the end of every line", "sed 's/$/,/' base.csv > $f", NULL, NULL, "x4"},
};

/* Not read, or not fitted, and the sentence says why. */
static const awkward refused[] = {
    {"nothing", BYTES(""), NULL, NULL, "f.csv is empty"},
    {"names and no rows", BYTES("a,b,y\\n"), NULL, NULL, "f.csv has a header and no rows"},
    {"a line that is too short", AWK("NR == 7 {print $1, $2; next} 1"), NULL, NULL,
     "line 7 has 2 cells and the first line has 3"},
    {"a line that is too long", AWK("NR == 7 {$4 = 1} 1"), NULL, NULL, "line 7 has more than 3 cells"},
    {"a quotation mark that is never closed", AWK("NR == 7 {$1 = \"\\\"\" $1} 1"), NULL, NULL,
     "a quotation mark opened in line 7 is never closed"},
    {"a number that is none", AWK("NR == 7 {$1 = \"oops\"} 1"), NULL, NULL,
     "row 6 (line 7), column 1 ('a'): 'oops' is not a number, and most cells of this column are"},
    {"a decimal comma", "sed 's/,/;/g; s/\\./,/g' base.csv > $f", NULL, NULL, "has a decimal comma"},
    {"separators of thousands", BEHIND("pay", "\"\\\"1,\" 200 + NR \"\\\"\""), NULL, NULL,
     "'1,202' is a number with something around it"},
    {"per cent", BEHIND("share", "NR \"%\""), NULL, NULL, "'2%' is a number with something around it"},
    {"infinity", AWK("NR == 7 {$1 = \"Inf\"} 1"), NULL, NULL,
     "row 6 (line 7), column 1 ('a'): the value is infinite ('Inf')"},
    {"a number too large", AWK("NR == 7 {$1 = \"1e39\"} 1"), NULL, NULL, "too large for single precision"},
    {"a response that is missing", AWK("NR == 7 {$3 = \"\"} 1"), NULL, NULL,
     "the cell of the target is empty"},
    {"a response that is always the same", AWK("NR > 1 {$3 = 5} 1"), NULL, NULL,
     "the target 'y' is the same in all 80 rows"},
    {"two columns called as the response", BEHIND("y", "1"), NULL, NULL,
     "columns 3 and 4 are both called 'y'"},
    {"a response misspelt", "sed '1s/y/yield/' base.csv > $f", NULL, "--target yeild",
     "f.csv has no column 'yeild'; did you mean 'yield'?"},
    {"a response in capitals", "cp base.csv $f", NULL, "--target Y", "did you mean 'y'?"},
    {"a feature that is the response", "cp base.csv $f", NULL, "--target y --features a,y",
     "column 'y' is the target and cannot be a feature too"},
    {"all left out", "cp base.csv $f", NULL, "--target y --drop a,b",
     "f.csv has no column left for the features"},
    {"a feature that is not there", "cp base.csv $f", NULL, "--target y --drop 5", "its columns are 1 to 3"},
    {"an order that lacks a value", BEHIND("size", "NR % 2 ? \"S\" : \"L\""), NULL,
     "--target y --ordinal size=S,M",
     "column 'size' has the value 'L', which is not in the order given for it"},
    {"a season of what is no date", "cp base.csv $f", NULL, "--target y --season a",
     "column 'a' has no dates"},
    {"two names for the rows", "cp base.csv $f", NULL, "--target y --id a,b", "one column can name the rows"},
    {"bytes that are not text", AWK("NR == 7 {printf \"%c\", 0} 1"), NULL, NULL,
     "line 7 has bytes that are not text"},
    {"Parquet", BYTES("PAR1\\025\\004\\025"), "f.parquet", NULL, "f.parquet is a Parquet file"},
    {"Feather", BYTES("ARROW1\\0\\0"), "f.feather", NULL, "an Arrow (Feather) file"},
    {"Excel", BYTES("PK\\003\\004\\024\\0\\6\\0\\10\\0\\0\\0!\\0................[Content_Types].xml"),
     "f.xlsx", NULL, "is an Excel file, which is not read: save the sheet as CSV"},
    {"old Excel", BYTES("\\320\\317\\021\\340\\241\\261\\032\\341"), "f.xls", NULL, "an old Excel file"},
    {"HDF5", BYTES("\\211HDF\\r\\n\\032\\n"), "f.h5", NULL, "an HDF5 file"},
    {"MATLAB", BYTES("MATLAB 5.0 MAT-file, Platform: GLNXA64"), "f.mat", NULL, "a MATLAB file"},
    {"R's saveRDS", "printf 'X\\n\\0\\0\\0\\3' | gzip > $f", "f.rds", NULL, "a file of R's saveRDS()"},
    {"R's save", "printf 'RDX3\\nX\\n' | gzip > $f", "f.rda", NULL, "a file of R's save()"},
    {"a pickle", BYTES("\\200\\4\\225abc"), "f.pkl", NULL, "a Python pickle"},
    {"SQLite", BYTES("SQLite format 3\\0"), "f.db", NULL, "an SQLite database"},
    {"a web page", BYTES("<!DOCTYPE html><html></html>"), NULL, NULL, "a web page (HTML)"},
    {"a PDF", BYTES("%%PDF-1.4"), "f.pdf", NULL, "a PDF document"},
    {"bzip2", BYTES("BZh91AY"), "f.csv.bz2", NULL, "packed by bzip2"},
    {"xz", BYTES("\\3757zXZ\\0"), "f.csv.xz", NULL, "packed by xz"},
    {"zstd", BYTES("\\050\\265\\057\\375"), "f.csv.zst", NULL, "packed by zstd"},
    {"UTF-16", BYTES("\\377\\376a\\0,\\0b\\0"), NULL, NULL,
     "text in UTF-16, which is not read: save it as UTF-8"},
    {"a folder", "rm -rf $f; mkdir $f", "folder.csv", NULL, "folder.csv"},
    {"a file that is not there", "rm -f $f", "gone.csv", NULL, "gone.csv: No such file"},
};

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("all.csv", 80, 1);
    return sh(
        "awk -F, -v OFS=, '{print $1, $2, $4}' all.csv > base.csv && "
        "stonet fit base.csv --target y --method sir --set slices=5 --dim 1 --quiet --out base.model && "
        "stonet predict base.model base.csv > expected.csv");
}

static int fit(const awkward *one)
{
    const char *file = one->file != NULL ? one->file : "f.csv";
    assert_int_equal(setenv("f", file, 1), 0);
    if (sh("%s", one->make) != 0) fail_msg("%s: cannot be made: %s", one->what, captured_err);
    return sh("rm -f m; stonet fit %s %s --method sir --set slices=5 --dim 1 --out m", file,
              one->options != NULL ? one->options : "--target y");
}

static void check_words(const awkward *one)
{
    if (one->says != NULL && strstr(captured_err, one->says) == NULL)
        fail_msg("%s: '%s' is not said, but:\n%s", one->what, one->says, captured_err);
}

TEST(the_same_numbers_give_the_same_model)
{
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        if (fit(&same[i]) != 0) fail_msg("%s: not fitted: %s", same[i].what, captured_err);
        check_words(&same[i]);
        if (same[i].says == NULL && strstr(captured_err, "warning") != NULL)
            fail_msg("%s: warned: %s", same[i].what, captured_err);
        const char *names =
            strstr(same[i].options != NULL ? same[i].options : "", "--id") != NULL ? "| sed 's/.*,//'" : "";
        if (sh("stonet predict m $f %s | cmp - expected.csv", names) != 0)
            fail_msg("%s: other predictions: %s", same[i].what, captured_out);
        if (sh("cat $f | stonet predict m - %s | cmp - expected.csv", names) != 0)
            fail_msg("%s: other predictions through a pipe: %s%s", same[i].what, captured_out, captured_err);
    }
}

TEST(what_is_done_is_told)
{
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        if (fit(&told[i]) != 0) fail_msg("%s: not fitted: %s", told[i].what, captured_err);
        check_words(&told[i]);
        if (sh("stonet predict m $f") != 0) fail_msg("%s: not predicted: %s", told[i].what, captured_err);
    }
}

TEST(what_cannot_be_used_is_refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const int status = fit(&refused[i]);
        if (status != 1 && status != 2)
            fail_msg("%s: exit status %d, %s", refused[i].what, status, captured_err);
        check_words(&refused[i]);
        if (access("m", F_OK) == 0) fail_msg("%s: a model was written", refused[i].what);
    }
}

/* What names the rows comes out as it went in; of new texts the user hears. */
TEST(rows_keep_their_names_through_a_model)
{
    SH("awk -F, -v OFS=, '{print NR == 1 ? \"who\" : sprintf(\"%%03d\", NR), $0, NR == 1 ? \"town\" : NR %% "
       "2 ? "
       "\"Ulm\" : \"Jena\"}' base.csv > ids.csv");
    SH("stonet fit ids.csv --target y --id who --method sir --set slices=5 --dim 1 --quiet --out m");
    SH("sed '4s/Ulm\\|Jena/Bonn/' ids.csv > new.csv");
    SH("stonet predict m new.csv");
    assert_memory_equal(captured_out, "who,prediction\n002,", 19);
    assert_non_null(
        strstr(captured_err, "column 'town': 1 of 80 rows have values that no training row had (Bonn)"));
    SH("stonet transform m new.csv --draws 0 --out z.csv && head -3 z.csv | tail -1");
    assert_memory_equal(captured_out, "003,", 4);
    sh_notes("stonet transform m new.csv --out z.npy", "z.npy holds numbers only: column 'who'");
    SH("cut -d, -f2- new.csv > bare.csv && stonet predict m bare.csv"); /* and need not be there */
    assert_memory_equal(captured_out, "prediction\n", 11);
    SH("stonet predict m bare.csv --id y | head -1"); /* another column may name them */
    assert_memory_equal(captured_out, "y,prediction\n", 13);
    SH("stonet score m new.csv"); /* the response is that of the fit */
    sh_refused("sed '1s/,y,/,why,/' new.csv | stonet score m -", 2,
               "has no column 'y', the response of the model");
    SH("stonet fit ids.csv --target y --drop who --method sir --dim 1 --quiet --out - | stonet predict - "
       "new.csv");
    assert_memory_equal(captured_out, "prediction\n", 11);
}

/* A column that numbers the rows is not among those that were reduced. */
TEST(columns_that_are_left_out_are_not_counted)
{
    SH("awk -F, -v OFS=, '{print NR == 1 ? \"\" : NR - 1, $0}' base.csv > counted.csv");
    sh_notes("stonet fit counted.csv --target y --method sir --set slices=5 --dim 1 --out m",
             "80 rows, 2 columns reduced to 1, ");
}

RUN_TESTS(set_up, leave_test_folder)
