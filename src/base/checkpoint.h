/*
 * A checkpoint holds records of finished work (base/pack.h) on disk, under names. With it a job that was
 * ended in the middle goes on. The calls of stonet.h open it; here is what the rooms put into it.
 *
 * The file is written whole under a temporary name, synced and renamed. So there is always the newest file or
 * the one before. A checksum tells when the disk has changed the file. It holds the work of one job, known by
 * a hash of all that the result depends on: data, settings, seed, version. Another job gets nothing from it.
 *
 * One call at a time uses a checkpoint. Inside a call every function may be called from any thread, and with
 * NULL, which keeps nothing. A checkpoint without a file is for fits that have a training in common. In a
 * team rank 0 has the file, and the handles of the others keep nothing.
 */
#pragma once

#include <stdbool.h>

#include "base/hash.h"
#include "base/team.h"

enum { SN_KEY_SIZE = 96 }; /* of a record's name, with its end */

/* Whether this process keeps nothing: there is no checkpoint, or another rank has it. If so, the caller
   leaves out sn_checkpoint_begin. */
bool sn_checkpoint_is_elsewhere(const stonet_run *run);
/* What a call begins with: its records are apart from those of the calls before it (tune, then fit). An error
   when the file was there and has nothing of this call, which `job` ("fit") names in the sentence. Says
   through run that it goes on. */
stonet_status sn_checkpoint_begin(stonet_checkpoint *checkpoint, const char *job, const sn_hash *hash,
                                  const stonet_run *run);
/* And ends with: what the file does not have yet is written. */
stonet_status sn_checkpoint_end(stonet_checkpoint *checkpoint, stonet_status status);

/* Whether it outlives the process. */
bool sn_checkpoint_is_file(const stonet_checkpoint *checkpoint);
bool sn_checkpoint_has(stonet_checkpoint *checkpoint, const char *key);
/* A copy of a record into `out`, to be cleared by the caller; empty when there is none. */
stonet_status sn_checkpoint_get(stonet_checkpoint *checkpoint, const char *key, sn_pack *out);
/* The same of a record that all ranks of a team are to go on from; by all of them together. */
stonet_status sn_checkpoint_get_shared(stonet_checkpoint *checkpoint, stonet_team *team, const char *key,
                                       sn_pack *out);
stonet_status sn_checkpoint_has_shared(stonet_checkpoint *checkpoint, stonet_team *team, const char *key,
                                       bool *has);
/* Keeps a record in the place of the one before, and writes the file if it is time to. */
stonet_status sn_checkpoint_put(stonet_checkpoint *checkpoint, const char *key, const sn_pack *record);
void sn_checkpoint_drop(stonet_checkpoint *checkpoint, const char *key);
/* Whether what was last kept at `since` (base/run.h, sn_seconds) should be kept anew. */
bool sn_checkpoint_due(const stonet_checkpoint *checkpoint, double since);
