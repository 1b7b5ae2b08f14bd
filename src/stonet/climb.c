#include "stonet/climb.h"

#include <math.h>

enum {
    START_DECAY = 3, /* .01 */
    ANY_DATA = 2,    /* 3000 updates, which any data is worth */
    EARLIER = 2      /* lengths before the present one at which another activation is looked at */
};

/* Three times the updates cost three times the time and must earn it; another activation is a leap, not a
   step. */
static const sn_lead STEP = {0.5, 0.002, 2.0}, LEAP = {1.0, 0.02, 1.0};
static const double LEAP_BEHIND =
    2.0; /* standard errors at a third of the length that a leap does not make up */
static const double MORE_THAN_LINEAR = 2.0, LEVEL = 1.0; /* times; standard errors */
static const double LARGER_PART = 0.5; /* of what the linear model explains: something is found */
/* Of many rows a training that takes about a second (rows looked at x parameters) is not worth the part of
   the loss that LEAP asks for, but this one. */
static const double SHORT_WORK = 4e9, SHORT_SHARE = 0.005;

typedef sn_searcher searcher;
typedef sn_point point;

static bool move_if_better(searcher *s, point to, sn_lead by)
{
    const bool better = sn_is_better(s, to, by);
    if (better) s->at = to;
    return better;
}

/* Those of the decays beside the present one that may be better. */
static stonet_status consider_decays(searcher *s, const point *points, int count)
{
    point some[2];
    int n = 0;
    for (int k = 0; k < count; k++)
        if (sn_worth_trying(s, points[k]) && !sn_falls_behind(s, points[k])) some[n++] = points[k];
    return sn_consider(s, some, n, STEP);
}

/* Along the weight decays at the present length, both ways at first. */
static stonet_status climb_decays(searcher *s)
{
    if (!s->config->auto_decay) return STONET_OK;
    point both[2] = {s->at, s->at};
    both[0].decay--;
    both[1].decay++;
    SN_TRY(consider_decays(s, both, 2));
    for (int way = -1; way <= 1; way += 2) {
        for (bool moved = true; moved;) {
            point to = s->at;
            to.decay += way;
            SN_TRY(consider_decays(s, &to, 1));
            moved = move_if_better(s, to, STEP);
        }
    }
    return STONET_OK;
}

/* Whether the present point is clearly better than a constant guess, or the linear model is and the point has
   found the larger part of that. */
bool sn_found_something(searcher *s)
{
    const sn_held_out *now = sn_cost_at(s, s->at);
    if (!isfinite(now->mean)) return false;
    const sn_difference gain = sn_held_out_difference(&s->baseline.constant, now, 0, s->holdout.rows);
    if (gain.mean > 2.0 * gain.se) return true;
    return sn_baseline_finds(&s->baseline, &s->holdout) == SN_FINDS &&
           gain.mean > LARGER_PART * (s->baseline.constant.mean - s->baseline.linear.mean);
}

/* A longer training at the next stronger decay: what is learnt in a short training with little decay, a long
   one learns with more, where a longer one with the same would begin to follow the noise. (With much decay it
   hardly ever helps.) */
static stonet_status climb_aslant(searcher *s, bool *moved)
{
    point to = s->at;
    to.decay++;
    to.length++;
    if (!s->config->auto_decay || to.decay > START_DECAY) return STONET_OK;
    if (!sn_worth_trying(s, to) || sn_falls_behind(s, to)) return STONET_OK;
    SN_TRY(sn_consider(s, &to, 1, LEAP));
    *moved = move_if_better(s, to, LEAP);
    return STONET_OK;
}

/* Whether the present point explains more than the linear model by so much that it is the shape of a function
   that is learnt, which may take longer than shows at a short length. */
static bool finds_more(searcher *s)
{
    const double constant = s->baseline.constant.mean, linear = s->baseline.linear.mean;
    const double straight = isfinite(linear) ? fmax(constant - linear, 0.0) : 0.0;
    return constant - sn_cost_at(s, s->at)->mean > MORE_THAN_LINEAR * straight;
}

/* A longer training at the next weaker decay, where that is level at this length: strong decay may look well
   for no other reason than that a short training with less of it has only begun to learn. Of few rows alone:
   of many, noise does not hide it. */
static stonet_status climb_back(searcher *s, bool *moved)
{
    point weaker = s->at, to = s->at;
    to.decay = --weaker.decay;
    to.length++;
    if (!s->config->auto_decay || s->holdout.folds == 1 || !finds_more(s) || !sn_worth_trying(s, to) ||
        !sn_has_cost(s, weaker) || !isfinite(sn_cost_at(s, weaker)->mean))
        return STONET_OK;
    const sn_difference lag =
        sn_held_out_difference(sn_cost_at(s, weaker), sn_cost_at(s, s->at), 0, s->holdout.rows);
    if (lag.mean > LEVEL * lag.se) return STONET_OK;
    SN_TRY(sn_consider(s, &to, 1, LEAP));
    *moved = move_if_better(s, to, LEAP);
    return STONET_OK;
}

/* What a longer training must be better by. */
static sn_lead longer_lead(const searcher *s, point to)
{
    sn_lead by = LEAP;
    if (s->holdout.folds > 1 || !s->config->auto_epochs) return by;
    const double looked_at = (double)sn_search_updates[to.length] * (double)s->config->batch;
    if (looked_at * (double)s->shape[to.activation].parameters < SHORT_WORK) by.share = SHORT_SHARE;
    return by;
}

/* Decays and lengths in turn, until neither helps. While nothing is found, lengths that any data is worth are
   tried whether the last one helped or not. */
stonet_status sn_climb(searcher *s)
{
    for (bool moved = true; moved && !sn_should_stop(s->job->run);) {
        SN_TRY(climb_decays(s));
        point longer = s->at;
        do {
            longer.length++;
            SN_TRY(sn_consider(s, &longer, 1, LEAP));
            moved = sn_worth_trying(s, longer) && move_if_better(s, longer, longer_lead(s, longer));
        } while (!moved && sn_worth_trying(s, longer) && longer.length < ANY_DATA && !sn_found_something(s) &&
                 !sn_should_stop(s->job->run));
        if (!moved) SN_TRY(climb_aslant(s, &moved));
        if (!moved) SN_TRY(climb_back(s, &moved));
    }
    return STONET_OK;
}

/* Whether a point was clearly behind the present one at a third of the length. */
static bool was_behind(searcher *s, point to)
{
    point then = to, now = s->at;
    then.length = now.length = to.length - 1;
    if (to.length == 0 || !sn_has_cost(s, then) || !sn_has_cost(s, now)) return false;
    const sn_difference lag =
        sn_held_out_difference(sn_cost_at(s, then), sn_cost_at(s, now), 0, s->holdout.rows);
    return lag.mean > LEAP_BEHIND * lag.se;
}

stonet_status sn_leap(searcher *s)
{
    point to = s->at;
    to.activation = 1 - to.activation;
    if (s->holdout.folds == 1) {
        point early = to;
        early.length = to.length > EARLIER ? to.length - EARLIER : 0;
        while (early.length < to.length) {
            SN_TRY(sn_consider(s, &early, 1, LEAP));
            early.length++;
            if (sn_falls_behind(s, early)) return STONET_OK;
        }
        if (was_behind(s, to)) return STONET_OK;
    }
    point both[] = {to, to};
    both[0].decay--;
    const bool weaker =
        s->config->auto_decay && s->holdout.folds > 1 && to.decay > START_DECAY && finds_more(s);
    SN_TRY(sn_consider(s, weaker ? both : &both[1], weaker ? 2 : 1, LEAP));
    bool moved = weaker && move_if_better(s, both[0], LEAP);
    moved = move_if_better(s, both[1], LEAP) || moved;
    return moved ? sn_climb(s) : STONET_OK;
}

/* Where nothing was found: at a short length a network may do worse than none at every decay but those that
   send it to 0, and find what there is at three or ten times the length. */
static stonet_status look_longer(searcher *s)
{
    const int first = s->config->auto_decay ? START_DECAY : 0, last = s->config->auto_decay ? first + 1 : 0;
    for (point to = {.decay = first}; to.decay <= last; to.decay++) {
        for (to.activation = 0; to.activation < s->activations; to.activation++) {
            for (to.length = 1; to.length <= ANY_DATA; to.length++) {
                if (sn_should_stop(s->job->run)) return STONET_OK;
                SN_TRY(sn_consider(s, &to, 1, STEP));
                if (move_if_better(s, to, STEP)) SN_TRY(sn_climb(s));
                if (sn_found_something(s)) return STONET_OK;
            }
        }
    }
    return STONET_OK;
}

stonet_status sn_search(searcher *s)
{
    s->at = (point){0, s->config->auto_decay ? START_DECAY : 0, 0};
    SN_TRY(sn_consider_both(s, LEAP));
    if (s->activations > 1) move_if_better(s, (point){1, s->at.decay, 0}, LEAP);
    SN_TRY(sn_climb(s));
    if (s->activations > 1 && !sn_should_stop(s->job->run)) SN_TRY(sn_leap(s));
    return s->config->auto_epochs && !sn_found_something(s) ? look_longer(s) : STONET_OK;
}
