/* Work on several threads that may fail: the failure of the first piece, with its sentence, which is kept per
   thread and would stay behind on another one. */
#pragma once

#include "base/status.h"

/* Begins zeroed. */
typedef struct sn_failure {
    stonet_status status;
    int64_t piece;
    char sentence[1024];
} sn_failure;

/* Notes what a piece has come to; on any thread, which must be the one that it was done on. */
void sn_failure_note(sn_failure *failure, int64_t piece, stonet_status status);
/* The status of the first piece that failed, its sentence now that of the calling thread. */
stonet_status sn_failure_raise(const sn_failure *failure);
