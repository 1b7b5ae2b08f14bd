/* Text read in parts by several threads is the text read in one go: random tables with everything that can
   stand in the way of a cut, and files of several buffers. */
#include "data/test_one_file.h"
#include "data/test_reading.h"

#include <stdio.h>
#include <unistd.h>

#include "math/noise.h"

static void write_text(const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* One in `often` cells or rows of a table gets what the name says. */
typedef struct oddities {
    uint64_t quotes, line_ends, doubled, blank_lines, text, mistakes;
    const char *line_end;
} oddities;

static bool comes(sn_random *random, uint64_t often)
{
    return often > 0 && sn_random_below(random, often) == 0;
}

static size_t print_cell(char *to, sn_random *random, const oddities *odd, int column)
{
    static const char *const mistakes[] = {"", "NA", "inf", "1e99", "word", "\"open", "\"a\"b", "1,2", "\n"};
    char *at = to;
    long long number = (long long)sn_random_below(random, 100000);
    bool quoted = comes(random, odd->quotes);
    if (comes(random, odd->mistakes)) return (size_t)sprintf(to, "%s", mistakes[sn_random_below(random, 9)]);
    if (quoted) *at++ = '"';
    if (column == 2) {
        at += sprintf(at, "w%lld", number % 7);
        if (quoted && comes(random, odd->doubled)) at += sprintf(at, "\"\"");
        if (quoted && comes(random, odd->line_ends)) at += sprintf(at, "\n1,2,3,4\n");
    } else if (column == 0 && comes(random, odd->text)) {
        at += sprintf(at, "t%lld", number % 3);
    } else if (number % 2 == 0) {
        at += sprintf(at, "%lld", number % 10);
    } else {
        at += sprintf(at, "-%lld.%05lld", number % 10, number);
    }
    if (quoted) *at++ = '"';
    if (comes(random, odd->quotes)) *at++ = ' ';
    return (size_t)(at - to);
}

static size_t print_table(char *to, sn_random *random, const oddities *odd, int rows)
{
    char *at = to;
    if (sn_random_below(random, 2) == 0) at += sprintf(at, "first,second,third,fourth%s", odd->line_end);
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < 4; j++) {
            at += print_cell(at, random, odd, j);
            if (j < 3) *at++ = ',';
        }
        /* The last line may have no end. */
        if (i + 1 < rows || sn_random_below(random, 2) == 0) at += sprintf(at, "%s", odd->line_end);
        if (comes(random, odd->blank_lines)) at += sprintf(at, "%s  %s", odd->line_end, odd->line_end);
    }
    return (size_t)(at - to);
}

TEST(test_random_tables)
{
    static const oddities kinds[] = {
        {.line_end = "\n"},
        {.line_end = "\r\n", .quotes = 3, .line_ends = 2, .doubled = 3, .blank_lines = 3},
        {.line_end = "\n", .quotes = 2, .line_ends = 1, .doubled = 2},
        {.line_end = "\r", .quotes = 4, .blank_lines = 5},
        {.line_end = "\n", .quotes = 5, .line_ends = 3, .text = 40, .blank_lines = 9},
        {.line_end = "\n", .quotes = 5, .line_ends = 3, .mistakes = 250},
        {.line_end = "\r\n", .mistakes = 400},
    };
    static char text[1 << 16];
    sn_random random = sn_random_from(11, SN_STREAM_TEST, 3);
    int read = 0, refused = 0;
    for (int k = 0; k < 140; k++) {
        const oddities *odd = &kinds[k % 7];
        size_t size = print_table(text, &random, odd, 1 + (int)sn_random_below(&random, 120));
        assert_true(size < sizeof text);
        write_text(text, size);
        const char *const targets[] = {NULL, "3", "2,4"};
        check_parts(path, targets[k % 3]);
        SN_AUTO(stonet_data) *data = NULL;
        stonet_status status = read_in_parts(path, NULL, 1, 0, &data);
        read += status == STONET_OK;
        refused += status != STONET_OK;
    }
    assert_true(read > 70 && refused > 20); /* both kinds of outcome were compared */
}

/* Several buffers, with line ends in quotation marks wherever a part or a buffer may end. */
TEST(test_several_buffers)
{
    enum { ROWS = 600000 };
    const size_t room = (size_t)ROWS * 40;
    SN_BLOCK char *text = malloc(room);
    size_t used = (size_t)sprintf(text, "a,b,c\n");
    for (int i = 0; i < ROWS; i++)
        used += (size_t)sprintf(text + used, i % 3 == 0 ? "%d,-%d.5,\"w\n%d\"\n" : "%d,%d.25,v%d\n", i,
                                i % 100, i % 11);
    assert_true(used > 2 * (size_t)SN_SCANNER_BUFFER && used < room);
    write_text(text, used);
    check_parts(path, NULL);
    check_parts(path, "c");
    stonet_data *data;
    stonet_read_options how = {.size = sizeof how, .threads = 3};
    OK(stonet_data_read(path, &how, &data));
    assert_int_equal(data->n, ROWS);
    assert_true(data->x[(size_t)2 * (ROWS - 1)] == ROWS - 1);
    stonet_data_free(data);
    /* A slip near the end: row and line are those of the file, though nobody has counted the lines before. */
    used += (size_t)sprintf(text + used, "1,2\n");
    write_text(text, used);
    char sentence[64];
    snprintf(sentence, sizeof sentence, "line %d has 2 cells", 2 + ROWS + (ROWS + 2) / 3);
    assert_says(stonet_data_read(path, &how, &data), STONET_ERROR_DATA, sentence);
}

RUN_TESTS(make_file, remove_file)
