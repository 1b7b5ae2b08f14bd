/* Shared by tests of what reads rows from a source. */
#pragma once

#include "data/rows.h"

/* The `prepare` of a source whose rows can always be fetched. */
static stonet_status rows_are_ready(const sn_row_source *source, const sn_rows *rows)
{
    (void)source;
    (void)rows;
    return STONET_OK;
}
