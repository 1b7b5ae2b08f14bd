#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "base/blas.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/isa.h"
#include "base/run.h"

#define CORE_VARIABLE "OPENBLAS_CORETYPE"

/* What OpenBLAS exports; NULL where another BLAS is linked, or one that was built for a single core. */
typedef struct openblas {
    char *(*config)(void), *(*core)(void);
    void (*quit)(void), (*init)(void);
} openblas;

static atomic_bool too_slow; /* the kernels are below the processor, and stay so */
static pthread_once_t mended = PTHREAD_ONCE_INIT;

/* ISO C has no cast from an object to a function. */
static void look_up(const char *name, void *function)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, sizeof found);
}

static openblas find_openblas(void)
{
    openblas blas;
    look_up("openblas_get_config", &blas.config);
    look_up("openblas_get_corename", &blas.core);
    look_up("gotoblas_dynamic_quit", &blas.quit);
    look_up("gotoblas_dynamic_init", &blas.init);
    return blas;
}

/* The core whose kernels use what the library's own kernels use; NULL without such instructions. */
static const char *fitting_core(void)
{
    static const char *const core[] = {
        [SN_ISA_PORTABLE] = NULL, [SN_ISA_AVX2] = "Haswell", [SN_ISA_AVX512] = "SkylakeX"};
    return core[sn_isa_used()];
}

/* Whether the kernels for a core use fewer instructions than the library's own: those without AVX2, and those
   with AVX2 where there is AVX-512. A name that is not here may be newer than this list. */
static bool is_below(const char *core)
{
    static const char *const without_avx2[] = {
        "unknown",   "generic", "katmai",      "coppermine",   "northwood",     "prescott", "banias",
        "atom",      "core2",   "penryn",      "dunnington",   "nehalem",       "athlon",   "opteron",
        "barcelona", "bobcat",  "sandybridge", "opteron_sse3", "opteron(sse3)", "nano"};
    static const char *const with_avx2[] = {"haswell", "zen", "excavator"};
    for (size_t i = 0; i < sizeof without_avx2 / sizeof *without_avx2; i++)
        if (strcasecmp(core, without_avx2[i]) == 0) return true;
    for (size_t i = 0; i < sizeof with_avx2 / sizeof *with_avx2; i++)
        if (strcasecmp(core, with_avx2[i]) == 0) return sn_isa_used() == SN_ISA_AVX512;
    return false;
}

/* Whether a thread of this process is running: its state follows the last ')' of its line. */
static bool runs(const char *task)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", task);
    FILE *file = fopen(path, "re");
    if (file == NULL) return false; /* it has ended */
    const size_t length = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[length] = '\0';
    const char *end = strrchr(line, ')');
    return end == NULL || strncmp(end, ") S", 3) != 0;
}

/* Whether another thread may be inside a product. Those that sleep are not. */
static bool others_run(void)
{
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL) return true;
    const long own = (long)gettid();
    bool found = false;
    for (const struct dirent *entry; !found && (entry = readdir(tasks)) != NULL;)
        if (entry->d_name[0] != '.' && strtol(entry->d_name, NULL, 10) != own) found = runs(entry->d_name);
    closedir(tasks);
    return found;
}

/* OpenBLAS chooses its kernels anew; the variable is there only meanwhile. */
static bool choose_core(const openblas *blas, const char *core)
{
    if (blas->quit == NULL || blas->init == NULL || others_run()) return false;
    if (setenv(CORE_VARIABLE, core, 1) != 0) return false;
    blas->quit();
    blas->init();
    unsetenv(CORE_VARIABLE);
    return !is_below(blas->core());
}

static bool is_left_alone(void)
{
    const char *word = getenv("STONET_BLAS");
    return getenv(CORE_VARIABLE) != NULL || (word != NULL && strcmp(word, "keep") == 0);
}

static void mend(void)
{
    const openblas blas = find_openblas();
    const char *core = fitting_core();
    if (core == NULL || blas.core == NULL || !is_below(blas.core()) || is_left_alone()) return;
    atomic_store(&too_slow, !choose_core(&blas, core));
}

void sn_blas_mend(const stonet_run *run)
{
    pthread_once(&mended, mend);
    if (!atomic_load(&too_slow) || run == NULL || run->on_message == NULL) return;
    if (!atomic_exchange(&too_slow, false)) return;
    sn_message(run, STONET_NOTE,
               "OpenBLAS uses slow kernels (%s) on this processor: start with " CORE_VARIABLE
               "=%s in the environment, or install OpenBLAS 0.3.25 or later",
               find_openblas().core(), fitting_core());
}

/* The first two words of OpenBLAS's configuration are its name and version. */
const char *stonet_blas(void)
{
    static _Thread_local char text[128];
    const openblas blas = find_openblas();
    if (blas.config == NULL || blas.core == NULL) return "another BLAS";
    sn_blas_mend(NULL);
    const char *config = blas.config(), *end = strchr(config, ' ');
    if (end != NULL) end += strcspn(end + 1, " ") + 1;
    snprintf(text, sizeof text, "%.*s, kernels for %s", end != NULL ? (int)(end - config) : 40, config,
             blas.core());
    return text;
}
