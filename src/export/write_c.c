/*
 * A model as one file of C99: tables of numbers, an encoder of rows driven by a table of columns, and two
 * functions that run the steps of the formula.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "data/schema.h"
#include "export/writers.h"

enum { NUMBERS_A_LINE = 8 };

void sn_c_number(sn_bytes *out, double value)
{
    char text[SN_NUMBER_SIZE];
    const bool single = fabs(value) <= (double)__FLT_MAX__ && (double)(float)value == value;
    sn_number_print(value, text);
    sn_bytes_text(out, text);
    if (strpbrk(text, ".e") == NULL) sn_bytes_text(out, ".0");
    if (single) sn_bytes_text(out, "F"); /* these digits are the float's */
}

void sn_c_string(sn_bytes *out, const char *text)
{
    sn_bytes_text(out, "\"");
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        /* a question mark could begin a trigraph */
        if (c < ' ' || c > '~' || c == '"' || c == '\\' || c == '?')
            sn_bytes_print(out, "\\%03o", c);
        else
            sn_bytes_put(out, text, 1);
    }
    sn_bytes_text(out, "\"");
}

void sn_c_table(sn_bytes *out, const char *name, int k, int64_t count, const double *values)
{
    sn_bytes_print(out, "static const double %s%d[%" PRId64 "] = {", name, k, count);
    for (int64_t i = 0; i < count; i++) {
        sn_bytes_text(out, i % NUMBERS_A_LINE == 0 ? "\n    " : " ");
        sn_c_number(out, values[i]);
        sn_bytes_text(out, i + 1 < count ? "," : "\n");
    }
    sn_bytes_text(out, "};\n");
}

/* The declarations of the file: sizes, the cell of a row and the names of the columns. Their names begin with
   that of the model, so that two models can be linked into one program. */
static void put_head(sn_bytes *out, const sn_exported *of)
{
    const char *name = of->name;
    const int64_t outputs = of->formula->answer >= 0 ? sn_schema_outputs(of->schema) : 0;
    sn_bytes_print(out,
                   "/*\n"
                   " * A model of stonet %s, method %s, fitted on %" PRId64 " rows, as plain C99.\n"
                   " * It needs the C library alone: cc -std=c99 -O2 -c THIS_FILE, and -lm to link.\n"
                   " * What stands before the first function can be copied into a header.\n"
                   " */\n"
                   "#include <math.h>\n#include <stddef.h>\n#include <string.h>\n\n",
                   STONET_VERSION, of->model->method->name, of->model->n_train);
    sn_bytes_print(out,
                   "enum { %s_INPUTS = %" PRId64 ", %s_DIM = %" PRId64 ", %s_OUTPUTS = %" PRId64 " };\n\n",
                   name, of->schema->n_inputs, name, of->model->dim, name, outputs);
    sn_bytes_print(out,
                   "/* A cell of a row: a number, or, where %s_is_text says so, a text. */\n"
                   "typedef struct %s_cell {\n    double number;\n    const char *text;\n} %s_cell;\n\n",
                   name, name, name);
    sn_bytes_print(
        out,
        "/* The columns in the order of the cells of a row. Cells of columns that are not used (-1) are\n"
        "   not looked at. Dates are numbers: days since 1970-01-01. */\n"
        "extern const char *const %s_input[%s_INPUTS];\n"
        "extern const int %s_is_text[%s_INPUTS];\n",
        name, name, name, name);
    if (outputs > 0)
        sn_bytes_print(out, "/* The %s. */\nextern const char *const %s_output[%s_OUTPUTS];\n",
                       of->schema->task == SN_CLASSIFICATION ? "classes" : "targets", name, name);
}

/* Declares the two functions. Their comment says whether the model fills missing cells or refuses them. */
static void put_calls(sn_bytes *out, const sn_exported *of)
{
    const char *name = of->name;
    sn_bytes_text(
        out,
        sn_exported_fills(of)
            ? "\n/* 0; j > 0 when cell j, counted from 1, is an infinite number; -1 when the row is too far "
              "from the\n"
              "   training rows to compute with. A missing cell (NaN; NULL, an empty text, NA, N/A, NaN, "
              "null, ? or .)\n"
              "   and a category that training never saw count as the average of the training rows. */\n"
            : "\n/* 0; j > 0 when cell j, counted from 1, is missing (a number that is not finite, a text "
              "that is\n"
              "   NULL, empty, NA, N/A, NaN, null, ? or ., unless that is a category); -1 when the row is "
              "too far\n"
              "   from the training rows to compute with. A category that training never saw counts as the\n"
              "   average of the training rows. */\n");
    sn_bytes_print(out, "int %s_transform(const %s_cell row[%s_INPUTS], double z[%s_DIM]);\n", name, name,
                   name, name);
    if (of->formula->answer < 0) return;
    sn_bytes_print(
        out,
        "/* The same, of %s. */\nint %s_predict(const %s_cell row[%s_INPUTS], double answer[%s_OUTPUTS]);\n",
        of->schema->task == SN_CLASSIFICATION ? "probabilities of the classes" : sn_exported_numbers(of),
        name, name, name, name);
}

/* ---- columns --------------------------------------------------------------------------------------- */

static void put_entry(sn_bytes *out, const char *text, bool last)
{
    sn_bytes_text(out, "    ");
    sn_c_string(out, text);
    sn_bytes_text(out, last ? "\n" : ",\n");
}

/* Names of the columns and outputs. is_text: 1 for text, 0 for numbers, -1 for a column that the model does
   not use. */
static void put_names(sn_bytes *out, const sn_exported *of)
{
    const sn_schema *schema = of->schema;
    sn_bytes_print(out, "\nconst char *const %s_input[%s_INPUTS] = {\n", of->name, of->name);
    for (int64_t j = 0; j < schema->n_inputs; j++)
        put_entry(out, schema->input[j].name, j + 1 == schema->n_inputs);
    sn_bytes_print(out, "};\n\nconst int %s_is_text[%s_INPUTS] = {", of->name, of->name);
    for (int64_t j = 0; j < schema->n_inputs; j++)
        sn_bytes_print(out, "%s%s%d", j == 0 ? "" : ",", j % 20 == 0 ? "\n    " : " ",
                       schema->input[j].features == 0 ? -1 : schema->input[j].kind == SN_COLUMN_TEXT);
    sn_bytes_text(out, "\n};\n");
    if (of->formula->answer < 0) return;
    sn_bytes_print(out, "\nconst char *const %s_output[%s_OUTPUTS] = {\n", of->name, of->name);
    for (int64_t k = 0; k < sn_schema_outputs(schema); k++)
        put_entry(out, sn_exported_output(of, k), k + 1 == sn_schema_outputs(schema));
    sn_bytes_text(out, "};\n");
}

/* One line of the table `columns` for each column of the data, with its categories and levels before it. The
   encoder of the C file is the same for all models and is driven by this table. */
static void put_columns(sn_bytes *out, const sn_exported *of)
{
    const sn_schema *schema = of->schema;
    sn_bytes_text(out, "\n/* Categories, sorted, and levels of the columns that have them. */\n");
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        if (input->levels > 0)
            sn_bytes_print(out, "static const float level%d[%" PRId64 "] = {", (int)j, input->levels);
        for (int64_t k = 0; k < input->levels; k++) {
            sn_c_number(out, (double)input->level[k]);
            sn_bytes_text(out, k + 1 < input->levels ? ", " : "};\n");
        }
        if (input->kind != SN_COLUMN_TEXT || input->features == 0) continue;
        sn_bytes_print(out, "static const char *const category%d[%" PRId64 "] = {\n", (int)j,
                       input->categories.count);
        for (int64_t c = 0; c < input->categories.count; c++)
            put_entry(out, input->categories.text[c], c + 1 == input->categories.count);
        sn_bytes_text(out, "};\n");
    }
    sn_bytes_text(
        out,
        "\n/* Where a column begins among the features (-1: it is not used), how many categories or\n"
        "   levels it has, whether float is too coarse for it, whether its categories are ranks, whether "
        "the\n"
        "   last one is all others, whether it has the time of the year, whether it is a channel of a curve,\n"
        "   and which feature says that it is missing (-1: none). */\n"
        "typedef struct column {\n    int first, count, fine, ordered, other, season, channel, missing;\n"
        "    const float *level;\n    const char *const *category;\n} column;\n");
    sn_bytes_print(out, "\nstatic const column columns[%s_INPUTS] = {\n", of->name);
    for (int64_t j = 0; j < schema->n_inputs; j++) {
        const sn_input *input = &schema->input[j];
        const int64_t first = input->first_feature;
        const bool text = input->kind == SN_COLUMN_TEXT, used = input->features > 0;
        const bool fine =
            input->curve != 0
                ? schema->curves.fine
                : used && !text && sn_far_from_zero(schema->centre[first], schema->factor[first]);
        char level[32] = "NULL", category[32] = "NULL";
        if (input->levels > 0) snprintf(level, sizeof level, "level%d", (int)j);
        if (text && used) snprintf(category, sizeof category, "category%d", (int)j);
        sn_bytes_print(out, "    {%" PRId64 ", %" PRId64 ", %d, %d, %d, %d, %d, %" PRId64 ", %s, %s}%s\n",
                       used ? first : -1,
                       !used  ? 0
                       : text ? input->categories.count
                              : input->levels,
                       fine, text && input->categories.ordered, input->has_other, input->season,
                       input->curve != 0, input->indicator ? first + input->features - 1 : -1, level,
                       category, j + 1 < schema->n_inputs ? "," : "");
    }
    sn_bytes_text(
        out, "};\n\n/* Of each feature: what an unknown category or level counts as, and its scale. */\n");
    sn_c_table(out, "mean", 0, schema->p, schema->mean);
    sn_c_table(out, "centre", 0, schema->p, schema->centre);
    sn_c_table(out, "factor", 0, schema->p, schema->factor);
}

static const char ENCODER[] =
    "\nstatic int is_missing(const char *text)\n{\n"
    "    static const char *const words[] = {\"\", \"na\", \"n/a\", \"nan\", \"null\", \"\\077\", \".\"};\n"
    "    size_t w, i;\n"
    "    for (w = 0; w < NA; w++)\n        if (strcmp(text, na_word[w]) == 0) return 1;\n"
    "    for (w = 0; w < sizeof words / sizeof *words; w++) {\n"
    "        for (i = 0; text[i] != '\\0'; i++) {\n"
    "            const char c = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];\n"
    "            if (c != words[w][i]) break;\n"
    "        }\n"
    "        if (text[i] == '\\0' && words[w][i] == '\\0') return 1;\n"
    "    }\n"
    "    return 0;\n}\n\n"
    "/* The place of a word in a list, which is sorted bytewise unless its order means something; or -1. */\n"
    "static int find(const char *const *word, int count, int ordered, const char *text)\n{\n"
    "    int low = 0, high = ordered ? 0 : count, k;\n"
    "    for (k = 0; ordered && k < count; k++)\n        if (strcmp(text, word[k]) == 0) return k;\n"
    "    while (low < high) {\n"
    "        const int middle = low + (high - low) / 2, order = strcmp(text, word[middle]);\n"
    "        if (order == 0) return middle;\n"
    "        if (order < 0)\n            high = middle;\n        else\n            low = middle + 1;\n"
    "    }\n"
    "    return -1;\n}\n\n"
    "static void scale(int feature, double raw, double *x)\n{\n"
    "    x[feature] = (double)(float)((raw - centre0[feature]) * factor0[feature]);\n}\n\n"
    "/* Which category or level a cell is (-1: none that training had), and whether it is missing; a\n"
    "   number is scaled at once. 0: the row has no answer. */\n"
    "static int look(const column *c, double number, const char *text, int *known, int *gone, double *x)\n{\n"
    "    const double years = number / 365.2425, phase = 6.283185307179586 * (years - floor(years));\n"
    "    int k;\n"
    "    *known = -1;\n"
    "    if (c->category != NULL) {\n"
    "        if (text != NULL) *known = find(c->category, c->count - c->other, c->ordered, text);\n"
    "        *gone = *known < 0 && (text == NULL || is_missing(text));\n"
    "        if (*known < 0 && !*gone && c->other) *known = c->count - 1;\n"
    "        return FILLS || !*gone;\n"
    "    }\n"
    "    for (k = 0, *gone = isnan(number); k < NA; k++)\n"
    "        if (na_number[k] == number) *gone = 1;\n"
    "    if (*gone ? !FILLS || c->channel : !isfinite(number)) return 0;\n"
    "    if (c->channel) {\n"
    "        x[c->first] = c->fine ? number : (double)(float)number;\n"
    "        return 1;\n"
    "    }\n"
    "    scale(c->first, *gone ? mean0[c->first] : c->fine ? number : (double)(float)number, x);\n"
    "    if (c->season) {\n"
    "        scale(c->first + 1, *gone ? mean0[c->first + 1] : sin(phase), x);\n"
    "        scale(c->first + 2, *gone ? mean0[c->first + 2] : cos(phase), x);\n"
    "    }\n"
    "    for (k = 0; !*gone && c->level != NULL && k < c->count; k++)\n"
    "        if (c->level[k] == (float)number) *known = k;\n"
    "    return 1;\n}\n";

/* Words and numbers for missing cells besides the usual ones; the first stands for none. */
static void put_na(sn_bytes *out, const sn_na *na)
{
    sn_bytes_print(out, "\nenum { NA = %d };\nstatic const char *const na_word[NA] = {\"\"",
                   (int)na->count + 1);
    for (int64_t k = 0; k < na->count; k++) {
        sn_bytes_text(out, ", ");
        sn_c_string(out, na->word[k]);
    }
    sn_bytes_text(out, "};\nstatic const double na_number[NA] = {NAN");
    for (int64_t k = 0; k < na->count; k++) {
        sn_bytes_text(out, ", ");
        if (isnan(na->number[k]))
            sn_bytes_text(out, "NAN");
        else
            sn_c_number(out, na->number[k]);
    }
    sn_bytes_text(out, "};\n");
}

static const char CURVE[] =
    "\n/* What is done to a curve, whose channels are these features: its matrix, and with `divides` its\n"
    "   standard deviation. */\n"
    "static void prepare(const int *channel, int m, const double *matrix, int divides, double *x)\n{\n"
    "    double from[CHANNELS], mean = 0.0, squares = 0.0, sd;\n"
    "    int i, k;\n"
    "    for (k = 0; k < m; k++) mean += (from[k] = x[channel[k]]) / m;\n"
    "    for (k = 0; k < m; k++) squares += (from[k] - mean) * (from[k] - mean);\n"
    "    sd = sqrt(squares / (m - 1));\n"
    "    for (i = 0; i < m; i++) {\n"
    "        double sum = 0.0;\n"
    "        for (k = 0; k < m; k++) sum += matrix[(size_t)i * (size_t)m + (size_t)k] * from[k];\n"
    "        if (divides) sum = sd > FLAT * fabs(mean) ? sum / sd : 0.0;\n"
    "        scale(channel[i], sum, x);\n"
    "    }\n}\n";

/* Channels and matrix of each curve, and the function that prepares one. */
static stonet_status put_curves(sn_bytes *out, const sn_schema *schema)
{
    SN_WORKSPACE(scratch);
    int64_t longest = 0;
    double *matrix = NULL;
    if (schema->n_curves == 0) return STONET_OK;
    SN_ARRAY(schema->n_inputs, int64_t, input);
    sn_bytes_text(out, "\n");
    for (int64_t curve = 1; curve <= schema->n_curves; curve++) {
        const int64_t m = sn_curve_channels(schema, curve, input);
        if (m > longest) longest = m;
        SN_TRY(SN_TAKE(&scratch, matrix, m * m));
        SN_TRY(sn_curve_matrix(&schema->curves, m, matrix));
        sn_c_table(out, "curve", (int)curve, m * m, matrix);
        sn_bytes_print(out, "static const int channel%d[%" PRId64 "] = {", (int)curve, m);
        for (int64_t k = 0; k < m; k++)
            sn_bytes_print(out, "%s%" PRId64, k == 0 ? "" : ", ", schema->input[input[k]].first_feature);
        sn_bytes_text(out, "};\n");
    }
    sn_bytes_print(out, "enum { CHANNELS = %" PRId64 " };\nstatic const double FLAT = %g;\n", longest,
                   SN_CURVE_FLAT);
    sn_bytes_text(out, CURVE);
    return STONET_OK;
}

/* The function encode: features of a row in the order of the model, 0 when all is well. It returns the number
   of the first bad cell from 1, or -1 for a feature that is not finite. */
static stonet_status put_encode(sn_bytes *out, const sn_exported *of)
{
    const sn_schema *schema = of->schema;
    sn_bytes_print(
        out, "\n/* Whether a missing cell counts as the average of its column. */\nenum { FILLS = %d };\n",
        sn_exported_fills(of));
    put_na(out, &of->na);
    sn_bytes_text(out, ENCODER);
    SN_TRY(put_curves(out, schema));
    sn_bytes_print(out,
                   "\n/* The features x of a row. */\n"
                   "static int encode(const %s_cell *row, double *x)\n{\n"
                   "    int j, k, known, gone;\n"
                   "    for (j = 0; j < %s_INPUTS; j++) {\n"
                   "        const column *c = &columns[j];\n"
                   "        const int first = c->category != NULL ? c->first : c->first + 1;\n"
                   "        if (c->first < 0) continue;\n"
                   "        if (!look(c, row[j].number, row[j].text, &known, &gone, x)) return j + 1;\n"
                   "        if (c->missing >= 0) scale(c->missing, gone, x);\n",
                   of->name, of->name);
    sn_bytes_text(out,
                  "        if (c->ordered) scale(first, known < 0 ? mean0[first] : known + 1.0, x);\n"
                  "        for (k = 0; !c->ordered && k < c->count; k++)\n"
                  "            scale(first + k, known < 0 ? mean0[first + k] : k == known ? 1.0 : 0.0, x);\n"
                  "    }\n");
    for (int64_t curve = 1; curve <= schema->n_curves; curve++)
        sn_bytes_print(out, "    prepare(channel%d, %" PRId64 ", curve%d, %d, x);\n", (int)curve,
                       sn_curve_channels(schema, curve, NULL), (int)curve,
                       sn_curve_divides(schema->curves.how));
    sn_bytes_print(out,
                   "    for (k = 0; k < %" PRId64 "; k++)\n"
                   "        if (!isfinite(x[k])) return -1;\n"
                   "    return 0;\n}\n",
                   schema->p);
    return STONET_OK;
}

/* ---- steps ----------------------------------------------------------------------------------------- */

/* What each kind of step does, as a function. */
static const struct {
    sn_op op;
    sn_activation activation;
    const char *code;
} HELPERS[] = {
    {SN_OP_AFFINE, SN_IDENTITY,
     "static void affine(const double *m, const double *o, int rows, int columns_, const double *in, double "
     "*out)\n{\n"
     "    int i, j;\n"
     "    for (i = 0; i < rows; i++) {\n"
     "        double sum = o[i];\n"
     "        for (j = 0; j < columns_; j++) sum += m[(size_t)i * (size_t)columns_ + (size_t)j] * in[j];\n"
     "        out[i] = sum;\n    }\n}\n"},
    {SN_OP_SCALE, SN_IDENTITY,
     "static void stretch(const double *f, const double *o, int n, const double *in, double *out)\n{\n"
     "    int i;\n    for (i = 0; i < n; i++) out[i] = f[i] * in[i] + o[i];\n}\n"},
    {SN_OP_ACTIVATION, SN_TANH,
     "static void psi_tanh(int n, const double *in, double *out)\n{\n"
     "    int i;\n    for (i = 0; i < n; i++) out[i] = tanh(in[i]);\n}\n"},
    {SN_OP_ACTIVATION, SN_RELU,
     "static void psi_relu(int n, const double *in, double *out)\n{\n"
     "    int i;\n    for (i = 0; i < n; i++) out[i] = in[i] > 0.0 ? in[i] : 0.0;\n}\n"},
    {SN_OP_ACTIVATION, SN_SIGMOID,
     "static void psi_sigmoid(int n, const double *in, double *out)\n{\n"
     "    int i;\n    for (i = 0; i < n; i++) out[i] = 1.0 / (1.0 + exp(-in[i]));\n}\n"},
    {SN_OP_KERNEL, SN_IDENTITY,
     "/* exp(-gamma |in - centre|^2) of each row of c */\n"
     "static void kernel(const double *c, double gamma, int rows, int n, const double *in, double *out)\n{\n"
     "    int i, j;\n"
     "    for (i = 0; i < rows; i++) {\n"
     "        double sum = 0.0;\n"
     "        for (j = 0; j < n; j++) {\n"
     "            const double apart = in[j] - c[(size_t)i * (size_t)n + (size_t)j];\n"
     "            sum += apart * apart;\n        }\n"
     "        out[i] = exp(-gamma * sum);\n    }\n}\n"},
    {SN_OP_COLUMNS, SN_IDENTITY,
     "static void choose(const int *which, int n, const double *in, double *out)\n{\n"
     "    int i;\n    for (i = 0; i < n; i++) out[i] = in[which[i]];\n}\n"},
    {SN_OP_LARGEST, SN_IDENTITY,
     "static void largest(int n, int part, const double *in, double *out)\n{\n"
     "    int i, j;\n"
     "    for (i = 0; i < n; i++) {\n"
     "        out[i] = in[(size_t)i * (size_t)part];\n"
     "        for (j = 1; j < part; j++) out[i] = fmax(out[i], in[(size_t)i * (size_t)part + (size_t)j]);\n"
     "    }\n}\n"},
    {SN_OP_SOFTMAX, SN_IDENTITY,
     "static void softmax(int n, const double *in, double *out)\n{\n"
     "    double largest = in[0], sum = 0.0;\n    int i;\n"
     "    for (i = 1; i < n; i++) largest = fmax(largest, in[i]);\n"
     "    for (i = 0; i < n; i++) sum += out[i] = exp(in[i] - largest);\n"
     "    for (i = 0; i < n; i++) out[i] /= sum;\n}\n"},
    {SN_OP_TEMPER, SN_IDENTITY,
     "static void temper(double power, int n, const double *in, double *out)\n{\n"
     "    double largest = in[0], sum = 0.0;\n    int i;\n"
     "    for (i = 1; i < n; i++) largest = fmax(largest, in[i]);\n"
     "    for (i = 0; i < n; i++) sum += out[i] = pow(in[i] / largest, power);\n"
     "    for (i = 0; i < n; i++) out[i] /= sum;\n}\n"},
    {SN_OP_EXP, SN_IDENTITY,
     "static void exponential(int n, const double *in, double *out)\n{\n"
     "    int i;\n    for (i = 0; i < n; i++) out[i] = exp(in[i]);\n}\n"},
};

static void put_helpers(sn_bytes *out, const sn_formula *formula)
{
    for (size_t h = 0; h < sizeof HELPERS / sizeof *HELPERS; h++)
        for (int k = 1; k < formula->count; k++) {
            const sn_step *step = &formula->step[k];
            if (step->op != HELPERS[h].op || step->activation != HELPERS[h].activation) continue;
            sn_bytes_text(out, "\n");
            sn_bytes_text(out, HELPERS[h].code);
            break;
        }
}

/* The numbers of step k: mk, ok, fk, ck. */
static void put_tables(sn_bytes *out, const sn_formula *formula)
{
    sn_bytes_text(out, "\n");
    for (int k = 1; k < formula->count; k++) {
        const sn_step *step = &formula->step[k];
        if (step->matrix != NULL)
            sn_c_table(out, "m", k, sn_step_rows(step) * sn_step_columns(step), step->matrix);
        if (step->factor != NULL) sn_c_table(out, "f", k, step->width, step->factor);
        if (step->offset != NULL) sn_c_table(out, "o", k, sn_step_rows(step), step->offset);
        if (step->column == NULL) continue;
        sn_bytes_print(out, "static const int c%d[%" PRId64 "] = {", k, step->width);
        for (int64_t i = 0; i < step->width; i++)
            sn_bytes_print(out, "%s%" PRId64, i == 0 ? "" : ", ", step->column[i]);
        sn_bytes_text(out, "};\n");
    }
}

/* The same matrix for each part of the values before. */
static void put_affine_runs(sn_bytes *out, const sn_step *step, int k, int64_t in, int64_t to)
{
    const int64_t rows = sn_step_rows(step), columns = sn_step_columns(step);
    sn_bytes_print(out,
                   "    for (k = 0; k < %" PRId64 "; k++)\n        affine(m%d, o%d, %" PRId64 ", %" PRId64,
                   step->runs, k, k, rows, columns);
    sn_bytes_print(out, ", v + %" PRId64 " + k * %" PRId64 ", v + %" PRId64 " + k * %" PRId64 ");\n", in,
                   columns, to, rows);
}

/* One line that takes step k; at[] says where the values of each step are in v. */
static void put_step(sn_bytes *out, const sn_formula *formula, int k, const int64_t *at)
{
    const sn_step *step = &formula->step[k];
    const int64_t rows = step->width, columns = step->inputs, in = at[step->in], to = at[k];
    switch (step->op) {
    case SN_OP_FEATURES:
        break;
    case SN_OP_AFFINE:
        if (step->runs > 1) {
            put_affine_runs(out, step, k, in, to);
            return;
        }
        sn_bytes_print(out, "    affine(m%d, o%d, %" PRId64 ", %" PRId64, k, k, rows, columns);
        break;
    case SN_OP_SCALE:
        sn_bytes_print(out, "    stretch(f%d, o%d, %" PRId64, k, k, rows);
        break;
    case SN_OP_ACTIVATION:
        sn_bytes_print(out, "    psi_%s(%" PRId64, sn_words_name(&sn_activation_words, step->activation),
                       rows);
        break;
    case SN_OP_KERNEL:
        sn_bytes_print(out, "    kernel(m%d, ", k);
        sn_c_number(out, step->number);
        sn_bytes_print(out, ", %" PRId64 ", %" PRId64, rows, columns);
        break;
    case SN_OP_COLUMNS:
        sn_bytes_print(out, "    choose(c%d, %" PRId64, k, rows);
        break;
    case SN_OP_JOIN:
        sn_bytes_print(out, "    memcpy(v + %" PRId64 ", v + %" PRId64 ", %" PRId64 " * sizeof *v);\n", to,
                       in, columns);
        sn_bytes_print(out, "    memcpy(v + %" PRId64 ", v + %" PRId64 ", %" PRId64 " * sizeof *v);\n",
                       to + columns, at[step->other], rows - columns);
        return;
    case SN_OP_LARGEST:
        sn_bytes_print(out, "    largest(%" PRId64 ", %" PRId64, rows, columns / rows);
        break;
    case SN_OP_SOFTMAX:
        sn_bytes_print(out, "    softmax(%" PRId64, rows);
        break;
    case SN_OP_TEMPER:
        sn_bytes_text(out, "    temper(");
        sn_c_number(out, step->number);
        sn_bytes_print(out, ", %" PRId64, rows);
        break;
    case SN_OP_EXP:
        sn_bytes_print(out, "    exponential(%" PRId64, rows);
        break;
    }
    sn_bytes_print(out, ", v + %" PRId64 ", v + %" PRId64 ");\n", in, to);
}

/* The function that ends with step `last`, whose values go to `result`. */
static void put_function(sn_bytes *out, const sn_exported *of, const char *call, const char *result,
                         const char *room, int last)
{
    const sn_formula *formula = of->formula;
    bool needed[SN_FORMULA_STEPS] = {false};
    int64_t at[SN_FORMULA_STEPS] = {0}, total = 0;
    sn_formula_needed(formula, last, needed);
    needed[0] = true;
    for (int k = 0; k <= last; k++) {
        at[k] = total;
        if (needed[k]) total += formula->step[k].width;
    }
    sn_bytes_print(out,
                   "\nint %s_%s(const %s_cell row[%s_INPUTS], double %s[%s_%s])\n{\n"
                   "    double v[%" PRId64 "];\n    int k;\n    const int wrong = encode(row, v);\n"
                   "    if (wrong != 0) return wrong;\n",
                   of->name, call, of->name, of->name, result, of->name, room, total);
    for (int k = 1; k <= last; k++)
        if (needed[k]) put_step(out, formula, k, at);
    sn_bytes_print(out,
                   "    for (k = 0; k < %s_%s; k++) {\n"
                   "        %s[k] = v[%" PRId64 " + k];\n"
                   "        if (!isfinite(%s[k])) return -1;\n    }\n    return 0;\n}\n",
                   of->name, room, result, at[last], result);
}

stonet_status sn_export_c(const sn_exported *exported, sn_bytes *out)
{
    const sn_formula *formula = exported->formula;
    put_head(out, exported);
    put_calls(out, exported);
    put_names(out, exported);
    put_columns(out, exported);
    SN_TRY(put_encode(out, exported));
    put_tables(out, formula);
    put_helpers(out, formula);
    put_function(out, exported, "transform", "z", "DIM", formula->z);
    if (formula->answer >= 0) put_function(out, exported, "predict", "answer", "OUTPUTS", formula->answer);
    return out->status;
}
