#define _GNU_SOURCE /* sched_getaffinity */
/*
 * Before anything else, even before the libraries start: is there room for OpenBLAS? OpenBLAS reserves 128
 * MiB for each thread when it is loaded, and as much again when our threads call it. If there is no room, it
 * tries for ever. With the address space limited (ulimit -v) the program would hang, in --version too.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static const size_t buffer_bytes = (size_t)128 << 20, other_bytes = (size_t)64 << 20;

/* The number in "NAME=NUMBER", if this is that variable and the number is fewer than `threads`. */
static long fewer(const char *variable, const char *name, long threads)
{
    size_t length = strlen(name);
    if (strncmp(variable, name, length) != 0 || variable[length] != '=') return threads;
    long number = strtol(variable + length + 1, NULL, 10);
    return number > 0 && number < threads ? number : threads;
}

/* As OpenBLAS counts them. The environment is not yet in its usual place. */
static long threads_of_blas(char **environment)
{
    cpu_set_t processors;
    long threads = sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : 1;
    for (; *environment != NULL; environment++) {
        threads = fewer(*environment, "OMP_NUM_THREADS", threads);
        threads = fewer(*environment, "OPENBLAS_NUM_THREADS", threads);
    }
    return threads;
}

/* Runs from .preinit_array, before the constructors of any library. It tries to reserve the address space and
   releases it again; where that fails, the program ends with status 1. */
static void check(int count, char **arguments, char **environment)
{
    (void)count;
    (void)arguments;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    long threads = threads_of_blas(environment);
    size_t wanted = 2 * (size_t)threads * buffer_bytes + other_bytes;
    void *room = mmap(NULL, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room != MAP_FAILED) {
        munmap(room, wanted);
        return;
    }
    char sentence[300];
    int length =
        snprintf(sentence, sizeof sentence,
                 "stonet: the address space is limited to %llu MB (ulimit -v) and %ld threads need %zu MB "
                 "for linear algebra alone: raise the limit or set OMP_NUM_THREADS=1\n",
                 (unsigned long long)limit.rlim_cur >> 20, threads, wanted >> 20);
    (void)!write(STDERR_FILENO, sentence, (size_t)length);
    _exit(1);
}

__attribute__((section(".preinit_array"), used)) static void (*const before_all)(int, char **,
                                                                                 char **) = check;
