/* Programs that are watched while they write their checkpoints, and get signals in the middle of it. */
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>

#include "cli/test_support.h"

/* A program at work in the folder. */
typedef struct watched {
    pid_t child;
    int alive; /* a pipe that ends with it */
    int files; /* what gets a name in the folder */
} watched;

static inline watched start(const char *arguments)
{
    char command[MAX_COMMAND + 64];
    int ends[2];
    watched self = {.files = inotify_init1(IN_CLOEXEC)};
    snprintf(command, sizeof command, "exec %s >.out 2>.err </dev/null", arguments);
    assert_true(self.files >= 0);
    assert_true(inotify_add_watch(self.files, ".", IN_MOVED_TO | IN_CREATE) >= 0);
    assert_int_equal(pipe(ends), 0);
    self.child = fork();
    assert_true(self.child >= 0);
    if (self.child == 0) {
        close(ends[0]);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    self.alive = ends[0];
    return self;
}

/* How many events of the watch are about the checkpoint getting its name. */
static inline int names_given(int watch, const char *name)
{
    union {
        struct inotify_event event;
        char bytes[4096];
    } room;
    const ssize_t size = read(watch, room.bytes, sizeof room.bytes);
    int count = 0;
    assert_true(size > 0);
    for (ssize_t at = 0; at < size;) {
        const struct inotify_event *event = (const struct inotify_event *)(const void *)(room.bytes + at);
        count += event->len > 0 && strcmp(event->name, name) == 0;
        at += (ssize_t)sizeof *event + event->len;
    }
    return count;
}

/* Waits until the checkpoint "kept" has been written k times; false: the program ended before. */
static inline bool wait_for_checkpoints(const watched *self, int k)
{
    for (int met = 0; met < k;) {
        struct pollfd both[2] = {{.fd = self->files, .events = POLLIN},
                                 {.fd = self->alive, .events = POLLIN}};
        assert_true(poll(both, 2, -1) > 0);
        if (both[0].revents != 0)
            met += names_given(self->files, "kept");
        else
            return false;
    }
    return true;
}

/* Its exit status. */
static inline int finish(watched *self)
{
    const int status = end_of(self->child);
    close(self->files);
    close(self->alive);
    return status;
}

/*
 * Runs a command with the checkpoint "kept" and sends it a signal at the k-th one, so that it ends with this
 * status. Nothing keeps a command from being done before the signal reaches it: then what it wrote is removed
 * and it is begun anew.
 */
static inline void signal_at(const char *command, int k, int signal, int expected, const char *output)
{
    for (;;) {
        watched self = start(command);
        if (wait_for_checkpoints(&self, k)) kill(self.child, signal);
        const int status = finish(&self);
        const bool done = signal == SIGKILL && access(output, F_OK) == 0;
        if (status == expected && access("kept", F_OK) == 0 && !done) return;
        if (status != 0 && status != expected) fail_msg("it ended with status %d", status);
        remove("kept");
        remove(output);
    }
}
