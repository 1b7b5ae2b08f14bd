/* Settings, in one place: the paper's, and the grids that are tuned over. */
#ifndef PAPER_PRESETS_H
#define PAPER_PRESETS_H

#include "paper/fits.h"

typedef struct binary_set {
    const char *name;
    int64_t q[2]; /* half and a quarter of the features */
    const char *stonet;
} binary_set;

enum { BINARY_SETS = 6 };
extern const binary_set binary_sets[BINARY_SETS];

/* One hidden layer, MNIST; two hidden layers, CT slices. */
extern const char preset_mnist[], preset_ct[];

/* What table 1 tunes for a method on n training rows. Texts that depend on n go to `room`. */
void table1_grid(const char *method, int64_t n, char room[64], grid *out);

#endif
