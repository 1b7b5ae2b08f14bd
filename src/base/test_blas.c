/*
 * The kernels of OpenBLAS are set right where they are below the processor. OpenBLAS reads its variable when
 * it is loaded, so each case runs in a process of its own: this program again, with Prescott in the
 * environment.
 */
#include <cblas.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/blas.h"
#include "base/isa.h"
#include "base/test_kit.h"

static atomic_bool spinning, done;
static char program[4096];

static void *spin(void *unused)
{
    (void)unused;
    while (!atomic_load(&done)) atomic_store(&spinning, true);
    return NULL;
}

static void print_note(stonet_level level, const char *text, void *user)
{
    (void)level;
    (void)user;
    printf("note: %s\n", text);
}

/* The child: "given" leaves the variable where it is, "busy" has a thread that runs meanwhile. */
static int tell(const char *how)
{
    pthread_t other;
    const bool busy = strcmp(how, "busy") == 0;
    if (strcmp(how, "given") != 0) unsetenv("OPENBLAS_CORETYPE");
    if (busy && pthread_create(&other, NULL, spin, NULL) != 0) return 1;
    while (busy && !atomic_load(&spinning)) continue;
    const stonet_run run = {.size = sizeof run, .on_message = print_note};
    sn_blas_mend(NULL);
    sn_blas_mend(&run);
    sn_blas_mend(&run);
    atomic_store(&done, true);
    if (busy) pthread_join(other, NULL);
    double a[] = {1, 2, 3, 4, 5, 6}, c[4];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, 2, 2, 3, 1.0, a, 3, a, 3, 0.0, c, 2);
    printf("%s; %g %g %g %g; %s\n", stonet_blas(), c[0], c[1], c[2], c[3],
           getenv("OPENBLAS_CORETYPE") != NULL ? "set" : "not set");
    return 0;
}

/* What the child says whose OpenBLAS was loaded with the kernels for this core. */
static const char *told_of(const char *core, const char *environment, const char *how)
{
    static char text[1000];
    char command[5000];
    snprintf(command, sizeof command, "%s OPENBLAS_CORETYPE=%s '%s' %s", environment, core, program, how);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    text[fread(text, 1, sizeof text - 1, pipe)] = '\0';
    assert_int_equal(pclose(pipe), 0);
    return text;
}

static const char *told(const char *environment, const char *how)
{
    return told_of("Prescott", environment, how);
}

static bool can_be_tried(void)
{
    if (sn_isa_used() == SN_ISA_PORTABLE) return false;
    const bool forced =
        strstr(told("", "given"), "OpenBLAS") != NULL && strstr(told("", "given"), "Prescott");
    return forced; /* not with a BLAS that has kernels for one core, or with another one */
}

TEST(old_kernels_are_replaced)
{
    if (!can_be_tried()) skip();
    assert_non_null(strstr(told("STONET_CPU=avx2", "alone"), "kernels for Haswell; 14 32 32 77; not set"));
    assert_null(strstr(told("", "alone"), "Prescott"));
    assert_null(strstr(told("", "alone"), "note"));
}

/* Some processors with AVX-512 get kernels with AVX2: OpenBLAS 0.3.21 knows no newer Zen. */
TEST(kernels_are_as_wide_as_the_processor)
{
    if (!can_be_tried() || sn_isa_used() != SN_ISA_AVX512) skip();
    assert_non_null(strstr(told_of("Zen", "", "alone"), "kernels for SkylakeX; 14 32 32 77; not set"));
    assert_non_null(strstr(told_of("Zen", "STONET_CPU=avx2", "alone"), "kernels for Zen"));
}

TEST(kernels_are_left_alone_on_request)
{
    if (!can_be_tried()) skip();
    assert_non_null(strstr(told("", "given"), "kernels for Prescott; 14 32 32 77; set"));
    assert_null(strstr(told("", "given"), "note"));
    assert_non_null(strstr(told("STONET_BLAS=keep", "alone"), "kernels for Prescott"));
    assert_null(strstr(told("STONET_BLAS=keep", "alone"), "note"));
    assert_non_null(strstr(told("STONET_CPU=portable", "alone"), "kernels for Prescott"));
}

TEST(a_running_thread_is_not_disturbed)
{
    if (!can_be_tried()) skip();
    const char *text = told("STONET_CPU=avx2", "busy"), *note = strstr(text, "note: ");
    assert_non_null(strstr(text, "kernels for Prescott"));
    assert_non_null(note);
    assert_non_null(strstr(note, "OPENBLAS_CORETYPE=Haswell"));
    assert_null(strstr(note + 1, "note: ")); /* once */
}

int main(int argc, char **argv)
{
    if (argc > 1) return tell(argv[1]);
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return 1;
    return sn_test_run(NULL, NULL);
}
