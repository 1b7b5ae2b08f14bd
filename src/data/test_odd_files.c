/* Small files that are read, or refused with a sentence: what is rare in text, NumPy's arrays and zip
   archives. */
#include <zlib.h>

#include "data/test_tables.h"
#include "data/utf8.h"

/* ---- text ---- */

typedef struct text_case {
    const char *text;
    stonet_read_options how;
    const char *words; /* of the sentence; NULL: it is read */
    int64_t rows;
} text_case;

#define SIZE   .size = sizeof(stonet_read_options)
#define LEVELS "a,t,y\n1,low,3\n2,high,4\n"
static const char *const NO_EQUALS[] = {"a"}, *const NO_NAME[] = {"=low,high"},
                         *const NO_COLUMN[] = {"z=low,high"}, *const EMPTY[] = {"t=low,,high"},
                         *const BY_NUMBER[] = {"2=low,high"}, *const TARGET[] = {"y=low,high"};

static const text_case CASES[] = {
    {LEVELS, {SIZE, .ordinal = NO_EQUALS, .n_ordinal = 1}, "COL=low,mid,high", 0},
    {LEVELS, {SIZE, .ordinal = NO_NAME, .n_ordinal = 1}, "COL=low,mid,high", 0},
    {LEVELS, {SIZE, .ordinal = NO_COLUMN, .n_ordinal = 1}, "'z'", 0},
    {LEVELS, {SIZE, .ordinal = EMPTY, .n_ordinal = 1}, "an empty value", 0},
    {LEVELS, {SIZE, .ordinal = BY_NUMBER, .n_ordinal = 1}, NULL, 2},
    {LEVELS, {SIZE, .target = "y", .ordinal = TARGET, .n_ordinal = 1}, "the value '3'", 0},
    {"a,y\n1,u\n2,\n", {SIZE, .target = "y", .open_target = 1}, "the cell of the target is empty", 0},
    {LEVELS, {SIZE, .id = "t", .weights = "t"}, "cannot be used", 0},
    {LEVELS, {SIZE, .weights = "a,y"}, "cannot be used", 0},
    {LEVELS, {SIZE, .id = "a,t"}, "not both", 0},
    {LEVELS, {SIZE, .target = "y", .id = "y"}, "'y'", 0},
    {LEVELS, {SIZE, .features = "3-1"}, "no column 3-1", 0},
    {LEVELS, {SIZE, .features = "0"}, "no column 0", 0},
    {LEVELS, {SIZE, .features = "-1"}, "'-1'", 0},
    {LEVELS, {SIZE, .features = "1-"}, "'1-'", 0},
    {LEVELS, {SIZE, .features = "1-2-3"}, "'1-2-3'", 0},
    {LEVELS, {SIZE, .target = "1-2"}, "'1-2'", 0},
    {LEVELS, {SIZE, .drop = "1-3"}, "", 0},
    {LEVELS, {SIZE, .target = "y", .season = "a"}, "'a'", 0},
    {LEVELS, {SIZE, .header = (stonet_header)9}, "header", 0},
    {"a,w,y\n1,-1,3\n2,1,4\n", {SIZE, .weights = "w"}, "line 2", 0},
    {"a,w,y\n1,NA,3\n2,1,4\n", {SIZE, .weights = "w"}, "line 2", 0},
    {"a,w,y\n1,1e39,3\n2,1,4\n", {SIZE, .weights = "w"}, "line 2", 0},
    {"a,w,y\n1,7,3\n2,1,4\n", {SIZE, .weights = "w", .na = "7"}, "line 2", 0},
    {"a,w,y\n1,1,\n2,1,4\n3,2,5\n", {SIZE, .target = "y", .weights = "w", .drop_missing_target = 1}, NULL, 2},
    {"a,b\n1,2\n3,4\n", {SIZE, .na = " 3 , x "}, NULL, 2},
    {"\377\376a\0,\0", {SIZE}, "UTF", 0},
    {"\376\377\0a\0,", {SIZE}, "UTF", 0},
};

TEST(texts)
{
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        const text_case *c = &CASES[k];
        const bool wide = c->text[0] == '\xff' || c->text[0] == '\xfe';
        SN_AUTO(stonet_data) *data = NULL;
        const stonet_status status = read_bytes(c->text, wide ? 6 : strlen(c->text), &c->how, NULL, &data);
        if ((status == STONET_OK) != (c->words == NULL) ||
            (status != STONET_OK && strstr(stonet_last_error(), c->words) == NULL))
            fail_msg("case %zu: status %d, %s", k, (int)status,
                     status != STONET_OK ? stonet_last_error() : "read");
        if (status == STONET_OK) assert_int_equal(stonet_data_rows(data), c->rows);
    }
}

/* ---- arrays ---- */

/* An .npy of 2 x 2 numbers 1, 2, 3, 4 of that type; the size. */
static size_t make_npy(const char *type, unsigned char out[256])
{
    const int size = type[2] - '0';
    unsigned char numbers[32] = {0};
    char about[100];
    for (int k = 0; k < 4; k++) {
        const float single = (float)(k + 1);
        const double wide = k + 1;
        unsigned char *to = numbers + k * size;
        if (type[1] == 'f')
            memcpy(to, size == 4 ? (const void *)&single : (const void *)&wide, (size_t)size);
        else
            to[type[0] == '>' ? size - 1 : 0] = (unsigned char)(k + 1);
    }
    snprintf(about, sizeof about, "{'descr': '%s', 'fortran_order': False, 'shape': (2, 2), }", type);
    return npy_of(about, 0, numbers, (size_t)(4 * size), out);
}

TEST(types_of_arrays)
{
    static const char *const TYPES[] = {"<f4", "<f8", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2",
                                        "<u4", "<u8", ">i2", ">i4", ">i8", ">u2", ">u4", ">u8"};
    for (size_t k = 0; k < sizeof TYPES / sizeof *TYPES; k++) {
        unsigned char bytes[256];
        SN_AUTO(stonet_data) *data = NULL;
        if (read_bytes(bytes, make_npy(TYPES[k], bytes), NULL, NULL, &data) != STONET_OK)
            fail_msg("%s: %s", TYPES[k], stonet_last_error());
        const float *x = stonet_data_x(data);
        for (int i = 0; i < 4; i++) assert_true(x[i] == (float)(i + 1));
    }
}

/* ---- archives with long sizes ---- */

static void put(unsigned char *to, uint64_t value, int bytes)
{
    for (int k = 0; k < bytes; k++) to[k] = (unsigned char)(value >> (8 * k));
}

enum {
    LOCAL = 30 + 5,        /* header and name of the member */
    ENTRY = 46 + 5,        /* the directory's */
    EXTRA = 4 + 4 + 4 + 24 /* another field of 4 bytes, then the long sizes */
};

typedef struct archive {
    unsigned char bytes[1024];
    size_t directory, end64, locator, end, size;
} archive;

/* One array x.npy, all sizes and places of which stand in the fields of zip64. */
static archive make_archive(void)
{
    archive a = {0};
    unsigned char npy[256];
    const size_t size = make_npy("<f4", npy);
    const uint32_t crc = (uint32_t)crc32(0, npy, (uInt)size);
    memcpy(a.bytes, "PK\3\4", 4);
    put(a.bytes + 14, crc, 4);
    put(a.bytes + 26, 5, 2);
    memcpy(a.bytes + 30, "x.npy", 5);
    memcpy(a.bytes + LOCAL, npy, size);
    a.directory = LOCAL + size;
    unsigned char *entry = a.bytes + a.directory;
    memcpy(entry, "PK\1\2", 4);
    put(entry + 16, crc, 4);
    put(entry + 20, 0xFFFFFFFF, 4);
    put(entry + 24, 0xFFFFFFFF, 4);
    put(entry + 28, 5, 2);
    put(entry + 30, EXTRA, 2);
    put(entry + 42, 0xFFFFFFFF, 4);
    memcpy(entry + 46, "x.npy", 5);
    unsigned char *extra = entry + ENTRY;
    put(extra, 0x7075, 2);
    put(extra + 2, 4, 2);
    put(extra + 8, 1, 2);
    put(extra + 10, 24, 2);
    put(extra + 12, size, 8);
    put(extra + 20, size, 8);
    put(extra + 28, 0, 8);
    a.end64 = a.directory + ENTRY + EXTRA;
    memcpy(a.bytes + a.end64, "PK\6\6", 4);
    put(a.bytes + a.end64 + 32, 1, 8);
    put(a.bytes + a.end64 + 48, a.directory, 8);
    a.locator = a.end64 + 56;
    memcpy(a.bytes + a.locator, "PK\6\7", 4);
    put(a.bytes + a.locator + 8, a.end64, 8);
    a.end = a.locator + 20;
    memcpy(a.bytes + a.end, "PK\5\6", 4);
    put(a.bytes + a.end + 10, 0xFFFF, 2);
    put(a.bytes + a.end + 16, 0xFFFFFFFF, 4);
    a.size = a.end + 22;
    return a;
}

static void check_archive(const archive *a, const char *words)
{
    SN_AUTO(stonet_data) *data = NULL;
    const stonet_status status = read_bytes(a->bytes, a->size, NULL, NULL, &data);
    if (words != NULL) assert_says(status, STONET_ERROR_FORMAT, words);
    if (words == NULL) assert_int_equal(stonet_data_rows(data), 2);
}

/* Other bytes, so far from the beginning of a part. */
typedef struct change {
    size_t part, from;
    uint64_t value;
    int bytes;
} change;
#define AT(part) offsetof(archive, part)

static const struct {
    change change[4];
    const char *words; /* NULL: it is read */
} ARCHIVES[] = {
    {{{0}}, NULL},
    {{{AT(end), 10, 1, 2}}, NULL}, /* the place alone is long */
    {{{AT(end), 10, 1, 2},
      {AT(directory), 24, 144, 4}, /* as are packed size and place */
      {AT(directory), ENTRY + 20, 0, 8},
      {AT(directory), ENTRY + 12, 144, 8}},
     NULL},
    {{{AT(directory), 42, 0, 4}}, NULL},                                      /* the sizes alone */
    {{{AT(directory), 20, 144, 4}, {AT(directory), ENTRY + 20, 0, 8}}, NULL}, /* the place, behind one size */
    {{{AT(locator), 0, 'Q', 1}}, "its directory is damaged"},
    {{{AT(end64), 0, 'Q', 1}}, "its directory is damaged"},
    {{{AT(locator), 8, UINT64_MAX, 8}}, "its directory is damaged"},
    {{{AT(end64), 32, UINT64_MAX, 8}}, "its directory is damaged"},
    {{{AT(directory), ENTRY + 8, 2, 2}}, "no sizes"},   /* no field with the sizes, */
    {{{AT(directory), ENTRY + 10, 16, 2}}, "no sizes"}, /* or a short one, */
    {{{AT(directory), 30, EXTRA - 8, 2}}, "no sizes"},  /* or one that is cut off */
    {{{AT(directory), ENTRY + 28, UINT64_MAX, 8}}, "outside the file"},
    {{{AT(directory), ENTRY + 20, 1 << 20, 8}}, "outside the file"},
};

TEST(long_archives)
{
    for (size_t k = 0; k < sizeof ARCHIVES / sizeof *ARCHIVES; k++) {
        archive a = make_archive();
        for (const change *c = ARCHIVES[k].change; c < ARCHIVES[k].change + 4; c++)
            put(a.bytes + *(const size_t *)((const char *)&a + c->part) + c->from, c->value, c->bytes);
        check_archive(&a, ARCHIVES[k].words);
    }
    archive a = make_archive();
    memcpy(a.bytes, "PK\3\4", 4);
    memmove(a.bytes + 4, a.bytes + a.end, 22); /* no room for a locator */
    a.size = 26;
    check_archive(&a, "its directory is damaged");
}

TEST(unicode)
{
    static const char valid[] =
        "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf";
    /* Among them are forms that are too long, a half of a pair and what is beyond the last. */
    static const char *const wrong[] = {
        "us\x80",       "us\xc1\x80",       "us\xc3",           "us\xc3z",          "\xe0\x9f\xbf",
        "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf0\x9f\x98"};
    assert_true(sn_utf8_valid(valid, strlen(valid)));
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        if (sn_utf8_valid(wrong[k], strlen(wrong[k]))) fail_msg("taken: %zu", k);
}

RUN_TESTS(NULL, NULL)
