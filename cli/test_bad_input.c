/* Bad calls and bad files: each ends with its own exit status and a sentence that names the cause. */
#include "cli/test_support.h"

typedef struct bad_case {
    const char *command;
    int status;
    const char *sentence; /* part of what stderr must say */
} bad_case;

/* Short forms for the calls below. */
#define FIT     "stonet fit "
#define TAIL    " --method pca --dim 1 --out bad.model"
#define BY_Y    " --target y" TAIL
#define SETTING "stonet fit good.csv --target y --dim 1 --out bad.model "

static const bad_case wrong_usage[] = {
    {"stonet", 2, "Usage: stonet COMMAND"},
    {"stonet fitt", 2, "there is no command 'fitt'; did you mean 'fit'?"},
    {"stonet quantum", 2, "there is no command 'quantum'"},
    {"stonet --fit", 2, "there is no command '--fit'"},
    {"stonet help nothing", 2, "there is no command 'nothing'"},
    {"stonet fit", 2, "DATA is missing"},
    {"stonet fit good.csv", 2, "give --target COL or --target-file FILE"},
    {"stonet fit good.csv --method pca --learner linear --dim 1 --out m", 2, "give --target COL"},
    {"stonet fit good.csv --method sir --dim 1 --out m", 2, "give --target COL"},
    {"stonet fit good.csv --target y --target-file y.csv --dim 1 --out m", 2, "not both"},
    {"stonet fit good.csv --target y --out m", 2, "give --dim Q"},
    {"stonet fit good.csv --target y --dim 1", 2, "give --out MODEL"},
    {"stonet fit good.csv other.csv" BY_Y, 2, "one operand too many: 'other.csv'"},
    {"stonet fit good.csv --target", 2, "--target needs a value"},
    {"stonet fit good.csv --target --dim 1 --out m", 2, "--target needs a value"},
    {"stonet fit good.csv --target y --drop x1 --drop x2 --dim 1 --out m", 2,
     "--drop is given twice: give it once, --drop"},
    {"stonet fit good.csv --targte y", 2, "there is no option --targte; did you mean --target?"},
    {"stonet fit good.csv -d 1", 2, "there is no option -d"},
    {"stonet fit good.csv --quiet=yes", 2, "--quiet takes no value"},
    {"stonet fit good.csv --help=x", 2, "--help takes no value"},
    {"stonet fit good.csv" BY_Y " --seed -1", 2, "--seed takes a whole number"},
    {"stonet fit good.csv" BY_Y " --seed 99999999999999999999", 2, "--seed takes a whole number"},
    {"stonet fit good.csv" BY_Y " --threads two", 2,
     "--threads takes a whole number from 0 to 1024, not 'two'"},
    {"stonet fit good.csv" BY_Y " --threads 5000", 2, "not '5000'"},
    {"stonet fit good.csv" BY_Y ".gz", 2, "not compressed"},
    {"stonet fit good.csv --target y --dim 1 --out ''", 2, "is empty"},
    {"stonet transform good.model", 2, "DATA is missing"},
    {"stonet transform good.model good.csv --draws -2", 2, "--draws takes a whole number"},
    {"stonet transform good.model good.csv --impute --target y --target-file good.csv", 2, "not both"},
    {"stonet predict good.model good.csv --proba", 2, "regression model"},
    {"sed s/y/z/ good.csv > renamed.csv; stonet score good.model renamed.csv", 2,
     "has no column 'y', the response of the model"},
    {"stonet generate wavefrom --out w.csv", 2, "waveform"},
    {"stonet generate waveform", 2, "give --out FILE"},
    {"stonet generate air --out a.csv --truth t.csv", 2, "leave out --truth"},
    {"stonet generate waveform --rows 0 --out w.csv", 2, "--rows takes a whole number"},
    {"stonet generate waveform --rows 1.5 --out w.csv", 2, "not '1.5'"},
    {"stonet methods stonot", 2, "did you mean 'stonet'?"},
    {"stonet methods pca sir", 2, "one operand too many"},
    {"stonet info", 2, "MODEL is missing"},
    {"stonet demo now", 2, "takes no operand"},
    {"stonet tune good.csv --target y --dim 1 --folds 1", 2, "--folds takes a whole number"},
    {"stonet tune good.csv --target y --dim 1 --method pca --grid scale", 2, "scale"},
    {"stonet tune good.csv --target y --dim 1 --method pca --grid speed=1,2", 2, "speed"},
    {"stonet tune good.csv --target y --dim 1 --criterion beauty", 2, "not 'beauty'"},
    {"stonet tune good.csv --target y --dim 1 --json --csv", 2, "exclude each other"},
    {"stonet compare good.csv --target y", 2, "give --methods a,b,c"},
    {"stonet compare good.csv --target y --methods pca,qca --dim 1", 2, "there is no method 'qca'"},
    {"stonet compare good.csv --target y --methods pca --dim 1 --set slices=3", 2, "'slices=3'"},
    {"stonet compare good.csv --target y --methods pca --dim 1 --grid scale=none", 2, "belong to --tune"},
    {"stonet compare good.csv --target y --methods pca --dim 1 --test-target-file y.csv", 2,
     "belongs to --test"},
    {"stonet compare x.csv --target-file y.csv --methods pca --dim 1 --test x.csv", 2, "--test-target-file"},
};

static const bad_case wrong_settings[] = {
    {"stonet fit good.csv --target y --method stonot --dim 1 --out m", 2, "there is no method 'stonot'"},
    {"stonet fit good.csv --target y --dim 0 --out m", 2, "dim"},
    {"stonet fit good.csv --target y --dim -1 --out m", 2, "dim"},
    {"stonet fit good.csv --target y --dim abc --out m", 2, "abc"},
    {"stonet fit good.csv --target y --dim 1.5 --out m", 2, "1.5"},
    {"stonet fit good.csv --target y --dim 1e9 --out m", 2, "dim"},
    {"stonet fit good.csv --target y --dim 99999999999999999999 --out m", 2, "dim"},
    {SETTING "--set epochz=3", 2, "no setting 'epochz': did you mean 'epochs'?"},
    {SETTING "--set epochs", 2, "NAME=VALUE"},
    {SETTING "--set =3", 2, "NAME=VALUE"},
    {SETTING "--set epochs=", 2, "epochs"},
    {SETTING "--set epochs=many", 2, "many"},
    {SETTING "--set epochs=-5", 2, "epochs"},
    {SETTING "--set momentum=2", 2, "momentum"},
    {SETTING "--set lr=nan", 2, "lr"},
    {SETTING "--set activation=swish", 2, "swish"},
    {SETTING "--set hidden=8,x", 2, "hidden"},
    {SETTING "--set task=clustering", 2, "clustering"},
    {SETTING "--learner forest", 2, "forest"},
    {SETTING "--learner linear --set learner.speed=1", 2, "speed"},
    {SETTING "--set learner.l2=1", 2, "learner"},
    {FIT "good.csv --target y --method pca --learner logistic --dim 1 --out m", 1, "logistic"},
    {FIT "good.csv --target y --config broken.json --out m", 1, "broken.json: line"},
    {FIT "good.csv --target y --config unknown.json --out m", 2, "epochz"},
    {FIT "good.csv --target y --config list.json --out m", 2, "JSON object"},
    {FIT "good.csv --target y --config folder --out m", 1, "folder"},
    {FIT "good.csv --target y --config nowhere.json --out m", 1, "nowhere.json: No such file"},
    {FIT "good.csv --target y --config fine.json --method pca --out m", 2, "not both"},
    {FIT "good.csv --target y --config wrong.json --out m", 2, "dim"},
};

/* One of a kind: src/data/test_read_text.c and test_read_arrays.c have all that can be wrong with a file. */
static const bad_case bad_data[] = {
    {FIT "nowhere.csv" BY_Y, 1, "nowhere.csv"},
    {FIT "folder" BY_Y, 1, "folder"},
    {FIT "empty.csv" BY_Y, 1, "empty"},
    {FIT "one-row.csv" BY_Y, 1, "row"},
    {FIT "one-column.csv --target y" TAIL, 1, "column"},
    {FIT "constant-y.csv" BY_Y, 1, "the same in all 30 rows"},
    {FIT "na.csv" BY_Y " --set missing=error", 1, "1 cell is missing, in 1 of"},
    {FIT "na.csv" BY_Y " --na unknown,", 2, "separated by single commas"},
    {FIT "noise.csv" BY_Y, 2, "noise.csv has no column 'y'"},
    {FIT "good.csv --target z" TAIL, 2, "'z'"},
    {FIT "good.csv --target 9" TAIL, 2, "9"},
    {FIT "good.csv --target 0" TAIL, 2, "0"},
    {FIT "good.csv --target y,y" TAIL, 2, "y"},
    {FIT "x.csv --target-file short.csv" TAIL, 1, "rows"},
    {FIT "x.csv --target-file nowhere.csv" TAIL, 1, "nowhere.csv"},
    {FIT "text-y.csv --target y --set task=regression" TAIL, 1, "holds labels"},
    {FIT "mixed-y.csv --target y --set task=regression" TAIL, 1, "y"},
    {FIT "cut.csv.gz" BY_Y, 1, "cut.csv.gz"},
};

static const bad_case bad_models[] = {
    {"stonet info nowhere.model", 1, "nowhere.model: No such file"},
    {"stonet info folder", 1, "folder"},
    {"stonet info empty.csv", 1, "empty"},
    {"stonet info good.csv", 1, "good.csv"},
    {"stonet info cut.model", 1, "cut.model"},
    {"stonet info hostile.model", 1, "hostile.model"},
    {"stonet info changed.model", 1, "changed.model: the model is damaged"},
    {"stonet info other.safetensors", 1, "not a model of stonet"},
    {"stonet info newer.model", 1, "newer"},
    {"stonet transform cut.model good.csv", 1, "cut.model"},
    {"stonet transform good.model nowhere.csv", 1, "nowhere.csv"},
    {"stonet transform good.model fewer.csv", 1, "'b'"},
    {"stonet transform good.model two-columns.txt", 1, "columns"},
    {"stonet predict good.model text-a.csv", 1, "a"},
    {"stonet predict strict.model nan.csv", 1, "row 3: the value of 'b' is missing"},
    {"stonet score classes.model unseen.csv --target y", 1, "'purple'"},
    {"stonet score good.model good.csv --target w", 2, "'w'"},
    {"stonet score good.model x.csv --target-file short.csv", 1, "rows"},
    {"stonet score good.model text-y.csv --target y", 1, "y"},
    {"stonet transform good.model good.csv --draws 3", 1, "pca"},
    {"stonet predict blind.model good.csv", 1, "learner"},
    {"stonet predict classes.model good.csv --out p.npy", 1, ".npy"},
};

static const bad_case bad_outputs[] = {
    {FIT "good.csv --target y --method pca --dim 1 --out nowhere/m", 1, "nowhere"},
    {FIT "good.csv --target y --method pca --dim 1 --out good.csv/m", 1, "Not a directory"},
    {FIT "good.csv --target y --method pca --dim 1 --out folder", 1, "Is a directory"},
    {FIT "good.csv" BY_Y " --log nowhere/log.csv", 1, "nowhere"},
    {"stonet transform good.model good.csv --out folder", 1, "Is a directory"},
    {"stonet transform good.model good.csv --out z.xlsx", 2, "z.xlsx"},
    {"stonet transform good.model good.csv --out /proc/z.csv", 1, "/proc/z.csv"},
    {"stonet transform good.model good.csv > /dev/full", 1, "standard output: No space left"},
    {"stonet info good.model > /dev/full", 1, "standard output"},
    {"stonet predict good.model good.csv --out nowhere/p.csv", 1, "nowhere"},
    {"stonet generate waveform --rows 10 --out nowhere/w.csv", 1, "nowhere"},
    {"stonet generate waveform --rows 10 --out w.docx", 2, "w.docx"},
    {"stonet demo --out nowhere", 1, "nowhere"},
    {"stonet tune good.csv --target y --dim 1 --method pca --best nowhere/b.json", 1, "nowhere"},
};

/* ---- files ------------------------------------------------------------------------------------- */

static void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

/* good.csv with row 3 (line 4 of the file) replaced. */
static void write_variant(const char *path, const char *row)
{
    SH("sed '4s/.*/%s/' good.csv > %s", row, path);
}

static void write_tables(void)
{
    write_table("full.csv", 30, 3);
    SH("cut -d, -f1-4 full.csv > good.csv; cut -d, -f1-3 full.csv > x.csv; cut -d, -f4 full.csv > y.csv");
    SH("head -20 y.csv > short.csv; cut -d, -f4 full.csv > one-column.csv; : > empty.csv; mkdir folder");
    SH("gzip -c good.csv | head -c 200 > cut.csv.gz");
    SH("head -2 good.csv > one-row.csv; cut -d, -f1,3,4 full.csv > fewer.csv");
    SH("sed 's/[^,]*$/1.5/; 1s/.*/a,b,c,y/' good.csv > constant-y.csv");
    SH("cut -d, -f1,2,3,5 full.csv | sed '1s/.*/a,b,c,y/' > text-y.csv");
    SH("sed 's/mid$/purple/' text-y.csv > unseen.csv; sed '2,$s/^[^,]*/blue/' good.csv > text-a.csv");
    SH("sed '1d; s/,/ /g' good.csv | cut -d' ' -f1,2 > two-columns.txt");
    write_variant("nan.csv", "0.1,nan,0.2,0.3");
    write_variant("na.csv", "0.1,NA,0.2,0.3");
    write_variant("mixed-y.csv", "0.1,0.2,0.2,about one");
    SH("head -c 3000 /dev/zero | tr '\\0' '\\1' > noise.csv");
}

static void write_models(void)
{
    SH("stonet fit good.csv --target y --method pca --dim 1 --quiet --out good.model");
    SH("stonet fit good.csv --target y --method pca --dim 1 --set missing=error --quiet --out strict.model");
    SH("stonet fit text-y.csv --target y --method pca --dim 1 --quiet --out classes.model");
    SH("stonet fit good.csv --target y --method pca --dim 1 --learner none --quiet --out blind.model");
    SH("head -c 400 good.model > cut.model");
    SH("cp good.model changed.model && printf '\\252' | dd of=changed.model bs=1 conv=notrunc "
       "seek=$(($(stat -c %%s good.model) - 3))");
    SH("LC_ALL=C sed 's/\"format_version\":\"2\"/\"format_version\":\"9\"/' good.model > newer.model");
    static const unsigned char long_header[] = {255, 255, 255, 255, 255, 255, 255, 127, '{', '}'};
    write_bytes("hostile.model", long_header, sizeof long_header);
    static const unsigned char stranger[] = {2, 0, 0, 0, 0, 0, 0, 0, '{', '}'};
    write_bytes("other.safetensors", stranger, sizeof stranger);
}

static void write_configs(void)
{
    write_text("broken.json", "{\"method\": \"pca\", \"dim\": }");
    write_text("unknown.json", "{\"method\": \"stonet\", \"dim\": 1, \"settings\": {\"epochz\": 3}}");
    write_text("list.json", "[1, 2]");
    write_text("fine.json", "{\"method\": \"pca\", \"dim\": 1}");
    write_text("wrong.json", "{\"method\": \"pca\", \"dim\": \"wide\"}");
}

/* ---- running them ------------------------------------------------------------------------------ */

static bool sentence_is_clean(void)
{
    return strstr(captured_err, "Sanitizer") == NULL && strstr(captured_err, "runtime error") == NULL &&
           strstr(captured_err, "(null)") == NULL;
}

static void run_cases(const bad_case *cases, size_t count)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        int status = sh("%s", cases[i].command);
        bool right = status == cases[i].status && strstr(captured_err, cases[i].sentence) != NULL &&
                     captured_out[0] == '\0' && sentence_is_clean();
        if (right) continue;
        wrong++;
        print_error("%s\n  status %d, expected %d; expected to hear '%s', heard:\n%s\n", cases[i].command,
                    status, cases[i].status, cases[i].sentence, captured_err);
    }
    assert_int_equal(wrong, 0);
}

#define RUN_CASES(cases) run_cases(cases, sizeof(cases) / sizeof *(cases))

TEST(files_are_made)
{
    write_tables();
    write_configs();
    write_models();
}

TEST(wrong_usage_is_told)
{
    RUN_CASES(wrong_usage);
}

TEST(wrong_settings_are_told)
{
    RUN_CASES(wrong_settings);
}

TEST(bad_data_are_told)
{
    RUN_CASES(bad_data);
}

TEST(bad_models_are_told)
{
    RUN_CASES(bad_models);
}

TEST(bad_outputs_are_told)
{
    RUN_CASES(bad_outputs);
}

/* Root may read and write everything, so this one needs an ordinary user. */
TEST(permissions_are_told)
{
    if (geteuid() == 0) {
        print_message("running as root: permissions cannot be tested\n");
        skip();
    }
    static const bad_case cases[] = {
        {FIT "secret.csv" BY_Y, 1, "secret.csv: Permission denied"},
        {"stonet info secret.csv", 1, "Permission denied"},
        {"stonet transform good.model good.csv --out locked/z.csv", 1, "Permission denied"},
    };
    SH("cp good.csv secret.csv; chmod 000 secret.csv; mkdir locked; chmod 555 locked");
    RUN_CASES(cases);
}

TEST(nothing_is_left_behind)
{
    SH("ls -A | grep -E '^(bad.model|m|m.gz|w.csv|w.docx|z.xlsx|p.npy|.*tmp.*)$' || true");
    assert_string_equal(captured_out, "");
}

RUN_TESTS(enter_test_folder, leave_test_folder)
