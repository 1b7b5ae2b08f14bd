/* What the tests of the program share: a folder of their own, commands through the shell, small data files.
 */
#pragma once

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "base/test_kit.h"

SN_DROP(json_t, json_decref)

enum { MAX_COMMAND = 2000, MAX_CAPTURED = 1 << 20 };

/* What the last command said. */
static char captured_out[MAX_CAPTURED];
static char captured_err[MAX_CAPTURED];
static char test_folder[64] = "/tmp/stonet-test-XXXXXX";

static inline void read_whole(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t length = file != NULL ? fread(text, 1, size - 1, file) : 0;
    text[length] = '\0';
    if (file != NULL) fclose(file);
}

/* A program on a terminal of its own, which shows all that it writes. */
typedef struct terminal {
    pid_t child;
    int file;
    size_t length;
    char text[1 << 16];
} terminal;

/* Starts the program; the arguments end with NULL. */
static inline void terminal_start(terminal *self, char *const *arguments)
{
    self->length = 0;
    self->text[0] = '\0';
    self->child = forkpty(&self->file, NULL, NULL, NULL);
    assert_true(self->child >= 0);
    if (self->child == 0) {
        execvp(arguments[0], arguments);
        _exit(127);
    }
}

/* Reads until the words were written, or to the end of the program when there are none: false then. A redrawn
   line can be as long as it likes, since what is full is thrown away by halves. */
static inline bool terminal_read(terminal *self, const char *words)
{
    ssize_t got = 1;
    while (got > 0) {
        if (words != NULL && strstr(self->text, words) != NULL) return true;
        if (self->length + 1 == sizeof self->text) {
            self->length /= 2;
            memmove(self->text, self->text + sizeof self->text - 1 - self->length, self->length);
        }
        got = read(self->file, self->text + self->length, sizeof self->text - 1 - self->length);
        if (got > 0) self->length += (size_t)got;
        self->text[self->length] = '\0';
    }
    return false;
}

/* Waits for the end of a program, however long that takes (the test runner ends what hangs); its exit
   status. */
static inline int end_of(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Reads the rest; the exit status. */
static inline int terminal_end(terminal *self)
{
    terminal_read(self, NULL);
    close(self->file);
    return end_of(self->child);
}

/* Runs a shell command in the test's folder, with the program as `stonet`; gives its exit status. */
__attribute__((format(printf, 1, 2))) static inline int sh(const char *format, ...)
{
    char command[MAX_COMMAND + 64];
    va_list values;
    va_start(values, format);
    int length = snprintf(command, sizeof command, "{ ");
    length += vsnprintf(command + length, MAX_COMMAND, format, values);
    va_end(values);
    assert_true(length < MAX_COMMAND);
    snprintf(command + length, sizeof command - (size_t)length, "\n} >.out 2>.err </dev/null");
    int status = system(command);
    read_whole(".out", captured_out, sizeof captured_out);
    read_whole(".err", captured_err, sizeof captured_err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline void sh_must(int status, const char *call)
{
    if (status == 0) return;
    print_error("exit status %d of: %s\n%s", status, call, captured_err);
    fail();
}
/* The same for a command that must succeed. */
#define SH(...) sh_must(sh(__VA_ARGS__), #__VA_ARGS__)

/* The same for one that must end with this status and write these words to `stream`. */
static inline void sh_says(const char *command, int status, const char *stream, const char *words)
{
    const int ended = sh("%s", command);
    if (ended != status || strstr(stream, words) == NULL)
        fail_msg("%s: exit status %d, no '%s' in: %s%s", command, ended, words, captured_out, captured_err);
}
#define sh_prints(command, words)          sh_says((command), 0, captured_out, (words))
#define sh_notes(command, words)           sh_says((command), 0, captured_err, (words))
#define sh_refused(command, status, words) sh_says((command), (status), captured_err, (words))

/* What the last command printed, as JSON. */
static inline json_t *captured_json(void)
{
    json_error_t error;
    json_t *json = json_loads(captured_out, 0, &error);
    if (json == NULL) fail_msg("not JSON (%s): %s\n%s", error.text, captured_out, captured_err);
    return json;
}
/* And of a command that must succeed. */
#define JSON_OF(...) (SH(__VA_ARGS__), captured_json())

/* Makes the folder, moves into it and puts the program on the path. -1 when that fails. */
static inline int enter_test_folder(void **state)
{
    (void)state;
    const char *program = getenv("STONET_PROGRAM");
    char *path = program != NULL ? realpath(program, NULL) : NULL;
    if (path == NULL || mkdtemp(test_folder) == NULL || chdir(test_folder) != 0) {
        print_error("STONET_PROGRAM must name the program, and /tmp must be writable\n");
        free(path);
        return -1;
    }
    setenv("STONET", path, 1);
    free(path);
    return system("mkdir .bin && ln -s \"$STONET\" .bin/stonet") == 0 &&
                   setenv("PATH", ".bin:/usr/bin:/bin", 1) == 0
               ? 0
               : -1;
}

static inline int leave_test_folder(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "cd / && chmod -R u+w %s && rm -rf %s", test_folder, test_folder);
    return system(command) == 0 ? 0 : -1;
}

/* A number in -1..1 from a fixed sequence. */
static inline double next_number(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return (double)*state / 2147483648.0 - 1.0;
}

/*
 * Columns a, b, c, y, label: y is a smooth function of a and b with some noise, label the text "low", "mid"
 * or "high" of its size.
 */
static inline void write_table(const char *path, int rows, uint32_t seed)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "a,b,c,y,label\n");
    for (int i = 0; i < rows; i++) {
        double a = next_number(&seed);
        double b = next_number(&seed);
        double c = next_number(&seed);
        double y = a + 0.5 * b * b + 0.1 * next_number(&seed);
        fprintf(file, "%.6f,%.6f,%.6f,%.6f,%s\n", a, b, c, y, y < -0.2 ? "low" : y < 0.5 ? "mid" : "high");
    }
    fclose(file);
}
