#include "stonet/train_state.h"

#include "base/checkpoint.h"
#include "base/memory.h"
#include "stonet/joint.h"
#include "stonet/latent.h"

static stonet_checkpoint *checkpoint_of(const sn_trainer *t)
{
    return t->job->run != NULL ? t->job->run->checkpoint : NULL;
}

static stonet_status pack_engine(const sn_trainer *t, sn_pack *pack)
{
    const int64_t count = t->job->shape->parameters;
    const size_t bytes = (size_t)count * sizeof(double);
    SN_ARRAY(2 * count, double, room);
    sn_engine_state state = {.parameters = room, .momentum = room + count};
    t->engine->ops->get_state(t->engine, &state);
    SN_TRY(sn_pack_bytes(pack, room, 2 * bytes));
    return sn_pack_int(pack, state.iteration);
}

static stonet_status unpack_engine(sn_trainer *t, sn_unpack *from)
{
    const int64_t count = t->job->shape->parameters;
    int64_t iteration;
    SN_ARRAY(2 * count, double, room);
    SN_TRY(sn_unpack_bytes(from, room, 2 * (size_t)count * sizeof *room));
    SN_TRY(sn_unpack_int(from, &iteration));
    const sn_engine_state state = {room, room + count, (uint32_t)iteration};
    t->engine->ops->set_state(t->engine, &state);
    return STONET_OK;
}

stonet_status sn_trainer_pack(const sn_trainer *t, sn_pack *pack)
{
    const size_t count = (size_t)t->job->shape->parameters;
    const sn_epoch_log *history = t->job->history;
    SN_TRY(sn_pack_bytes(pack, &t->at, sizeof t->at));
    SN_TRY(pack_engine(t, pack));
    SN_TRY(sn_pack_bytes(pack, t->good, count * sizeof *t->good));
    if (t->sum != NULL) SN_TRY(sn_pack_bytes(pack, t->sum, count * sizeof *t->sum));
    if (t->joint != NULL) SN_TRY(sn_joint_pack(t->joint, pack));
    if (t->latent != NULL) SN_TRY(sn_latent_pack(t->latent, pack));
    return sn_pack_block(pack, history != NULL ? history->text : NULL, history != NULL ? history->length : 0);
}

/* Whether a training can have come to these numbers: the file is somebody's, and they are divided by and
   counted up from. */
static bool is_possible(const sn_trainer *t, const sn_train_numbers *all)
{
    const int64_t most = INT64_C(1) << 40;
    const int64_t counts[] = {all->until,      all->from,      all->every, all->count,
                              all->epoch_rows, all->full_done, all->draw,  all->report.iterations,
                              all->iteration};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        if (counts[k] < 0 || counts[k] > most) return false;
    if (t->sum != NULL && all->until > 0 && all->every == 0) return false;
    const stonet_outcome outcome = all->report.outcome;
    return all->iteration <= UINT32_MAX && (outcome == STONET_DONE || outcome == STONET_DIVERGED);
}

/* Same order as sn_trainer_pack. The record comes from a file, so its numbers are checked before they are
   used. */
stonet_status sn_trainer_unpack(sn_trainer *t, sn_unpack *from)
{
    const size_t count = (size_t)t->job->shape->parameters;
    const unsigned char *text;
    size_t length;
    sn_train_numbers all;
    SN_TRY(sn_unpack_bytes(from, &all, sizeof all));
    if (all.parameters != t->job->shape->parameters || !is_possible(t, &all))
        return sn_fail(STONET_ERROR_FORMAT, "the checkpoint has a training of another network");
    SN_TRY(unpack_engine(t, from));
    SN_TRY(sn_unpack_bytes(from, t->good, count * sizeof *t->good));
    if (t->sum != NULL) SN_TRY(sn_unpack_bytes(from, t->sum, count * sizeof *t->sum));
    if (t->joint != NULL) SN_TRY(sn_joint_unpack(t->joint, from));
    if (t->latent != NULL) SN_TRY(sn_latent_unpack(t->latent, from));
    SN_TRY(sn_unpack_block(from, &text, &length));
    if (t->job->history != NULL) SN_TRY(sn_epoch_log_take(t->job->history, (const char *)text, length));
    t->at = all;
    return sn_trainer_refresh(t);
}

stonet_status sn_trainer_keep_at(sn_trainer *t, const char *key)
{
    stonet_checkpoint *checkpoint = checkpoint_of(t);
    /* a front that learns has a state that is not kept: such a training begins anew */
    t->key = checkpoint != NULL && t->learning == NULL ? key : NULL;
    t->kept = sn_seconds();
    SN_FREED_BY(sn_pack_clear) sn_pack record = {0};
    SN_TRY(sn_checkpoint_get_shared(checkpoint, t->job->team, t->key, &record));
    sn_unpack from = {record.bytes, record.size};
    if (record.size > 0) SN_TRY(sn_trainer_unpack(t, &from));
    return sn_unpack_end(&from);
}

stonet_status sn_trainer_keep(sn_trainer *t, bool now)
{
    if (t->key == NULL || stonet_team_rank(t->job->team) > 0) return STONET_OK;
    if (!now && !sn_checkpoint_due(checkpoint_of(t), t->kept)) return STONET_OK;
    SN_FREED_BY(sn_pack_clear) sn_pack record = {0};
    SN_TRY(sn_trainer_pack(t, &record));
    t->kept = sn_seconds();
    return sn_checkpoint_put(checkpoint_of(t), t->key, &record);
}

void sn_trainer_drop(sn_trainer *t)
{
    sn_checkpoint_drop(checkpoint_of(t), t->key);
    t->key = NULL;
}
