#include "base/take_options.h"

#include <stdbool.h>
#include <string.h>

#include "base/blas.h"
#include "base/isa.h"
#include "base/run.h"

/* No struct of options comes near this: a larger size was never set. */
enum { MOST_BYTES = 1 << 16 };

/* Whether the bytes that only the caller knows are all zero, which stands for their defaults. */
static bool is_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0) return false;
    return true;
}

stonet_status sn_options_take(void *to, size_t known, const void *from, const char *type)
{
    if (from == NULL) return STONET_OK;
    size_t size;
    memcpy(&size, from, sizeof size);
    if (size < sizeof size || size > MOST_BYTES)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "the size of a %s is %zu: set it to sizeof(%s), or start from the struct's _INIT",
                       type, size, type);
    if (size > known && !is_zero((const unsigned char *)from + known, size - known))
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "a %s of %zu bytes has options set that stonet %s does not know (it knows %zu bytes)",
                       type, size, STONET_VERSION, known);
    memcpy(to, from, size < known ? size : known);
    memcpy(to, &known, sizeof known);
    return STONET_OK;
}

/* What every piece of work asks first: can it run as it is told? */
static stonet_status check_machine(int *threads)
{
    const int asked = *threads;
    *threads = sn_bounded_threads(asked);
    if (asked >= 0) {
        SN_TRY(sn_isa_check());
        sn_blas_mend(NULL);
        return STONET_OK;
    }
    return sn_fail(STONET_ERROR_ARGUMENT,
                   "%d threads are not possible: give 1 or more, or 0 for OMP_NUM_THREADS or all cores",
                   asked);
}

/* An array of texts of the caller: there is one, and none of its texts is NULL. */
static stonet_status check_texts(const char *const *text, int64_t count, const char *what)
{
    if (count < 0 || (count > 0 && text == NULL))
        return sn_fail(STONET_ERROR_ARGUMENT, "%s: the number of texts is %lld, and there is no such array",
                       what, (long long)count);
    for (int64_t i = 0; i < count; i++)
        if (text[i] == NULL)
            return sn_fail(STONET_ERROR_ARGUMENT, "%s: text %lld of %lld is NULL", what, (long long)i + 1,
                           (long long)count);
    return STONET_OK;
}

stonet_status sn_take_kept_run(const stonet_run *from, stonet_run *to)
{
    SN_TRY(SN_TAKE_OPTIONS(stonet_run, STONET_RUN_INIT, from, to));
    SN_TRY(check_machine(&to->threads));
    sn_blas_mend(to);
    return STONET_OK;
}

stonet_status sn_take_run(const stonet_run *from, stonet_run *to)
{
    SN_TRY(sn_take_kept_run(from, to));
    to->checkpoint = NULL;
    to->team = NULL;
    return STONET_OK;
}

stonet_status sn_take_read_options(const stonet_read_options *from, stonet_read_options *to)
{
    SN_TRY(SN_TAKE_OPTIONS(stonet_read_options, STONET_READ_OPTIONS_INIT, from, to));
    SN_TRY(check_texts(to->ordinal, to->n_ordinal, "ordinal of stonet_read_options"));
    return check_machine(&to->threads);
}

stonet_status sn_take_use_options(const stonet_use_options *from, stonet_use_options *to)
{
    SN_TRY(SN_TAKE_OPTIONS(stonet_use_options, STONET_USE_OPTIONS_INIT, from, to));
    return check_machine(&to->threads);
}

stonet_status sn_take_tune_options(const stonet_tune_options *from, stonet_tune_options *to)
{
    SN_TRY(SN_TAKE_OPTIONS(stonet_tune_options, STONET_TUNE_OPTIONS_INIT, from, to));
    if (to->grid == NULL) return STONET_OK;
    return check_texts(to->grid, to->n_grid, "grid of stonet_tune_options");
}
