/* The data folder: given splits, further partitions, folds. Functions give a status with a sentence. */
#ifndef PAPER_DATASETS_H
#define PAPER_DATASETS_H

#include "paper/fits.h"

/* Whether the folder has FOLDER/FILE. */
bool has_file(const lab *self, const char *path);

/* Split number `trial` of one of the six binary sets: the given ones as far as they go, then random
   partitions of the same rows in the same sizes. */
stonet_status binary_split(const lab *self, const char *name, int64_t trial, split *out);

/* The first `per_class` training images of each digit (0: all images) and the 10,000 test images. */
stonet_status mnist_split(const lab *self, int64_t per_class, split *out);

/* Fold 1..10 of uci-NAME by its mask. */
stonet_status uci_fold(const lab *self, const char *name, int64_t fold, split *out);

/* The CT slices without the patient's number as a feature. */
enum { CT_ROWS = 53500 };
typedef struct ct_table {
    stonet_data *data;
    float *x;         /* behind data */
    int64_t *patient; /* of each row */
} ct_table;
void ct_free(ct_table *self);
/* STONET_ERROR_DATA, with how many rows there are, when the file in the folder is not whole. */
stonet_status ct_read(const lab *self, ct_table *out);
/* A fifth of the rows held out at random; by patient: all rows of a tenth of the patients. */
stonet_status ct_split(const lab *self, const ct_table *table, bool by_patient, int64_t trial, split *out);

#endif
