/* One setting (a network, an activation, a weight decay) trained on every fold, one length after the other.
 */
#ifndef SN_STONET_PATH_H
#define SN_STONET_PATH_H

#include "stonet/holdout.h"

enum { SN_PATH_LENGTHS = 5 };

typedef struct sn_path {
    sn_shape shape;
    const sn_holdout *holdout;
    float *const *start;            /* of each fold: parameters to begin with */
    sn_config config[SN_MAX_FOLDS]; /* of each fold */
    sn_stage_job job[SN_MAX_FOLDS];
    sn_trainer *trainer[SN_MAX_FOLDS];
    float *theta[SN_PATH_LENGTHS][SN_MAX_FOLDS]; /* what each fold has come to; NULL: no room was made */
    sn_pack state[SN_MAX_FOLDS]; /* of a training that went on elsewhere: where a trainer is to begin */
} sn_path;

/* The job is a template (problem, seed, run); start must outlive the path. */
stonet_status sn_path_create(const sn_stage_job *job, const sn_shape *shape, const sn_config *config,
                             const sn_holdout *holdout, float *const *start, sn_path **out);
/* Room for what a length will come to. */
stonet_status sn_path_make_room(sn_path *path, int length);
/* Fold k, to so many updates, which are the length of that place. */
typedef struct sn_path_piece {
    int fold, length;
    int64_t updates;
    int threads;
    const char *key; /* in the checkpoint while it is trained; NULL: none */
    double *loss;    /* of the held-out rows, with a place for those of all folds */
    double errors;
    bool diverged;
} sn_path_piece;

/* Trains the fold and measures its held-out rows. Folds do not depend on each other and may run side by side.
 */
stonet_status sn_path_run(sn_path *path, sn_path_piece *piece);
/* What that has come to, as a record; and taken over from one, to go on from there. */
stonet_status sn_path_pack(const sn_path *path, const sn_path_piece *piece, sn_pack *pack);
stonet_status sn_path_unpack(sn_path *path, sn_path_piece *piece, sn_unpack *from);
void sn_path_free(sn_path *path);

#endif
