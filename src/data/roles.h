/* What the columns of a table are called, and what becomes of each: the first step of a builder. */
#pragma once

#include "data/builder.h"

/* Names the columns (names: those of the header, or NULL) and finds targets, ids, orders and what is not
   used. */
stonet_status sn_find_roles(sn_builder *builder, const char *const *names, const sn_read_wish *wish);
