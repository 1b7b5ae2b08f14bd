#include "base/failure.h"

#include <stdio.h>

void sn_failure_note(sn_failure *failure, int64_t piece, stonet_status status)
{
    if (status == STONET_OK) return;
#pragma omp critical(sn_failure)
    if (failure->status == STONET_OK || piece < failure->piece) {
        failure->status = status;
        failure->piece = piece;
        snprintf(failure->sentence, sizeof failure->sentence, "%s", stonet_last_error());
    }
}

stonet_status sn_failure_raise(const sn_failure *failure)
{
    return failure->status == STONET_OK ? STONET_OK : sn_fail(failure->status, "%s", failure->sentence);
}
