/* The training history: one row an epoch, as CSV text that grows. */
#ifndef SN_STONET_EPOCH_LOG_H
#define SN_STONET_EPOCH_LOG_H

#include "base/status.h"

typedef struct sn_epoch_log {
    char *text; /* NULL while empty */
    size_t length, room;
} sn_epoch_log;

typedef struct sn_epoch_row {
    const char *stage;
    int64_t epoch; /* from 1; SDR stage: the iteration */
    double loss, lr;
} sn_epoch_row;

stonet_status sn_epoch_log_add(sn_epoch_log *history, const sn_epoch_row *row);
void sn_epoch_log_free(sn_epoch_log *history);

#endif
