#define _GNU_SOURCE /* O_TMPFILE */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "base/test_folder.h"
#include "base/test_kit.h"

static stonet_status write_text(sn_writer *writer, const char *text)
{
    return sn_write(writer, text, strlen(text));
}

/* A whole file. */
static void put(const char *path, const char *text)
{
    sn_writer *writer;
    OK(sn_writer_open(path, &writer));
    OK(write_text(writer, text));
    OK(sn_writer_commit(&writer));
}

static int files_in_folder(void)
{
    DIR *listing = opendir(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

static size_t slurp(const char *path, char *into, size_t room)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(into, 1, room, file);
    fclose(file);
    return size;
}

TEST(test_writes_whole_or_not_at_all)
{
    const char *path = in_folder("a.txt");
    sn_writer *writer;
    OK(sn_writer_open(path, &writer));
    OK(write_text(writer, "old 1\n"));
    assert_int_equal(access(path, F_OK), -1); /* nothing under the name yet */
    OK(sn_writer_commit(&writer));

    OK(sn_writer_open(path, &writer));
    OK(write_text(writer, "new"));
    sn_writer_abandon(writer);
    char text[32] = {0};
    assert_int_equal(slurp(path, text, sizeof text), 6);
    assert_string_equal(text, "old 1\n");
    assert_int_equal(files_in_folder(), 1);
    unlink(path);
}

TEST(test_long_content)
{
    char path[256];
    strcpy(path, in_folder("long.txt"));
    sn_writer *writer;
    OK(sn_writer_open(path, &writer));
    size_t size = 3000000;
    SN_BLOCK char *bytes = malloc(size);
    for (size_t i = 0; i < size; i++) bytes[i] = (char)('a' + (int)(i * i % 23));
    char word[2000];
    memset(word, 'w', sizeof word);
    word[sizeof word - 1] = '\0';
    OK(sn_write(writer, bytes, size));
    OK(write_text(writer, word));
    OK(sn_writer_commit(&writer));
    SN_BLOCK char *back = malloc(size + 4000);
    assert_int_equal(slurp(path, back, size + 4000), size + 1999);
    assert_memory_equal(back, bytes, size);
    assert_memory_equal(back + size, word, 1999);
    unlink(path);
}

TEST(test_gzip)
{
    const char *path = in_folder("a.csv.gz");
    sn_writer *writer;
    OK(sn_writer_open(path, &writer));
    char line[32];
    for (int i = 0; i < 200000; i++) {
        snprintf(line, sizeof line, "%d\n", i);
        OK(write_text(writer, line));
    }
    OK(sn_writer_commit(&writer));
    gzFile file = gzopen(path, "rb");
    for (int i = 0; i < 200000; i++) {
        assert_non_null(gzgets(file, line, sizeof line));
        assert_int_equal(atoi(line), i);
    }
    assert_null(gzgets(file, line, sizeof line));
    gzclose(file);
    unlink(path);
}

TEST(test_permissions_and_links)
{
    char path[256], link_path[256];
    strcpy(path, in_folder("real"));
    strcpy(link_path, in_folder("link"));
    mode_t mask = umask(027);
    put(path, "");
    umask(mask);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(symlink("real", link_path), 0);
    put(link_path, "through");
    assert_int_equal(lstat(link_path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 7);
    assert_int_equal(info.st_mode & 0777, 0640);
    unlink(link_path);
    unlink(path);
}

TEST(names_of_files)
{
    static const struct {
        const char *path, *words; /* NULL: written */
    } cases[] = {
        {"/dev/null", NULL},
        {"/dev/stdout", NULL},
        {"/dev/stderr", NULL},
        {"/dev/fd/1", NULL},
        {"/dev/fd/999", "Bad file descriptor"},
        {"/dev/fd/99999999999", "/dev/fd/99999999999"},
        {"/dev/fd/x", "/dev/fd/x"},
        {"/dev/fd/1x", "/dev/fd/1x"},
        {"/dev/full", "cannot write /dev/full: No space left on device"},
        {"/tmp", "Is a directory"},
        {"/nonexistent/a", "/nonexistent/a: No such file or directory"},
        {"/dev/null/a", "Not a directory"},
        {"", "empty"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *bytes = strcmp(cases[k].path, "/dev/full") == 0 ? "x" : "";
        const stonet_status status = stonet_bytes_write(cases[k].path, bytes, strlen(bytes));
        if ((status == STONET_OK) != (cases[k].words == NULL) ||
            (status != STONET_OK && strstr(stonet_last_error(), cases[k].words) == NULL))
            fail_msg("'%s': %s", cases[k].path, status == STONET_OK ? "written" : stonet_last_error());
    }
    struct stat info; /* devices stay what they are */
    assert_true(stat("/dev/full", &info) == 0 && S_ISCHR(info.st_mode));
    assert_true(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
    if (geteuid() != 0) {
        assert_int_equal(chmod(folder, 0500), 0);
        assert_says(stonet_path_check(in_folder("a.csv")), STONET_ERROR_IO, "Permission denied");
        assert_int_equal(chmod(folder, 0700), 0);
    }
    sn_writer_abandon(NULL);
}

TEST(test_open_files_are_written_on)
{
    char path[256], device[32], text[32] = {0};
    strcpy(path, in_folder("log"));
    FILE *file = fopen(path, "w");
    fputs("before ", file);
    fflush(file);
    snprintf(device, sizeof device, "/dev/fd/%d", fileno(file));
    put(device, "and after");
    fclose(file);
    slurp(path, text, sizeof text - 1);
    assert_string_equal(text, "before and after");
    unlink(path);
}

static stonet_status accept(const char *path, const void *expected)
{
    char text[16] = {0}; /* whole, under another name, while the old file is still there */
    slurp(path, text, sizeof text - 1);
    return strcmp(text, expected) == 0 ? STONET_OK : sn_fail(STONET_ERROR_IO, "not what was expected");
}

TEST(test_a_checked_file_replaces_the_old_one_or_nothing)
{
    const char *path = in_folder("checked"), *const texts[] = {"old", "new", "bad"};
    sn_writer *writer;
    for (int i = 0; i < 3; i++) {
        OK(sn_writer_open(path, &writer));
        OK(write_text(writer, texts[i]));
        assert_int_equal(sn_writer_commit_checked(&writer, accept, i < 2 ? texts[i] : "new"),
                         i < 2 ? STONET_OK : STONET_ERROR_IO);
        char text[16] = {0};
        slurp(path, text, sizeof text - 1);
        assert_string_equal(text, i == 0 ? "old" : "new");
        assert_int_equal(files_in_folder(), 1);
    }
    unlink(path);
}

/* Whatever ends the process, no half-written file stays behind. */
TEST(test_killed_while_writing)
{
    int probe = open(folder, O_WRONLY | O_TMPFILE, 0600);
    if (probe < 0) {
        print_message("this file system has no files without names\n");
        skip();
    }
    close(probe);
    const char *path = in_folder("killed");
    pid_t child = fork();
    if (child == 0) {
        sn_writer *writer;
        char block[300000] = {1}; /* more than the buffer */
        if (sn_writer_open(path, &writer) == STONET_OK && sn_write(writer, block, sizeof block) == STONET_OK)
            raise(SIGKILL);
        _exit(1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(files_in_folder(), 0);
}

/* The temporary file of a private one is private. */
TEST(test_permissions_are_never_wider)
{
    const char *path = in_folder("private");
    mode_t before = umask(0);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    sn_writer *writer;
    OK(sn_writer_open(path, &writer));
    struct stat about;
    char own[64];
    for (int descriptor = 3; descriptor < 20; descriptor++) { /* ours is among them, with or without a name */
        snprintf(own, sizeof own, "/proc/self/fd/%d", descriptor);
        char target[512] = "";
        if (readlink(own, target, sizeof target - 1) > 0 && strncmp(target, folder, strlen(folder)) == 0 &&
            fstat(descriptor, &about) == 0)
            assert_int_equal(about.st_mode & 0777, 0600);
    }
    OK(write_text(writer, "new"));
    OK(sn_writer_commit(&writer));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    umask(before);
    unlink(path);
}

RUN_TESTS(make_folder, remove_folder)
