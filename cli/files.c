#include "cli/files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/room.h"
#include "cli/say.h"

/* What makes two names one file: for a file that is there its own number, else its name and that of its
   folder. */
typedef struct identity {
    bool known, exists;
    dev_t device;
    ino_t number;
    const char *name;
} identity;

typedef struct named_file {
    const char *option; /* without the dashes; NULL for an operand */
    const char *path;
    bool written;
    identity is;
} named_file;

static identity identify(const char *path)
{
    struct stat about;
    if (stat(path, &about) == 0)
        return (identity){
            .known = S_ISREG(about.st_mode), .exists = true, .device = about.st_dev, .number = about.st_ino};
    const char *slash = strrchr(path, '/');
    BLOCK char *folder = slash == NULL ? copy_of(".") : text_of("%.*s", (int)(slash - path) + 1, path);
    identity found = {.name = slash == NULL ? path : slash + 1};
    if (stat(folder, &about) == 0) {
        found.known = true;
        found.device = about.st_dev;
        found.number = about.st_ino;
    }
    return found;
}

static bool is_same(const identity *a, const identity *b)
{
    return a->known && b->known && a->exists == b->exists && a->device == b->device &&
           a->number == b->number && (a->exists || strcmp(a->name, b->name) == 0);
}

/* One more file, which must be apart from those before. */
static bool add_file(const cli_command *command, named_file *file, size_t *count, const cli_option *option,
                     const char *path)
{
    named_file *added = &file[*count];
    *added = (named_file){.option = option != NULL ? option->name : NULL,
                          .path = path,
                          .written = option != NULL && option->writes,
                          .is = identify(path)};
    for (size_t i = 0; i < *count; i++) {
        const named_file *in = file[i].written ? added : &file[i], *out = file[i].written ? &file[i] : added;
        if (!out->written || !is_same(&in->is, &out->is)) continue;
        if (in->written)
            say_usage(command, "--%s and --%s would write the same file, %s", in->option, out->option,
                      out->path);
        else
            say_usage(command, "--%s would write over %s, which is read%s%s: choose another name",
                      out->option, in->path, in->option != NULL ? " by --" : "",
                      in->option != NULL ? in->option : "");
        return false;
    }
    ++*count;
    return true;
}

static bool names_files(const cli_option *option)
{
    return option->argument != NULL && strncmp(option->argument, "FILE", 4) == 0;
}

static const void *field(const cli_option *option, const void *values)
{
    return (const char *)values + option->offset;
}

static bool add_option(const cli_command *command, named_file *file, size_t *count, const cli_option *option,
                       const void *values)
{
    if (!names_files(option)) return true;
    if (option->kind == OPTION_TEXT) {
        const char *const *path = field(option, values);
        return *path == NULL || add_file(command, file, count, option, *path);
    }
    const text_list *list = field(option, values);
    for (size_t i = 0; i < list->count; i++)
        if (!add_file(command, file, count, option, list->text[i])) return false;
    return true;
}

bool files_are_apart(const cli_command *command, const void *values, const cli_arguments *given)
{
    size_t most = (size_t)given->n_operands, count = 0;
    for (size_t k = 0; k < command->n_options; k++) {
        const cli_option *option = &command->options[k];
        if (names_files(option))
            most += option->kind == OPTION_TEXTS ? ((const text_list *)field(option, values))->count : 1;
    }
    BLOCK named_file *file = room_for((int64_t)most, sizeof *file);
    bool apart = true;
    bool are_files = command->operands[0] != '['; /* "[NAME]" is no file */
    for (int i = 0; apart && are_files && i < given->n_operands; i++)
        apart = add_file(command, file, &count, NULL, given->operand[i]);
    for (size_t k = 0; apart && k < command->n_options; k++)
        apart = add_option(command, file, &count, &command->options[k], values);
    return apart;
}
