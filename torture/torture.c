/*
 * Lets everything go wrong that can, in each of the commands of commands.c.
 *
 * torture PROGRAM [--sample N | --paths] [--seed S] [--only WORD] [--part K/M] [--crashes | --kills N]
 *
 * PROGRAM is stonet-faults (see faults.c). Every allocation, open, read, write, sync, rename and mapping
 * fails, once and for good. Whatever happens,
 *
 *   - the program ends by itself, with exit status 0, 1 or 2 and, unless 0, with a sentence;
 *   - with 0, all it printed and wrote is what it prints and writes undisturbed;
 *   - else, every file it was to write is what it was before, or whole and right;
 *   - no temporary file is left.
 *
 * --crashes: each command that writes is killed, and the machine loses its power, at every call that has to
 * do with files; --kills: they are killed N times in all, at random moments. Every file is then the old one
 * or the new one. --sample tries N faults or crashes drawn at random instead of all, --paths those calls that
 * no call before them, in any command, was reached by the same functions as, once and for good by turns: a
 * loop, or a command that does what another one did, is tried once. --only takes the commands that have the
 * word, --part the K-th of M parts, to be run side by side.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "torture/crashes.h"
#include "torture/runs.h"

enum { PATTERNS = 6 }; /* of what reaches the disk when the power is lost */

static long tried, refused, unharmed, wrong;

static void try_fault(const torture_command *command, const char *fault, const outcome *right)
{
    outcome o = run(command, fault, 0);
    const char *complaint = judge(command, fault, &o, right);
    tried++;
    if (complaint != NULL) {
        wrong++;
        complain(command, fault, &o, complaint);
    } else if (o.status == 0) {
        unharmed++;
    } else {
        refused++;
    }
    outcome_free(&o);
}

static void try_all(const torture_command *command)
{
    counts made;
    outcome right = undisturbed(command, &made, true);
    for (int k = 0; k < FAILING; k++)
        for (long n = 1; n <= made.calls[k]; n++)
            for (int way = 0; way < 2; way++) {
                char fault[64];
                snprintf(fault, sizeof fault, "%s %ld %s", made.kind[k], n, way == 0 ? "once" : "always");
                try_fault(command, fault, &right);
            }
    outcome_free(&right);
}

/* How many faults of the sample fall on command `place` of `count`: six each, as far as it goes, on a part of
   the commands drawn at random, since each costs an undisturbed run first. */
static long share_of(long sample, long place, long count)
{
    enum { EACH = 6 };
    if (sample >= EACH * count) return sample / count + (place < sample % count);
    return draw(count) < sample / EACH ? EACH : 0;
}

/* Half of the draws are allocations, half are files, where a command has both. */
static void try_some(const torture_command *command, long sample)
{
    if (sample == 0) return;
    counts made;
    outcome right = undisturbed(command, &made, false);
    for (long i = 0; i < sample; i++) {
        int kind = i % 2 == 0 ? 0 : 1 + (int)draw(FAILING - 1);
        if (made.calls[kind] == 0) kind = 0;
        if (made.calls[kind] == 0) continue;
        char fault[64];
        snprintf(fault, sizeof fault, "%s %ld %s", made.kind[kind], 1 + draw(made.calls[kind]),
                 draw(2) == 0 ? "once" : "always");
        try_fault(command, fault, &right);
    }
    outcome_free(&right);
}

/* ---- calls by the path to them ---- */

static uint64_t *tried_paths;
static size_t n_tried, room_for;

static bool is_new_path(uint64_t path)
{
    for (size_t i = 0; i < n_tried; i++)
        if (tried_paths[i] == path) return false;
    if (n_tried == room_for) {
        room_for = room_for > 0 ? 2 * room_for : 1024;
        tried_paths = realloc(tried_paths, room_for * sizeof *tried_paths);
        if (tried_paths == NULL) give_up("memory ran out");
    }
    tried_paths[n_tried++] = path;
    return true;
}

static void try_paths(const torture_command *command)
{
    counts made;
    outcome right = undisturbed(command, &made, false);
    char kind[16], fault[64];
    long call;
    uint64_t path;
    FILE *file = fopen(".paths", "r");
    if (file == NULL) give_up("the paths of '%s' are not there", command->command);
    while (fscanf(file, "%15s %ld %" SCNx64, kind, &call, &path) == 3) {
        if (!is_new_path(path)) continue;
        snprintf(fault, sizeof fault, "%s %ld %s", kind, call, n_tried % 2 == 1 ? "once" : "always");
        try_fault(command, fault, &right);
    }
    fclose(file);
    outcome_free(&right);
}

typedef struct wishes {
    long sample, kills;
    bool crashes, paths;
    const char *only;
} wishes;

static long number_after(int argc, char **argv, const char *option, long otherwise)
{
    for (int i = 2; i + 1 < argc; i++)
        if (strcmp(argv[i], option) == 0) return strtol(argv[i + 1], NULL, 10);
    return otherwise;
}

static const char *text_after(int argc, char **argv, const char *option)
{
    for (int i = 2; i + 1 < argc; i++)
        if (strcmp(argv[i], option) == 0) return argv[i + 1];
    return NULL;
}

/* The share of command `place` in the work that the arguments ask for. */
static void work_on(const torture_command *command, long place, long chosen, const wishes *asked,
                    crash_tally *crashes)
{
    long share = asked->sample > 0 ? share_of(asked->sample, place, chosen) : 0;
    if (asked->kills > 0)
        kill_at_random(command, asked->kills / chosen + (place < asked->kills % chosen), crashes);
    else if (asked->crashes && (share > 0 || asked->sample == 0))
        crash_at_calls(command, share, PATTERNS, crashes);
    else if (!asked->crashes && asked->paths)
        try_paths(command);
    else if (!asked->crashes && asked->sample > 0)
        try_some(command, share);
    else if (!asked->crashes)
        try_all(command);
}

/* Crashes are of interest where files are written. */
static bool is_chosen(const torture_command *command, const wishes *asked)
{
    if ((asked->crashes || asked->kills > 0) && command->output[0] == NULL) return false;
    return asked->only == NULL || strstr(command->command, asked->only) != NULL;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        give_up("torture PROGRAM [--sample N | --paths] [--seed S] [--only WORD] [--part K/M] [--crashes | "
                "--kills N]");
    wishes asked = {.sample = number_after(argc, argv, "--sample", 0),
                    .kills = number_after(argc, argv, "--kills", 0),
                    .only = text_after(argc, argv, "--only")};
    for (int i = 2; i < argc; i++) {
        asked.crashes |= strcmp(argv[i], "--crashes") == 0;
        asked.paths |= strcmp(argv[i], "--paths") == 0;
    }
    const char *part = text_after(argc, argv, "--part");
    long mine = 0, parts = 1, chosen = 0, place = 0;
    if (part != NULL && (sscanf(part, "%ld/%ld", &mine, &parts) != 2 || parts < 1))
        give_up("--part takes K/M");
    draw_from((unsigned long)number_after(argc, argv, "--seed", 1));
    runs_begin(argv[1]);
    if (asked.paths) setenv("STONET_FAULT_PATHS", ".paths", 1);
    size_t count = 0;
    torture_command *commands = torture_commands(&count);
    crash_tally crashes = {0};
    for (size_t i = 0; i < count; i++) chosen += is_chosen(&commands[i], &asked);
    for (size_t i = 0; i < count; i++) {
        if (!is_chosen(&commands[i], &asked)) continue;
        if (place % parts == mine % parts) work_on(&commands[i], place, chosen, &asked, &crashes);
        place++;
    }
    free(commands);
    free(tried_paths);
    runs_end();
    if (asked.crashes || asked.kills > 0)
        printf("%ld times killed, %ld times without power, in %ld commands: %ld old files, %ld new ones, %ld "
               "wrong; "
               "%ld times a whole file under a temporary name\n",
               crashes.killed, crashes.powerless, place, crashes.old, crashes.renewed, crashes.wrong,
               crashes.spare);
    else
        printf("%ld faults in %ld commands: %ld refused, %ld without harm, %ld wrong\n", tried, place,
               refused, unharmed, wrong);
    return wrong + crashes.wrong == 0 ? 0 : 1;
}
