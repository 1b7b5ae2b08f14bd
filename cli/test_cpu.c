/* STONET_CPU: the same results to a tolerance on every instruction set, the same bits on each. */
#include "cli/test_support.h"

static int set_up(void **state)
{
    if (enter_test_folder(state) != 0) return -1;
    write_table("all.csv", 80, 1);
    return sh("cut -d, -f1-4 all.csv > train.csv");
}

/* Fits and predicts; false when the machine does not have the instructions, and says so. */
static bool fit_with(const char *isa, const char *method, const char *model)
{
    int status = sh("STONET_CPU=%s stonet fit train.csv --target y --method %s --dim 1 --quiet --out %s", isa,
                    method, model);
    if (status == 0) {
        SH("STONET_CPU=%s stonet predict %s train.csv > %s.csv", isa, model, model);
        return true;
    }
    assert_int_equal(status, 2);
    assert_non_null(strstr(captured_err, "this machine has"));
    return false;
}

static double largest_difference(const char *a, const char *b)
{
    char text[MAX_COMMAND];
    snprintf(text, sizeof text,
             "paste -d, %s.csv %s.csv | awk -F, 'NR > 1 {d = $1 - $2; if (d < 0) d = -d; if (d > m) m = d} "
             "END {print m + 0}'",
             a, b);
    SH("%s", text);
    return strtod(captured_out, NULL);
}

TEST(each_instruction_set_gives_its_own_bits)
{
    const char *const methods[] = {"stonet --set hidden=6 --set epochs=5", "gsir"};
    const char *const isas[] = {"portable", "avx2", "avx512"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        assert_true(fit_with("portable", methods[m], "p"));
        for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
            if (!fit_with(isas[i], methods[m], "a")) continue;
            assert_true(fit_with(isas[i], methods[m], "b"));
            SH("cmp a b");
            assert_true(largest_difference("a", "p") < 1e-3); /* y is of the order of 1 */
        }
    }
}

TEST(other_words_are_refused)
{
    sh_refused("STONET_CPU=sse stonet fit train.csv --target y --method pca --dim 1 --out m", 2,
               "STONET_CPU=sse: it takes portable, avx2 or avx512");
    SH("STONET_CPU= stonet fit train.csv --target y --method pca --dim 1 --out m");
}

RUN_TESTS(set_up, leave_test_folder)
