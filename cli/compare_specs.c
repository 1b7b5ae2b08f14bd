#include "cli/compare_specs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"

void specs_free(spec_list *list)
{
    for (int64_t i = 0; i < list->count; i++) stonet_spec_free(list->spec[i]);
    free(list->spec);
    free(list->open);
    free(list->set_used);
    *list = (spec_list){0};
}

static bool list_has(const json_t *settings, const char *name)
{
    size_t i;
    json_t *setting;
    json_array_foreach(settings, i, setting) if (strcmp(json_text(setting, "name"), name) == 0) return true;
    return false;
}

static bool method_has(const json_t *all, const char *method, const char *name)
{
    if (strncmp(name, "learner.", strlen("learner.")) == 0) return true;
    if (list_has(json_object_get(all, "common"), name)) return true;
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(all, "methods"), i,
                       entry) if (strcmp(json_text(entry, "name"), method) ==
                                  0) return list_has(json_object_get(entry, "settings"), name);
    return false;
}

/* --set entry number `index` on one spec, if it is meant for it. */
static int apply_setting(const cli_command *command, const compare_wishes *wishes, const json_t *all,
                         size_t index, const char *method, stonet_spec *spec, spec_list *list)
{
    BLOCK char *name = NULL;
    const char *value = NULL;
    TRY(split_setting(command, "set", wishes->set.text[index], &name, &value));
    char *colon = strchr(name, ':');
    const char *bare = colon != NULL ? colon + 1 : name;
    if (colon != NULL) *colon = '\0';
    if (!(colon != NULL ? strcmp(name, method) == 0 : method_has(all, method, bare))) return EXIT_DONE;
    list->set_used[index] = true;
    return outcome(command, stonet_spec_set(spec, bare, value));
}

/* Adds one method with one dimension to the list; dim "auto": chosen anew in each training part. specs_free
   frees the spec, also after a failure. */
static int add_spec(const cli_command *command, const compare_wishes *wishes, const json_t *all,
                    const char *method, const char *dim, spec_list *list)
{
    // NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant
    list->spec = more_room(list->spec, list->count + 1, sizeof *list->spec);
    list->open = more_room(list->open, list->count + 1, sizeof *list->open);
    const bool is_open = strcmp(dim, "auto") == 0;
    stonet_spec *spec = NULL;
    spec_options plain = {.method = method, .learner = wishes->learner};
    TRY(make_spec(command, &plain, is_open ? NULL : dim, &spec));
    list->any_open = list->any_open || is_open;
    list->open[list->count] = is_open;
    list->spec[list->count++] = spec;
    for (size_t i = 0; i < wishes->set.count; i++)
        TRY(apply_setting(command, wishes, all, i, method, spec, list));
    return EXIT_DONE;
}

/* One spec for each dimension; the method 'none' keeps all columns. */
static int add_method(const cli_command *command, const compare_wishes *wishes, const json_t *all,
                      const char *method, int64_t columns, spec_list *list)
{
    if (strcmp(method, "none") == 0) {
        char dim[24];
        snprintf(dim, sizeof dim, "%" PRId64, columns);
        return add_spec(command, wishes, all, method, dim, list);
    }
    BLOCK char *dims = copy_of(wishes->dims);
    char *rest = NULL;
    for (char *dim = strtok_r(dims, ",", &rest); dim != NULL; dim = strtok_r(NULL, ",", &rest))
        TRY(add_spec(command, wishes, all, method, dim, list));
    return EXIT_DONE;
}

int specs_make(const cli_command *command, const compare_wishes *wishes, int64_t columns, spec_list *list)
{
    AUTO(json_t) *all = take_json(stonet_methods_json());
    BLOCK char *methods = strcmp(wishes->methods, "all") == 0 ? names_of(json_object_get(all, "methods"), ",")
                                                              : copy_of(wishes->methods);
    list->set_used = room_for((int64_t)wishes->set.count, sizeof *list->set_used);
    char *rest = NULL;
    for (char *method = strtok_r(methods, ",", &rest); method != NULL; method = strtok_r(NULL, ",", &rest))
        TRY(add_method(command, wishes, all, method, columns, list));
    for (size_t i = 0; i < wishes->set.count; i++)
        if (!list->set_used[i])
            return say_usage(command, "none of these methods takes the setting '%s'", wishes->set.text[i]);
    if (list->count == 0)
        return say_usage(command, "there is nothing to compare: name methods and dimensions");
    return EXIT_DONE;
}
