#include "stonet/path.h"

#include "base/memory.h"
#include "stonet/refit.h"

stonet_status sn_path_create(const sn_stage_job *job, const sn_shape *shape, const sn_config *config,
                             const sn_holdout *holdout, float *const *start, sn_path **out)
{
    sn_path *path;
    SN_TRY(SN_NEW(path, 1));
    path->shape = *shape;
    path->holdout = holdout;
    path->start = start;
    for (int k = 0; k < holdout->folds; k++) {
        path->config[k] = *config;
        path->job[k] = *job;
        path->job[k].problem = holdout->fold[k].problem;
        path->job[k].shape = &path->shape;
        path->job[k].config = &path->config[k];
        path->job[k].rows = holdout->fold[k].train;
        path->job[k].history = NULL;
    }
    *out = path;
    return STONET_OK;
}

void sn_path_free(sn_path *path)
{
    if (path == NULL) return;
    for (int k = 0; k < SN_MAX_FOLDS; k++) {
        sn_trainer_free(path->trainer[k]);
        for (int l = 0; l < SN_PATH_LENGTHS; l++) sn_free(path->theta[l][k]);
        sn_pack_clear(&path->state[k]);
    }
    sn_free(path);
}

/* A schedule that ends with the run must begin anew for another length. */
static stonet_status ready_trainer(sn_path *path, int k, int64_t updates, int threads)
{
    sn_config *config = &path->config[k];
    if (config->schedule.kind == SN_LINEAR) {
        sn_trainer_free(path->trainer[k]);
        path->trainer[k] = NULL;
        sn_pack_clear(&path->state[k]);
    }
    if (path->trainer[k] != NULL) return STONET_OK;
    config->epochs = (double)updates / (double)sn_train_batches(config, path->job[k].rows.n);
    path->job[k].threads = threads;
    SN_TRY(sn_trainer_create(&path->job[k], path->start[k], &path->trainer[k]));
    if (path->state[k].size == 0) return STONET_OK;
    sn_unpack from = {path->state[k].bytes, path->state[k].size};
    SN_TRY(sn_trainer_unpack(path->trainer[k], &from));
    sn_pack_clear(&path->state[k]);
    return sn_unpack_end(&from);
}

static stonet_status refit(const sn_path *path, int k, int threads, float *theta)
{
    const sn_engine_ops *ops = path->config[k].engine;
    sn_engine *engine;
    SN_TRY(ops->create(&path->shape, path->job[k].problem, 0, threads, &engine));
    stonet_status status = sn_refit_output(engine, &path->shape, path->job[k].problem, &path->job[k].rows,
                                           path->job[k].team, path->job[k].run, theta);
    ops->free(engine);
    return status;
}

stonet_status sn_path_make_room(sn_path *path, int length)
{
    for (int k = 0; k < path->holdout->folds; k++)
        if (path->theta[length][k] == NULL) SN_TRY(SN_NEW(path->theta[length][k], path->shape.parameters));
    return STONET_OK;
}

stonet_status sn_path_run(sn_path *path, sn_path_piece *piece)
{
    const int k = piece->fold;
    float *theta = path->theta[piece->length][k];
    SN_TRY(ready_trainer(path, k, piece->updates, piece->threads));
    SN_TRY(sn_trainer_keep_at(path->trainer[k], piece->key));
    SN_TRY(sn_trainer_run(path->trainer[k], piece->updates));
    SN_TRY(sn_trainer_keep_at(path->trainer[k], NULL));
    piece->diverged = sn_trainer_report(path->trainer[k])->outcome == STONET_DIVERGED;
    sn_trainer_parameters(path->trainer[k], theta);
    if (path->config[k].refit_output) SN_TRY(refit(path, k, piece->threads, theta));
    return sn_held_out_measure(path->holdout, k, path->config[k].engine, &path->shape, theta, piece->threads,
                               piece->loss, &piece->errors);
}

stonet_status sn_path_pack(const sn_path *path, const sn_path_piece *piece, sn_pack *pack)
{
    const sn_fold *fold = &path->holdout->fold[piece->fold];
    const size_t rows = (size_t)fold->test.n, parameters = (size_t)path->shape.parameters;
    SN_TRY(sn_pack_real(pack, piece->errors));
    SN_TRY(sn_pack_int(pack, piece->diverged));
    SN_TRY(sn_pack_bytes(pack, piece->loss + fold->first, rows * sizeof *piece->loss));
    SN_TRY(sn_pack_bytes(pack, path->theta[piece->length][piece->fold], parameters * sizeof(float)));
    return sn_trainer_pack(path->trainer[piece->fold], pack);
}

stonet_status sn_path_unpack(sn_path *path, sn_path_piece *piece, sn_unpack *from)
{
    const int k = piece->fold;
    const sn_fold *fold = &path->holdout->fold[k];
    int64_t diverged;
    SN_TRY(sn_unpack_real(from, &piece->errors));
    SN_TRY(sn_unpack_int(from, &diverged));
    SN_TRY(sn_unpack_bytes(from, piece->loss + fold->first, (size_t)fold->test.n * sizeof *piece->loss));
    SN_TRY(
        sn_unpack_bytes(from, path->theta[piece->length][k], (size_t)path->shape.parameters * sizeof(float)));
    piece->diverged = diverged != 0;
    sn_trainer_free(path->trainer[k]);
    path->trainer[k] = NULL;
    sn_pack_clear(&path->state[k]);
    SN_TRY(sn_pack_bytes(&path->state[k], from->at, from->left));
    *from = (sn_unpack){0};
    return STONET_OK;
}
