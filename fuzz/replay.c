/* In the place of libFuzzer: sends every file of the folders through a target, once. replay FOLDER.. */
#include "fuzz/common.h"

#include <dirent.h>

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most)
{
    (void)bytes, (void)size, (void)most;
    abort(); /* nothing is mutated here */
}

static void send_file(const char *folder, const char *name)
{
    enum { MOST = 1 << 16 };
    char path[4096];
    uint8_t *bytes = malloc(MOST);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (bytes == NULL || file == NULL) abort();
    size_t size = fread(bytes, 1, MOST, file);
    fclose(file);
    uint8_t *exact = malloc(size + (size == 0)); /* what is read past its end is seen by the sanitizer */
    if (exact == NULL) abort();
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    free(bytes);
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (folder == NULL) abort();
        for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
            if (entry->d_name[0] == '.') continue;
            send_file(argv[i], entry->d_name);
            files++;
        }
        closedir(folder);
    }
    printf("%d files\n", files);
    return files == 0;
}
