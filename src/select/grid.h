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

/* Those that `tuning` asks for; without entries, of the method's own grid for the given tasks (SN_TASK_*). */
stonet_status sn_points_to_tune(const stonet_spec *base, const stonet_tune_options *tuning, unsigned tasks,
                                uint64_t seed, sn_points *out);
