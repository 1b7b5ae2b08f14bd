#include "torture/crashes.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every file is the old one or the right one; the latter after exit status 0, or at the end of the program,
   when it has been said that all is done. */
static void judge_crash(const torture_command *command, const char *fault, const outcome *o,
                        const outcome *right, crash_tally *tally)
{
    const char *complaint = NULL;
    const bool done = o->status == 0 || strncmp(fault, "end", 3) == 0;
    if (o->status != 0 && o->status != 128 + SIGKILL) complaint = "it ended in another way";
    for (int k = 0; k < MAX_OUTPUTS && command->output[k] != NULL; k++) {
        bool renewed = is_right(o, right, k), old = is_old(o, k);
        tally->old += old;
        tally->renewed += renewed;
        if (!old && !renewed && !is_also(command, o, k))
            complaint = "a file is neither the old nor the new one";
        if (done && !renewed) complaint = "it was done, and the new file is not there";
    }
    if (complaint != NULL) {
        tally->wrong++;
        complain(command, fault, o, complaint);
    }
    if (has_temporary()) {
        tally->spare++;
        (void)!system("rm -rf .tmp* *.tmp*");
    }
}

static void crash(const torture_command *command, const char *fault, const outcome *right, crash_tally *tally)
{
    outcome o = run(command, fault, 0);
    if (strstr(fault, "power") != NULL)
        tally->powerless++;
    else
        tally->killed++;
    judge_crash(command, fault, &o, right, tally);
    outcome_free(&o);
}

/* The kinds of calls between which the files that are written change. */
static bool is_of_files(const char *kind)
{
    return strcmp(kind, "write") == 0 || strcmp(kind, "sync") == 0 || strcmp(kind, "rename") == 0 ||
           strcmp(kind, "end") == 0;
}

void crash_at_calls(const torture_command *command, long sample, long patterns, crash_tally *tally)
{
    if (command->output[0] == NULL) return;
    counts made;
    char fault[64];
    outcome right = undisturbed(command, &made, false);
    long points = 0;
    for (int k = 0; k < COUNTED; k++) points += is_of_files(made.kind[k]) ? made.calls[k] : 0;
    for (int k = 0; sample == 0 && k < COUNTED; k++)
        for (long n = 1; is_of_files(made.kind[k]) && n <= made.calls[k]; n++) {
            snprintf(fault, sizeof fault, "%s %ld kill", made.kind[k], n);
            crash(command, fault, &right, tally);
            for (long seed = 0; seed < patterns; seed++) {
                snprintf(fault, sizeof fault, "%s %ld power %ld", made.kind[k], n, seed);
                crash(command, fault, &right, tally);
            }
        }
    for (long i = 0; i < sample; i++) {
        long place = draw(points);
        int k = 0;
        while (!is_of_files(made.kind[k]) || place >= made.calls[k])
            place -= is_of_files(made.kind[k]) ? made.calls[k] : 0, k++;
        if (i % 3 == 0)
            snprintf(fault, sizeof fault, "%s %ld kill", made.kind[k], place + 1);
        else
            snprintf(fault, sizeof fault, "%s %ld power %ld", made.kind[k], place + 1, draw(1000));
        crash(command, fault, &right, tally);
    }
    outcome_free(&right);
}

void kill_at_random(const torture_command *command, long count, crash_tally *tally)
{
    if (command->output[0] == NULL || count == 0) return;
    counts made;
    outcome right = undisturbed(command, &made, false);
    for (long i = 0; i < count; i++) {
        outcome o = run(command, "end 2 once", 1.05 * right.seconds * (1e-9 + (double)draw(10000) / 10000));
        tally->killed++;
        judge_crash(command, "killed at some moment", &o, &right, tally);
        outcome_free(&o);
    }
    outcome_free(&right);
}
