#include "net/epoch_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

static stonet_status append(sn_epoch_log *history, const char *line, size_t length)
{
    if (history->length + length + 1 > history->room) {
        const size_t room = 2 * (history->length + length) + 1024;
        char *grown = sn_realloc(history->text, room, 1);
        if (grown == NULL) return STONET_ERROR_MEMORY;
        history->text = grown;
        history->room = room;
    }
    memcpy(history->text + history->length, line, length);
    history->length += length;
    history->text[history->length] = '\0';
    return STONET_OK;
}

stonet_status sn_epoch_log_add(sn_epoch_log *history, const sn_epoch_row *row)
{
    if (history->length == 0)
        SN_TRY(append(history, SN_EPOCH_LOG_HEADER "\n", strlen(SN_EPOCH_LOG_HEADER "\n")));
    char line[160];
    sn_format(line, sizeof line, "%.40s,%" PRId64 ",%.9g,%.6g\n", row->stage, row->epoch, row->loss, row->lr);
    return append(history, line, strlen(line));
}

stonet_status sn_epoch_log_take(sn_epoch_log *history, const char *text, size_t length)
{
    sn_epoch_log_free(history);
    return length > 0 ? append(history, text, length) : STONET_OK;
}

void sn_epoch_log_free(sn_epoch_log *history)
{
    sn_free(history->text);
    *history = (sn_epoch_log){0};
}
