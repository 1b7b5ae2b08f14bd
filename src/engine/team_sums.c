/*
 * A node of the tree belongs to the rank that holds its first shard. Level by level, whoever holds the right
 * half of a node sends it to who holds the left half, if that is another; what lies within one rank is added
 * there before. At the end rank 0 has the root and gives it to all. Which rank adds what changes nothing
 * about what is added to what.
 */
#include "engine/team_sums.h"

#include <string.h>

#include "base/memory.h"

/* The rank that holds shard v of V. */
static int owner(const stonet_team *team, int shards, int v)
{
    const int ranks = stonet_team_ranks(team), at = v * (SN_MAX_SHARDS / shards);
    /* the largest r with floor(64 r / R) <= at: such ranks hold something */
    int rank = (int)(((int64_t)(at + 1) * ranks - 1) / SN_MAX_SHARDS);
    return rank < ranks ? rank : ranks - 1;
}

void sn_team_shards(const stonet_team *team, int shards, int *first, int *count)
{
    *first = 0;
    *count = shards;
    if (!sn_team_shares(team) || shards == 1) return;
    const int rank = stonet_team_rank(team);
    *count = 0;
    for (int v = shards - 1; v >= 0; v--)
        if (owner(team, shards, v) == rank) {
            *first = v;
            ++*count;
        }
}

sn_rows sn_team_rows(const stonet_team *team, const sn_rows *rows, sn_shards *shards)
{
    int first, count;
    sn_shards_whole(rows->n, shards);
    sn_team_shards(team, shards->total, &first, &count);
    const int64_t begin = shards->border[first], end = shards->border[first + count];
    for (int v = 0; v <= count; v++) shards->border[v] = shards->border[first + v] - begin;
    shards->first = first;
    shards->count = count;
    return sn_rows_part(rows, begin, end - begin);
}

/* Bytes of a root on the way: loss, weight, and the gradient as floats where it is of floats. */
static size_t message_size(const sn_sums *sums)
{
    return 2 * sizeof(double) + (size_t)sums->parameters * (sums->single ? sizeof(float) : sizeof(double));
}

static void write_root(const sn_sums *sums, const sn_root *root, unsigned char *to)
{
    const double rest[2] = {root->loss, root->weight};
    memcpy(to, rest, sizeof rest);
    if (!sums->single) {
        if (sums->parameters > 0)
            memcpy(to + sizeof rest, root->gradient, (size_t)sums->parameters * sizeof(double));
        return;
    }
    float *numbers = (float *)(void *)(to + sizeof rest);
    for (int64_t j = 0; j < sums->parameters; j++) numbers[j] = (float)root->gradient[j];
}

static void read_root(const sn_sums *sums, const unsigned char *from, sn_root *root)
{
    double rest[2];
    memcpy(rest, from, sizeof rest);
    root->loss = rest[0];
    root->weight = rest[1];
    if (!sums->single) {
        if (sums->parameters > 0)
            memcpy(root->gradient, from + sizeof rest, (size_t)sums->parameters * sizeof(double));
        return;
    }
    const float *numbers = (const float *)(const void *)(from + sizeof rest);
    for (int64_t j = 0; j < sums->parameters; j++) root->gradient[j] = (double)numbers[j];
}

static stonet_status send_root(stonet_team *team, sn_sums *sums, int first, int to, unsigned char *room)
{
    int at = 0;
    while (at < sums->roots && sums->root[at].first != first) at++;
    if (at == sums->roots)
        return sn_fail(STONET_ERROR_ARGUMENT, "the sum from shard %d on is missing", first);
    write_root(sums, &sums->root[at], room);
    const sn_root gone = sums->root[at]; /* its room stays, after the last one */
    for (; at + 1 < sums->roots; at++) sums->root[at] = sums->root[at + 1];
    sums->root[at] = gone;
    sums->roots--;
    return sn_team_send(team, to, SN_TAG_SUMS, room, message_size(sums));
}

static stonet_status receive_root(stonet_team *team, sn_sums *sums, int first, int count, int from,
                                  unsigned char *room)
{
    SN_TRY(sn_team_receive(team, from, SN_TAG_SUMS, room, message_size(sums)));
    SN_TRY(sn_sums_add(sums, first, count));
    read_root(sums, room, &sums->root[sums->roots - 1]);
    sn_sums_close(sums);
    return STONET_OK;
}

static stonet_status climb(stonet_team *team, sn_sums *sums, unsigned char *room)
{
    const int rank = stonet_team_rank(team), shards = sums->shards;
    for (int half = 1; half < shards; half *= 2)
        for (int first = 0; first < shards; first += 2 * half) {
            const int left = owner(team, shards, first), right = owner(team, shards, first + half);
            if (left == right) continue;
            if (rank == right) SN_TRY(send_root(team, sums, first + half, left, room));
            if (rank == left) SN_TRY(receive_root(team, sums, first + half, half, right, room));
        }
    return STONET_OK;
}

static stonet_status give_to_all(stonet_team *team, sn_sums *sums, unsigned char *room)
{
    const int holder = owner(team, sums->shards, 0);
    if (stonet_team_rank(team) == holder)
        write_root(sums, &sums->root[0], room);
    else
        SN_TRY(sn_sums_add(sums, 0, sums->shards));
    SN_TRY(sn_team_spread(team, holder, room, message_size(sums)));
    read_root(sums, room, &sums->root[0]);
    return STONET_OK;
}

stonet_status sn_team_join_sums(void *user, sn_sums *sums)
{
    stonet_team *team = user;
    SN_ARRAY(message_size(sums), unsigned char, room);
    SN_TRY(climb(team, sums, room));
    return give_to_all(team, sums, room);
}
