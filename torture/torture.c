/*
 * Lets every call of the program that can fail, fail: each allocation, open, read, write, sync, rename and
 * mapping of each command below, once and for good. Whatever happens,
 *
 *   - the program ends by itself, with exit status 0, 1 or 2 and, unless 0, with a sentence;
 *   - with 0, all it printed and wrote is what it prints and writes undisturbed;
 *   - else, every file it was to write is what it was before, or whole and right;
 *   - no temporary file is left.
 *
 * torture PROGRAM [--sample N] [--seed S] [--only WORD] [--part K/M]
 *
 * PROGRAM is stonet-faults (see faults.c). --sample tries N faults drawn at random instead of all, --only the
 * commands that have the word, --part the K-th of M parts, to be run side by side.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "torture/commands.h"

enum { MAX_WORDS = 64, MAX_COUNTS = 7, MAX_BYTES = 1 << 24 };

static char folder[] = "/tmp/stonet-torture-XXXXXX";
static char program[PATH_MAX];

static void give_up(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void give_up(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    exit(2);
}

/* ---- files ---- */

typedef struct content {
    char *bytes; /* NULL: there is no such file */
    size_t size;
} content;

static content read_file(const char *path)
{
    content got = {0};
    FILE *file = fopen(path, "rb");
    if (file == NULL) return got;
    got.bytes = malloc(MAX_BYTES);
    if (got.bytes == NULL) give_up("memory ran out");
    got.size = fread(got.bytes, 1, MAX_BYTES - 1, file);
    got.bytes[got.size] = '\0';
    fclose(file);
    got.bytes = realloc(got.bytes, got.size + 1);
    return got;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) give_up("cannot write %s", path);
}

static bool is_same(const content *a, const content *b)
{
    return (a->bytes == NULL) == (b->bytes == NULL) && a->size == b->size &&
           (a->bytes == NULL || memcmp(a->bytes, b->bytes, a->size) == 0);
}

/* Takes out the lines with seconds, which are never the same. */
static void drop_times(content *text)
{
    if (text->bytes == NULL) return;
    char *to = text->bytes;
    for (char *line = text->bytes; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        length += line[length] == '\n';
        char held = line[length];
        line[length] = '\0';
        bool timed = strstr(line, "\"seconds\"") != NULL;
        line[length] = held;
        if (!timed) {
            memmove(to, line, length);
            to += length;
        }
        line += length;
    }
    text->size = (size_t)(to - text->bytes);
    *to = '\0';
}

static bool has_temporary(void)
{
    DIR *here = opendir(".");
    bool found = false;
    for (struct dirent *entry = here != NULL ? readdir(here) : NULL; entry != NULL; entry = readdir(here))
        found |= strstr(entry->d_name, ".tmp") != NULL;
    if (here != NULL) closedir(here);
    return found;
}

/* ---- one run ---- */

/* What a command left behind. */
typedef struct outcome {
    int status; /* exit status, or 128 + signal */
    content out, err, file[MAX_OUTPUTS];
} outcome;

static void outcome_free(outcome *o)
{
    free(o->out.bytes);
    free(o->err.bytes);
    for (int k = 0; k < MAX_OUTPUTS; k++) free(o->file[k].bytes);
    *o = (outcome){0};
}

/* In the child: the program takes the place of this one. */
static void become(const char *command, const char *fault)
{
    char words[4096], *argument[MAX_WORDS];
    int count = 0;
    snprintf(words, sizeof words, "%s", command);
    for (char *word = strtok(words, " "); word != NULL && count + 1 < MAX_WORDS; word = strtok(NULL, " "))
        argument[count++] = word;
    argument[count] = NULL;
    struct rlimit limit = {.rlim_cur = 120, .rlim_max = 120}; /* seconds of work: a loop without end */
    setrlimit(RLIMIT_CPU, &limit);
    int null = open("/dev/null", O_RDONLY), out = open(".out", O_WRONLY | O_CREAT | O_TRUNC, 0600),
        err = open(".err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(99);
    if (fault != NULL)
        setenv("STONET_FAULT", fault, 1);
    else
        setenv("STONET_FAULT_COUNTS", ".counts", 1);
    execv(program, argument);
    _exit(99);
}

static outcome run(const torture_command *command, const char *fault)
{
    outcome o = {0};
    for (int k = 0; k < MAX_OUTPUTS && command->output[k] != NULL; k++)
        write_file(command->output[k], "old\n");
    pid_t child = fork();
    if (child < 0) give_up("cannot start a process: %s", strerror(errno));
    if (child == 0) become(command->command, fault);
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) give_up("lost a process: %s", strerror(errno));
    o.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (o.status == 99) give_up("cannot run %s", program);
    o.out = read_file(".out");
    o.err = read_file(".err");
    for (int k = 0; k < MAX_OUTPUTS && command->output[k] != NULL; k++)
        o.file[k] = read_file(command->output[k]);
    drop_times(&o.out);
    return o;
}

/* What is wrong with what a fault led to; NULL: nothing. */
static const char *judge(const torture_command *command, const char *fault, const outcome *o,
                         const outcome *right)
{
    const content old = {.bytes = (char *)"old\n", .size = 4};
    if (has_temporary()) return "a temporary file is left";
    if (o->status > 2) return o->status > 128 ? "it was killed by a signal" : "an exit status of its own";
    if (o->status != 0 && strncmp(o->err.bytes, "stonet", 6) != 0 && strstr(o->err.bytes, "\nstonet") == NULL)
        return "it failed without a sentence";
    if (strstr(o->err.bytes, ": \n") != NULL) return "the sentence says nothing";
    if (o->status != 0 && strncmp(fault, "alloc", 5) == 0 && strstr(o->err.bytes, "memory") == NULL)
        return "the sentence does not speak of memory";
    if (o->status == 0 && !is_same(&o->out, &right->out))
        return "exit status 0, and it printed something else";
    for (int k = 0; k < MAX_OUTPUTS && command->output[k] != NULL; k++) {
        bool whole = is_same(&o->file[k], &right->file[k]);
        if (o->status == 0 && !whole) return "exit status 0, and it wrote something else";
        if (!whole && !is_same(&o->file[k], &old)) return "an old file is neither kept nor replaced";
    }
    return NULL;
}

static long tried, refused, unharmed, wrong;

static void try_fault(const torture_command *command, const char *fault, const outcome *right)
{
    outcome o = run(command, fault);
    const char *complaint = judge(command, fault, &o, right);
    tried++;
    if (complaint != NULL) {
        wrong++;
        printf("WRONG  STONET_FAULT='%s' %s\n       %s (exit status %d)\n       %.300s\n", fault,
               command->command, complaint, o.status, o.err.bytes);
        fflush(stdout);
        (void)!system("rm -f *.tmp*");
    } else if (o.status == 0) {
        unharmed++;
    } else {
        refused++;
    }
    outcome_free(&o);
}

/* ---- all faults of a command ---- */

typedef struct counts {
    char kind[MAX_COUNTS][16];
    long calls[MAX_COUNTS];
} counts;

/* The undisturbed run, which must succeed (twice: and give the same again), and how many calls it makes. */
static outcome undisturbed(const torture_command *command, counts *made, bool twice)
{
    outcome right = run(command, NULL);
    if (right.status != 0) give_up("'%s' fails without any fault: %s", command->command, right.err.bytes);
    FILE *file = fopen(".counts", "r");
    for (int k = 0; k < MAX_COUNTS; k++)
        if (file == NULL || fscanf(file, "%15s %ld", made->kind[k], &made->calls[k]) != 2)
            give_up("%s does not count its calls: is it stonet-faults?", program);
    fclose(file);
    if (!twice) return right;
    outcome again = run(command, NULL);
    const char *complaint = judge(command, "", &again, &right);
    if (complaint != NULL) give_up("'%s' differs from run to run: %s", command->command, complaint);
    outcome_free(&again);
    return right;
}

static void try_all(const torture_command *command)
{
    counts made;
    outcome right = undisturbed(command, &made, true);
    for (int k = 0; k < MAX_COUNTS; k++)
        for (long n = 1; n <= made.calls[k]; n++)
            for (int way = 0; way < 2; way++) {
                char fault[64];
                snprintf(fault, sizeof fault, "%s %ld %s", made.kind[k], n, way == 0 ? "once" : "always");
                try_fault(command, fault, &right);
            }
    outcome_free(&right);
}

static uint64_t random_state;

/* A number from 0 to count - 1 (splitmix64). */
static long draw(long count)
{
    uint64_t z = random_state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (long)((z ^ z >> 31) % (uint64_t)count);
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
        int kind = i % 2 == 0 ? 0 : 1 + (int)draw(MAX_COUNTS - 1);
        if (made.calls[kind] == 0) kind = 0;
        if (made.calls[kind] == 0) continue;
        char fault[64];
        snprintf(fault, sizeof fault, "%s %ld %s", made.kind[kind], 1 + draw(made.calls[kind]),
                 draw(2) == 0 ? "once" : "always");
        try_fault(command, fault, &right);
    }
    outcome_free(&right);
}

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

int main(int argc, char **argv)
{
    if (argc < 2 || realpath(argv[1], program) == NULL)
        give_up("torture PROGRAM [--sample N] [--seed S] [--only WORD] [--part K/M]");
    long sample = number_after(argc, argv, "--sample", 0);
    random_state = (uint64_t)number_after(argc, argv, "--seed", 1);
    const char *only = text_after(argc, argv, "--only"), *part = text_after(argc, argv, "--part");
    long mine = 0, parts = 1;
    if (part != NULL && (sscanf(part, "%ld/%ld", &mine, &parts) != 2 || parts < 1))
        give_up("--part takes K/M");
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) give_up("cannot work in /tmp");
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("STONET", program, 1);
    if (system(torture_preparation) != 0) give_up("the files for the commands could not be made");
    size_t count = 0;
    torture_command *commands = torture_commands(&count);
    long chosen = 0;
    for (size_t i = 0; i < count; i++) chosen += only == NULL || strstr(commands[i].command, only) != NULL;
    long place = 0;
    for (size_t i = 0; i < count; i++) {
        const torture_command *command = &commands[i];
        if (only != NULL && strstr(command->command, only) == NULL) continue;
        long share = sample > 0 ? share_of(sample, place, chosen) : 0;
        if (place++ % parts != mine % parts) continue;
        if (sample > 0)
            try_some(command, share);
        else
            try_all(command);
    }
    free(commands);
    printf("%ld faults in %ld commands: %ld refused, %ld without harm, %ld wrong\n", tried, place, refused,
           unharmed, wrong);
    if (chdir("/") != 0) return 2;
    char clean[64];
    snprintf(clean, sizeof clean, "rm -r %s", folder);
    return system(clean) == 0 && wrong == 0 ? 0 : 1;
}
