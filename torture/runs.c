#include "torture/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WORDS = 64, MAX_BYTES = 1 << 24 };

static char folder[] = "/tmp/stonet-torture-XXXXXX";
static char program[PATH_MAX];

void give_up(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    exit(2);
}

void runs_begin(const char *path)
{
    if (realpath(path, program) == NULL) give_up("there is no %s", path);
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) give_up("cannot work in /tmp");
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("STONET", program, 1);
    if (system(torture_preparation) != 0) give_up("the files for the commands could not be made");
}

void runs_end(void)
{
    char clean[64];
    snprintf(clean, sizeof clean, "rm -r %s", folder);
    if (chdir("/") != 0 || system(clean) != 0) give_up("%s could not be removed", folder);
}

/* ---- files ---- */

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

bool is_same(const content *a, const content *b)
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

bool has_temporary(void)
{
    DIR *here = opendir(".");
    bool found = false;
    for (struct dirent *entry = here != NULL ? readdir(here) : NULL; entry != NULL; entry = readdir(here))
        found |= strstr(entry->d_name, ".tmp") != NULL;
    if (here != NULL) closedir(here);
    return found;
}

/* A folder of ours has files alone. */
static void remove_folder(const char *path)
{
    char name[2 * NAME_MAX];
    DIR *inside = opendir(path);
    for (struct dirent *at = inside != NULL ? readdir(inside) : NULL; at != NULL; at = readdir(inside)) {
        snprintf(name, sizeof name, "%s/%s", path, at->d_name);
        unlink(name);
    }
    if (inside == NULL) return;
    closedir(inside);
    if (rmdir(path) != 0) give_up("cannot remove %s", path);
}

/* Its files in the order of their names, which stand before each; what an old file says where it is not
 * there. */
static content read_folder(const char *path)
{
    content got = {.bytes = strdup("old\n"), .size = 4};
    struct dirent **entry = NULL;
    int count = scandir(path, &entry, NULL, alphasort);
    if (count >= 0) got.size = 0;
    for (int i = 0; i < count; i++) {
        char name[2 * NAME_MAX];
        snprintf(name, sizeof name, "%s%s", path, entry[i]->d_name);
        content file = entry[i]->d_name[0] == '.' ? (content){0} : read_file(name);
        size_t length = strlen(name);
        got.bytes = realloc(got.bytes, got.size + length + file.size);
        if (got.bytes == NULL) give_up("memory ran out");
        memcpy(got.bytes + got.size, name, length);
        if (file.size > 0) memcpy(got.bytes + got.size + length, file.bytes, file.size);
        got.size += length + file.size;
        free(file.bytes);
        free(entry[i]);
    }
    free(entry);
    return got;
}

static bool is_folder(const char *output)
{
    return output[strlen(output) - 1] == '/';
}

/* ---- one run ---- */

void outcome_free(outcome *o)
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
    if (fault != NULL) unsetenv("STONET_FAULT_PATHS");
    if (fault != NULL)
        setenv("STONET_FAULT", fault, 1);
    else
        setenv("STONET_FAULT_COUNTS", ".counts", 1);
    execv(program, argument);
    _exit(99);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Kills the child when it is still there after so many seconds. */
static void kill_after(pid_t child, double seconds)
{
    const struct timespec wait = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&wait, NULL);
    kill(child, SIGKILL); /* not waited for yet, so that the number is still its own */
}

outcome run(const torture_command *command, const char *fault, double seconds)
{
    outcome o = {0};
    for (int k = 0; k < MAX_OUTPUTS && command->output[k] != NULL; k++)
        if (is_folder(command->output[k]))
            remove_folder(command->output[k]);
        else
            write_file(command->output[k], "old\n");
    unlink("kept"); /* a checkpoint of the run before, from which this one would go on */
    const double began = now();
    pid_t child = fork();
    if (child < 0) give_up("cannot start a process: %s", strerror(errno));
    if (child == 0) become(command->command, fault);
    if (seconds > 0) kill_after(child, seconds);
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) give_up("lost a process: %s", strerror(errno));
    o.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    o.seconds = now() - began;
    if (o.status == 99) give_up("cannot run %s", program);
    o.out = read_file(".out");
    o.err = read_file(".err");
    for (int k = 0; k < MAX_OUTPUTS && command->output[k] != NULL; k++)
        o.file[k] =
            is_folder(command->output[k]) ? read_folder(command->output[k]) : read_file(command->output[k]);
    for (int k = 0; k < MAX_OUTPUTS && command->output[k] != NULL; k++)
        if (strcmp(command->output[k], "o.json") == 0) drop_times(&o.file[k]);
    drop_times(&o.out);
    return o;
}

bool is_old(const outcome *o, int k)
{
    const content old = {.bytes = (char *)"old\n", .size = 4};
    return is_same(&o->file[k], &old);
}

bool is_right(const outcome *o, const outcome *right, int k)
{
    return is_same(&o->file[k], &right->file[k]);
}

bool is_also(const torture_command *command, const outcome *o, int k)
{
    const char *name = torture_also(command);
    bool same = false;
    if (name != NULL) {
        content other = read_file(name);
        same = is_same(&o->file[k], &other);
        free(other.bytes);
    }
    return same;
}

const char *judge(const torture_command *command, const char *fault, const outcome *o, const outcome *right)
{
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
        if (o->status == 0 && !is_right(o, right, k)) return "exit status 0, and it wrote something else";
        if (!is_right(o, right, k) && !is_old(o, k) && !is_also(command, o, k))
            return "an old file is neither kept nor replaced";
    }
    return NULL;
}

void complain(const torture_command *command, const char *fault, const outcome *o, const char *complaint)
{
    printf("WRONG  STONET_FAULT='%s' %s\n       %s (exit status %d)\n       %.300s\n", fault,
           command->command, complaint, o->status, o->err.bytes);
    fflush(stdout);
    (void)!system("rm -rf .tmp* *.tmp*");
}

outcome undisturbed(const torture_command *command, counts *made, bool twice)
{
    outcome right = run(command, NULL, 0);
    if (right.status != 0) give_up("'%s' fails without any fault: %s", command->command, right.err.bytes);
    FILE *file = fopen(".counts", "r");
    for (int k = 0; k < COUNTED; k++)
        if (file == NULL || fscanf(file, "%15s %ld", made->kind[k], &made->calls[k]) != 2)
            give_up("%s does not count its calls: is it stonet-faults?", program);
    fclose(file);
    if (!twice) return right;
    outcome again = run(command, NULL, 0);
    const char *complaint = judge(command, "", &again, &right);
    if (complaint != NULL) give_up("'%s' differs from run to run: %s", command->command, complaint);
    outcome_free(&again);
    return right;
}

static uint64_t random_state;

void draw_from(unsigned long seed)
{
    random_state = seed;
}

/* splitmix64 */
long draw(long count)
{
    uint64_t z = random_state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (long)((z ^ z >> 31) % (uint64_t)count);
}
