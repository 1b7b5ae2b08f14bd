/* One setting (a network, an activation, a weight decay) trained on every fold, one length after the other.
 */
#ifndef SN_STONET_PATH_H
#define SN_STONET_PATH_H

#include "stonet/holdout.h"

typedef struct sn_path {
    sn_shape shape;
    const sn_holdout *holdout;
    float *const *start;            /* of each fold: parameters to begin with */
    sn_config config[SN_MAX_FOLDS]; /* of each fold */
    sn_stage_job job[SN_MAX_FOLDS];
    sn_trainer *trainer[SN_MAX_FOLDS];
    float *theta[SN_MAX_FOLDS]; /* what the latest length of each fold has reached */
} sn_path;

/* The job is a template (problem, seed, run); start must outlive the path. */
stonet_status sn_path_create(const sn_stage_job *job, const sn_shape *shape, const sn_config *config,
                             const sn_holdout *holdout, float *const *start, sn_path **out);
/* Trains fold k to `updates` and measures its held-out rows: their losses into loss, which has a place for
   those of all folds. Folds do not depend on each other and may run side by side. */
stonet_status sn_path_run_fold(sn_path *path, int k, int64_t updates, int threads, double *loss,
                               double *errors, bool *diverged);
void sn_path_free(sn_path *path);

#endif
