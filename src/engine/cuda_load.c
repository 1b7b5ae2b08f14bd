#define _GNU_SOURCE /* dladdr */
#include "engine/cuda_load.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "libstonet-cuda.so"
enum { PATH_SIZE = 4096 };

/* The folder of the library, or of the program it is a part of. */
static bool own_folder(char *path)
{
    Dl_info info;
    if (dladdr((void *)(size_t)sn_cuda_load, &info) == 0 || info.dli_fname == NULL) return false;
    if ((size_t)snprintf(path, PATH_SIZE, "%s", info.dli_fname) >= PATH_SIZE) return false;
    char *end = strrchr(path, '/');
    if (end == NULL) return false;
    *end = '\0';
    return true;
}

/* Never unloaded: CUDA's runtime does not bear it. */
static void *open_module(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static void *find_module(void)
{
    const char *const places[] = {"", "/../lib"};
    char folder[PATH_SIZE], path[PATH_SIZE + sizeof "/../lib/" MODULE];
    for (size_t k = 0; own_folder(folder) && k < sizeof places / sizeof *places; k++) {
        snprintf(path, sizeof path, "%s%s/" MODULE, folder, places[k]);
        void *module = open_module(path);
        if (module != NULL) return module;
    }
    return open_module(MODULE);
}

/* The module is found by the environment variable, beside the library, or where the system looks. It stays
   loaded: the table of functions *api points into it. */
static stonet_status load(const sn_cuda_api **api)
{
    const char *given = getenv(SN_CUDA_VARIABLE);
    const bool named = given != NULL && *given != '\0';
    void *module = named ? open_module(given) : find_module();
    if (module == NULL && named)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "engine=cuda: the module %s that " SN_CUDA_VARIABLE " names cannot be loaded: %.300s",
                       given, dlerror());
    if (module == NULL)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "engine=cuda needs " MODULE
                       ", which is not there: build it with 'make gpu' where CUDA's "
                       "compiler is, or say in " SN_CUDA_VARIABLE " where it is, or use engine=cpu");
    void *symbol = dlsym(module, SN_CUDA_ENTRY);
    sn_cuda_entry entry;
    memcpy(&entry, &symbol, sizeof entry);
    *api = symbol != NULL ? entry() : NULL;
    if (*api == NULL || (*api)->abi != SN_CUDA_ABI)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "engine=cuda: " MODULE
                       " is of another version of stonet: build it anew with 'make gpu'");
    return STONET_OK;
}

stonet_status sn_cuda_load(const sn_cuda_api **api, sn_cuda_device *device)
{
    sn_cuda_words words;
    SN_TRY(load(api));
    return sn_cuda_check((*api)->open(device, &words), &words, "looking for a device");
}

stonet_status sn_cuda_check(int trouble, const sn_cuda_words *words, const char *doing)
{
    switch (trouble) {
    case SN_CUDA_FINE:
        return STONET_OK;
    case SN_CUDA_NO_DEVICE:
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "engine=cuda: no GPU can be used (%s): look at nvidia-smi and "
                       "CUDA_VISIBLE_DEVICES, or use engine=cpu",
                       words->why);
    case SN_CUDA_TOO_OLD:
        return sn_fail(STONET_ERROR_UNSUPPORTED, "engine=cuda: the GPU is too old (%s): use engine=cpu",
                       words->why);
    case SN_CUDA_NO_MEMORY:
        return sn_fail(
            STONET_ERROR_MEMORY,
            "engine=cuda: the GPU's memory ran out while %s (%s): end what else runs on it, use a smaller batch or fewer threads, or engine=cpu",
            doing, words->why);
    case SN_CUDA_TOO_WIDE:
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "engine=cuda cannot hold this network (%s): make the hidden layers narrower, or use engine=cpu",
            words->why);
    default:
        return sn_fail(STONET_ERROR_NUMERIC,
                       "engine=cuda: the GPU failed while %s (%s): try again, look at nvidia-smi and the "
                       "system's log, or use engine=cpu",
                       doing, words->why);
    }
}
