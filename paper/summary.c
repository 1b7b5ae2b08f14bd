/* stonet-paper summary: one table of all experiments that have a default column. */
#include "paper/paper.h"

static const char begins[] = "<!-- summary -->\n", ends[] = "<!-- end of summary -->";
enum { FIELDS = 4, FIELD_SIZE = 128 };

/* "0.0367 (0.0033)". */
static void put_mean(const entry *one, int64_t most, char text[FIELD_SIZE])
{
    const estimate *of = &one->found;
    size_t used = (size_t)snprintf(text, FIELD_SIZE, "%.4f", of->mean);
    if (isfinite(of->se)) used += (size_t)snprintf(text + used, FIELD_SIZE - used, " (%.4f)", of->se);
    if (one->n < most) snprintf(text + used, FIELD_SIZE - used, " [%" PRId64 "]", one->n);
}

/* The best other reduction, the paper's StoNet as printed, ours with its settings, ours by default; "":
 * unknown. */
static void fill_fields(const experiment *about, const entries *at, char field[FIELDS][FIELD_SIZE])
{
    char number[FIELD_SIZE];
    if (at->other != NULL) {
        put_mean(at->other, at->most, number);
        snprintf(field[0], FIELD_SIZE, "%s %.100s", at->other_name, number);
    }
    for (size_t m = 0; m < about->n_columns; m++) {
        const entry *one = &at->by[m];
        bool is_paper = strcmp(about->columns[m].name, about->paper) == 0,
             plain = about->columns[m].settings == NULL;
        if (is_paper && isfinite(one->printed.mean))
            snprintf(field[1], FIELD_SIZE, "%.4f", one->printed.mean);
        if (one->n > 0 && (is_paper || plain)) put_mean(one, at->most, field[plain ? 3 : 2]);
        size_t used = strlen(field[3]);
        if (plain && isfinite(at->p_difference))
            snprintf(field[3] + used, FIELD_SIZE - used, ", p = %.3f", at->p_difference);
    }
}

/* The fields of the line that begins with `key` in a table; those that are empty stay as they are. */
static bool find_fields(const char *text, const char *key, char field[FIELDS][FIELD_SIZE])
{
    const char *at = text != NULL ? strstr(text, key) : NULL;
    if (at == NULL) return false;
    at += strlen(key);
    for (size_t k = 0; k < FIELDS; k++) {
        size_t length = strcspn(at, "|\n");
        if (field[k][0] == '\0' && length > 2)
            snprintf(field[k], FIELD_SIZE, "%.*s", (int)length - 2, at + 1);
        at += length + (at[length] == '|');
    }
    return true;
}

/* The lines of one experiment; what is not finished is taken from an older table. */
static int put_lines(lab *self, const char *older, FILE *out)
{
    const experiment *about = self->about;
    TRY(lab_plan(self));
    BLOCK entries *made = table_make(self, &about->measures[0]);
    for (size_t l = 0; l < self->n_lines; l++) {
        const line *at = &self->lines[l];
        char key[FIELD_SIZE], field[FIELDS][FIELD_SIZE] = {"", "", "", ""};
        snprintf(key, sizeof key, "| %s: %s | %" PRId64 " |", about->name, at->name, at->q > 0 ? at->q : 1);
        fill_fields(about, &made[l], field);
        if (!find_fields(older, key, field) && made[l].most == 0) continue;
        fprintf(out, "%s", key);
        for (size_t k = 0; k < FIELDS; k++) fprintf(out, " %s |", field[k]);
        fputc('\n', out);
    }
    return EXIT_DONE;
}

static int put_table(const lab *self, const char *older, FILE *out)
{
    int result = EXIT_DONE;
    fputs("| experiment | q | best other method | StoNet as printed | our StoNet, the paper's settings | our "
          "default |\n"
          "| --- | --- | --- | --- | --- | --- |\n",
          out);
    for (size_t i = 0; i < n_experiments && result == EXIT_DONE; i++) {
        if (experiments[i]->paper == NULL) continue;
        lab one = {.about = experiments[i], .command = self->command, .options = self->options};
        one.options.report = true;
        result = put_lines(&one, older, out);
        lab_clear(&one);
    }
    return result;
}

/* Puts the table between the marks of the page. */
static int write_page(const lab *self, const char *path, const char *page, const char *made)
{
    const char *from = strstr(page, begins), *to = from != NULL ? strstr(from, ends) : NULL;
    if (to == NULL) return say_error(&self->command, "%s has no '<!-- summary -->' with an end", path);
    int head = (int)(from - page) + (int)strlen(begins);
    BLOCK char *text = text_of("%.*s%s%s", head, page, made, to);
    TRY(outcome(&self->command, stonet_bytes_write(path, text, strlen(text))));
    printf("wrote %s\n", path);
    return EXIT_DONE;
}

int summary_write(const lab *self)
{
    const char *path = self->options.page;
    BLOCK char *page = NULL, *made = NULL;
    size_t room = 0, size = 0;
    FILE *file = path != NULL ? fopen(path, "r") : NULL, *out = open_text(&made, &size);
    if (file != NULL && getdelim(&page, &room, '\0', file) < 0) page = NULL;
    if (file != NULL) fclose(file);
    const int result = put_table(self, page, out);
    close_text(out);
    TRY(result);
    fputs(made, stdout);
    if (path != NULL) TRY(write_page(self, path, page != NULL ? page : "", made));
    return report_file(self, "table.md", made);
}

const experiment summary = {
    .name = "summary",
    .summary = "One table of m1 and tables 1 to 3 from the cells in OUT",
    .details =
        "Writes OUT/summary-table.md. With --page also the table between '<!-- summary -->' and '<!-- end "
        "of summary -->' of a page: what OUT has no cells for stays there as it is.",
    .examples = "  stonet-paper summary --out results --page docs/paper.md",
};
