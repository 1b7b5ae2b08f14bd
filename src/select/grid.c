#include "select/grid.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "math/noise.h"

enum { MAX_AXES = 32, MAX_VALUES = 1000, MAX_POINTS = 100000 };

/* One setting and the values it takes, or several settings that change together: the names and the parts of a
   value follow each other in the text, each with its zero. */
typedef struct axis {
    char *text; /* owns names and values, cut apart by zeros; begins with the first name */
    int64_t names;
    const char *value[MAX_VALUES];
    int64_t count;
} axis;

static const char *next_part(const char *part)
{
    return part + strlen(part) + 1;
}

typedef struct axis_list {
    axis *axis;
    int64_t count;
} axis_list;

static void axes_free(axis_list *axes)
{
    for (int64_t a = 0; axes->axis != NULL && a < axes->count; a++) sn_free(axes->axis[a].text);
    sn_free(axes->axis);
}

/* Cuts a text apart at its slashes; gives the number of parts, 0 when one of them is empty. */
static int64_t cut_parts(char *text)
{
    int64_t parts = 1;
    for (char *slash = strchr(text, '/'); slash != NULL; slash = strchr(text, '/')) {
        *slash = '\0';
        if (slash == text) return 0;
        text = slash + 1;
        parts++;
    }
    return *text != '\0' ? parts : 0;
}

static stonet_status add_value(const char *entry, char *value, axis *out)
{
    if (*value == '\0')
        return sn_fail(STONET_ERROR_ARGUMENT, "the grid entry '%s' has an empty value", entry);
    if (out->count == MAX_VALUES)
        return sn_fail(STONET_ERROR_ARGUMENT, "the grid entry of '%s' has more than %d values", out->text,
                       MAX_VALUES);
    if (out->names > 1 && cut_parts(value) != out->names)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "every value of the grid entry '%s' needs %lld parts, one for each of its settings",
                       entry, (long long)out->names);
    out->value[out->count++] = value;
    return STONET_OK;
}

/* Values are separated by commas, or by semicolons where a value is a list itself; the settings that one
   entry changes together, and their values, by slashes. */
static stonet_status parse_axis(const char *entry, axis *out)
{
    const char *equals = strchr(entry, '=');
    if (equals == NULL || equals == entry || equals[1] == '\0')
        return sn_fail(STONET_ERROR_ARGUMENT, "a grid entry looks like NAME=a,b,c and '%s' does not", entry);
    if ((out->text = sn_strdup(entry)) == NULL) return STONET_ERROR_MEMORY;
    char *at = out->text + (equals - entry);
    *at++ = '\0';
    out->names = cut_parts(out->text);
    if (out->names == 0)
        return sn_fail(STONET_ERROR_ARGUMENT, "the grid entry '%s' has an empty name", entry);
    char separator = strchr(at, ';') != NULL ? ';' : ',';
    while (at != NULL) {
        char *next = strchr(at, separator);
        if (next != NULL) *next++ = '\0';
        SN_TRY(add_value(entry, at, out));
        at = next;
    }
    return STONET_OK;
}

static int64_t times_named(const axis *axes, int64_t count, const char *name)
{
    int64_t times = 0;
    for (int64_t a = 0; a < count; a++) {
        const char *one = axes[a].text;
        for (int64_t k = 0; k < axes[a].names; k++, one = next_part(one)) times += strcmp(one, name) == 0;
    }
    return times;
}

static stonet_status parse_axes(const char *const *entries, int64_t count, axis *axes)
{
    for (int64_t a = 0; a < count; a++) {
        SN_TRY(parse_axis(entries[a], &axes[a]));
        const char *name = axes[a].text;
        for (int64_t k = 0; k < axes[a].names; k++, name = next_part(name))
            if (times_named(axes, a + 1, name) > 1)
                return sn_fail(STONET_ERROR_ARGUMENT, "the grid names '%s' twice", name);
    }
    return STONET_OK;
}

/* Number of points, at most MAX_POINTS + 1. */
static int64_t grid_size(const axis *axes, int64_t count)
{
    int64_t size = 1;
    for (int64_t a = 0; a < count; a++) {
        size *= axes[a].count;
        if (size > MAX_POINTS) return MAX_POINTS + 1;
    }
    return size;
}

static bool among_earlier(const int64_t *chosen, int64_t count, int64_t axes)
{
    for (int64_t i = 0; i < count; i++)
        if (memcmp(chosen + i * axes, chosen + count * axes, (size_t)axes * sizeof *chosen) == 0) return true;
    return false;
}

/* Which value each axis takes at each point: chosen is points x axes. */
static void choose_points(const axis *axes, int64_t n_axes, bool all, int64_t points, uint64_t seed,
                          int64_t *chosen)
{
    sn_random random = sn_random_from(seed, SN_STREAM_SEARCH, 0);
    for (int64_t i = 0; i < points; i++) {
        int64_t *point = chosen + i * n_axes, rest = i;
        do {
            for (int64_t a = n_axes - 1; a >= 0; a--) {
                point[a] =
                    all ? rest % axes[a].count : (int64_t)sn_random_below(&random, (uint64_t)axes[a].count);
                rest /= axes[a].count;
            }
        } while (!all && among_earlier(chosen, i, n_axes));
    }
}

/* Sets what one value of an axis says, of the learner itself or of everything else. */
static stonet_status set_value(const axis *from, int64_t value, bool learner, stonet_spec *spec)
{
    const char *name = from->text, *part = from->value[value];
    for (int64_t k = 0; k < from->names; k++) {
        if ((strcmp(name, "learner") == 0) == learner) SN_TRY(stonet_spec_set(spec, name, part));
        name = next_part(name);
        part = next_part(part);
    }
    return STONET_OK;
}

/* The learner goes first: choosing one resets its settings. */
static stonet_status set_point(const axis *axes, int64_t n_axes, const int64_t *point, stonet_spec *spec)
{
    for (int64_t a = 0; a < n_axes; a++) SN_TRY(set_value(&axes[a], point[a], true, spec));
    for (int64_t a = 0; a < n_axes; a++) SN_TRY(set_value(&axes[a], point[a], false, spec));
    return STONET_OK;
}

static stonet_status fill_points(const stonet_spec *base, const axis *axes, int64_t n_axes,
                                 const int64_t *chosen, sn_points *out)
{
    for (int64_t i = 0; i < out->count; i++) {
        SN_TRY(stonet_spec_copy(base, &out->spec[i]));
        SN_TRY(set_point(axes, n_axes, chosen + i * n_axes, out->spec[i]));
    }
    return STONET_OK;
}

stonet_status sn_points_create(const stonet_spec *base, const char *const *entries, int64_t n_entries,
                               int64_t trials, uint64_t seed, sn_points *out)
{
    *out = (sn_points){0};
    if (n_entries < 0 || n_entries > MAX_AXES || trials < 0)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "a grid has at most %d settings and a search at least one trial", MAX_AXES);
    SN_FREED_BY(axes_free) axis_list axes = {.count = n_entries};
    SN_FREED_BY(sn_points_free) sn_points made = {0};
    SN_TRY(SN_NEW(axes.axis, n_entries));
    SN_TRY(parse_axes(entries, n_entries, axes.axis));
    const int64_t size = grid_size(axes.axis, n_entries);
    const bool all = trials == 0 || trials >= size;
    const int64_t count = all ? size : trials;
    if (count > MAX_POINTS)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "the grid has more than %d points: let fewer be drawn at random (trials)", MAX_POINTS);
    SN_ZEROS(count * n_entries, int64_t, chosen);
    choose_points(axes.axis, n_entries, all, count, seed, chosen);
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
    SN_TRY(SN_NEW(made.spec, count));
    made.count = count;
    SN_TRY(fill_points(base, axes.axis, n_entries, chosen, &made));
    *out = made;
    made = (sn_points){0};
    return STONET_OK;
}

void sn_points_free(sn_points *points)
{
    for (int64_t i = 0; points->spec != NULL && i < points->count; i++) stonet_spec_free(points->spec[i]);
    sn_free(points->spec);
    *points = (sn_points){0};
}

bool sn_grid_entry_is_for(const char *entry, const stonet_spec *spec, const char **own)
{
    size_t name_length = strcspn(entry, "=");
    const char *colon = memchr(entry, ':', name_length);
    *own = entry;
    if (colon != NULL) {
        size_t length = (size_t)(colon - entry);
        *own = colon + 1;
        return strlen(spec->method->name) == length && strncmp(entry, spec->method->name, length) == 0;
    }
    for (size_t at = 0; at < name_length;) {
        char name[128];
        size_t length = strcspn(entry + at, "/=");
        snprintf(name, sizeof name, "%.*s", (int)(length < 127 ? length : 127), entry + at);
        if (!sn_spec_has(spec, name)) return false;
        at += length + 1;
    }
    return true;
}

stonet_status sn_points_to_tune(const stonet_spec *base, const stonet_tune_options *tuning, unsigned tasks,
                                uint64_t seed, sn_points *out)
{
    const char *own[SN_MAX_GRID_ENTRIES];
    int64_t count = 0;
    if (tuning->grid != NULL)
        return sn_points_create(base, tuning->grid, tuning->n_grid, tuning->trials, seed, out);
    for (int e = 0; e < SN_MAX_GRID_ENTRIES && base->method->grid[e].text != NULL; e++)
        if ((base->method->grid[e].tasks & tasks) != 0) own[count++] = base->method->grid[e].text;
    return sn_points_create(base, own, count, tuning->trials, seed, out);
}
