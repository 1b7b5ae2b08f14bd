/* Grids of settings: "NAME=a,b,c" or "NAME/NAME=a/b,c/d" texts, their points, and the methods' own. */
#pragma once

#include "model/model.h"

/* Copies of a spec, each at one point of a grid. */
typedef struct sn_points {
    stonet_spec **spec;
    int64_t count;
} sn_points;

/* The points of the grid of `entries` around `base`, in the order of the grid (the last entry varies
   fastest); trials > 0: that many different ones at random. No entries: base alone. */
stonet_status sn_points_create(const stonet_spec *base, const char *const *entries, int64_t n_entries,
                               int64_t trials, uint64_t seed, sn_points *out);
void sn_points_free(sn_points *points);

/* Whether an entry of a grid for several methods is for this spec; *own is then the entry without the method.
   An entry for all methods is for those that have its settings. */
bool sn_grid_entry_is_for(const char *entry, const stonet_spec *spec, const char **own);

/* The method's own grid for the given tasks (SN_TASK_*): how many entries, 0 when there is nothing to tune.
 */
int64_t sn_default_grid(const sn_method *method, unsigned tasks, const char *out[SN_MAX_GRID_ENTRIES]);
