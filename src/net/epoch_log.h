/*
 * The training history of a network: one row an epoch, as CSV text that grows. Whatever is trained, the
 * columns are those of SN_EPOCH_LOG_HEADER; the loss is that of net/loss.h, the mean over the epoch's rows.
 */
#pragma once

#include "base/status.h"

#define SN_EPOCH_LOG_HEADER "stage,epoch,loss,lr"

typedef struct sn_epoch_log {
    char *text; /* NULL while empty */
    size_t length, room;
} sn_epoch_log;

typedef struct sn_epoch_row {
    const char *stage; /* without a comma */
    int64_t epoch;     /* from 1; SDR stage: the iteration */
    double loss, lr;
} sn_epoch_row;

stonet_status sn_epoch_log_add(sn_epoch_log *history, const sn_epoch_row *row);
/* Replaces it by the text of another one. */
stonet_status sn_epoch_log_take(sn_epoch_log *history, const char *text, size_t length);
void sn_epoch_log_free(sn_epoch_log *history);
