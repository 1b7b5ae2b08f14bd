/* stonet-paper summary: one table of all experiments that have a default column. */
#define _GNU_SOURCE /* asprintf */
#include "paper/paper.h"

static const char begins[] = "<!-- summary -->\n", ends[] = "<!-- end of summary -->";
enum { FIELDS = 4, FIELD_SIZE = 128 };

static const experiment self_described = {
    .name = "summary",
    .summary = "One table of m1 and tables 1 to 3 from the cells in OUT",
    .details =
        "Writes OUT/summary-table.md. With --page also the table between '<!-- summary -->' and '<!-- end "
        "of summary -->' of a page: what OUT has no cells for stays there as it is.",
    .examples = "  stonet-paper summary --out results --page docs/paper.md",
};

/* "0.0367 (0.0033)". */
static void put_mean(const entry *one, int64_t most, char text[FIELD_SIZE])
{
    size_t used = (size_t)snprintf(text, FIELD_SIZE, "%.4f", one->mean);
    if (isfinite(one->se)) used += (size_t)snprintf(text + used, FIELD_SIZE - used, " (%.4f)", one->se);
    if (one->n < most) snprintf(text + used, FIELD_SIZE - used, " [%" PRId64 "]", one->n);
}

/* The best other reduction, the paper's StoNet as printed, ours with its settings, ours by default; "":
 * unknown. */
static void fill_fields(const experiment *about, const line *at, char field[FIELDS][FIELD_SIZE])
{
    char number[FIELD_SIZE];
    if (at->other != NULL) {
        put_mean(at->other, at->most, number);
        snprintf(field[0], FIELD_SIZE, "%s %.100s", at->other_name, number);
    }
    for (size_t m = 0; m < about->n_columns; m++) {
        const entry *one = &at->entries[m];
        bool is_paper = strcmp(about->columns[m].name, about->paper) == 0,
             plain = about->columns[m].settings == NULL;
        if (is_paper && isfinite(one->paper.mean)) snprintf(field[1], FIELD_SIZE, "%.4f", one->paper.mean);
        if (one->n > 0 && (is_paper || plain)) put_mean(one, at->most, field[plain ? 3 : 2]);
        size_t used = strlen(field[3]);
        if (plain && isfinite(at->p_test))
            snprintf(field[3] + used, FIELD_SIZE - used, ", p = %.3f", at->p_test);
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
    table made;
    int result = lab_plan(self);
    if (result != EXIT_DONE) return result;
    if (!table_make(self, &about->measures[0], &made)) return lab_no_memory(self);
    for (size_t i = 0; i < made.n_lines; i++) {
        const line *at = &made.lines[i];
        char key[FIELD_SIZE], q[24] = "1", field[FIELDS][FIELD_SIZE] = {"", "", "", ""};
        if (at->at->q > 0) snprintf(q, sizeof q, "%" PRId64, at->at->q);
        snprintf(key, sizeof key, "| %s: %s | %s |", about->name, at->at->row, q);
        fill_fields(about, at, field);
        if (!find_fields(older, key, field) && at->most == 0) continue;
        fprintf(out, "%s", key);
        for (size_t k = 0; k < FIELDS; k++) fprintf(out, " %s |", field[k]);
        fputc('\n', out);
    }
    table_free(&made);
    return EXIT_DONE;
}

static int put_table(lab *self, const char *older, FILE *out)
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
        json_decref(one.finished);
        free(one.cells.cell);
    }
    return result;
}

/* Puts the table between the marks of the page. */
static int write_page(const lab *self, const char *path, const char *page, const char *made)
{
    const char *from = strstr(page, begins), *to = from != NULL ? strstr(from, ends) : NULL;
    ROOM char *text = NULL;
    if (to == NULL) {
        say_error(&self->command, "%s has no '<!-- summary -->' with an end", path);
        return EXIT_FAILED;
    }
    int head = (int)(from - page) + (int)strlen(begins);
    if (asprintf(&text, "%.*s%s%s", head, page, made, to) < 0) return lab_no_memory(self);
    stonet_status status = stonet_bytes_write(path, text, strlen(text));
    if (status == STONET_OK) printf("wrote %s\n", path);
    return status == STONET_OK ? EXIT_DONE : say_failure(&self->command, status);
}

int summary_main(int argc, char **argv)
{
    lab self;
    int result;
    ROOM char *page = NULL, *made = NULL;
    size_t room = 0, size = 0;
    if (lab_open(&self, &self_described, argc, argv, &result)) {
        const char *path = self.options.page;
        FILE *file = path != NULL ? fopen(path, "r") : NULL, *out = open_memstream(&made, &size);
        if (file != NULL && getdelim(&page, &room, '\0', file) < 0) page = NULL;
        if (file != NULL) fclose(file);
        result = out != NULL ? put_table(&self, page, out) : lab_no_memory(&self);
        if (out != NULL) fclose(out);
        if (result == EXIT_DONE) fputs(made, stdout);
        if (result == EXIT_DONE && path != NULL)
            result = write_page(&self, path, page != NULL ? page : "", made);
        if (result == EXIT_DONE) result = report_file(&self, "table.md", made);
    }
    lab_close(&self);
    return result;
}
