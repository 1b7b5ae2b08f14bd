#include "choice/incomplete.h"

#include <math.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "net/forward.h"

enum {
    DRAWS =
        100, /* the log of a mean of D draws is too low by its relative variance / 2D: sharp networks lose */
    BLOCK = 512, /* rows at a time */
    ROUNDS = 200 /* of EM, at most */
};
static const double CLOSE = 1e-6; /* of v, from one round of EM to the next */

static bool draws_cells(const sn_problem *problem)
{
    return problem->joint && problem->source != NULL && problem->source->gaps != NULL;
}

/* The held-out rows of a fold that have gaps. */
typedef struct open_rows {
    const sn_use *network;
    int64_t n, outputs;
    int64_t *row, *at; /* the row, and the place of its loss */
    double *weight;
    double *error; /* n x DRAWS: |y - f|^2, or the loss of a class or of mean and spread */
    double *share; /* n x outputs: mean probabilities of classes, else NULL */
} open_rows;

static void list_rows(const sn_folds *folds, int fold, open_rows *open)
{
    const sn_fold *of = &folds->fold[fold];
    const sn_problem *problem = open->network->problem;
    for (int64_t i = 0; i < of->test.n; i++) {
        const int64_t row = sn_rows_at(&of->test, i);
        if (problem->source->gaps(problem->source, row) == SN_GAPS_NONE) continue;
        open->row[open->n] = row;
        open->at[open->n] = of->first + i;
        open->weight[open->n++] = sn_folds_weight(folds, problem, row);
    }
}

/* Whether the outputs are a law of their own: classes, or mean and spread. */
static bool has_law(const open_rows *open)
{
    return open->network->problem->task == SN_CLASSIFICATION || open->network->shape->spread;
}

/* The errors of n rows at a draw, from mu (n x outputs). */
static void take_errors(const open_rows *open, int64_t first, int64_t n, int draw, const float *mu,
                        double *room)
{
    const sn_use *use = open->network;
    const int64_t m = open->outputs;
    for (int64_t i = first; i < first + n; i++, mu += m) {
        bool wrong;
        const double loss = sn_row_loss(use->shape, use->problem, open->row[i], mu, room, &wrong);
        open->error[i * DRAWS + draw] = has_law(open) ? loss : 2.0 * loss;
        if (open->share == NULL) continue;
        for (int64_t k = 0; k < m; k++) room[k] = (double)mu[k];
        sn_softmax(1, m, room);
        for (int64_t k = 0; k < m; k++) open->share[i * m + k] += room[k] / DRAWS;
    }
}

static stonet_status measure(const open_rows *open)
{
    const sn_use *use = open->network;
    const int64_t p = use->problem->p, m = open->outputs, most = open->n < BLOCK ? open->n : BLOCK;
    SN_ARRAY(most * p, float, x);
    SN_ARRAY(most * m, float, mu);
    SN_ARRAY(m, double, room);
    const sn_rows all = sn_rows_list(open->row, open->n);
    const sn_forward_job to = {
        .shape = use->shape, .theta = use->theta, .layer = use->shape->layers, .threads = use->threads};
    SN_TRY(sn_batch_prepare(use->problem, &all));
    for (int64_t first = 0; first < open->n; first += most) {
        const sn_rows rows = sn_rows_part(&all, first, open->n - first < most ? open->n - first : most);
        for (int draw = 0; draw < DRAWS; draw++) {
            sn_batch batch = {.x = x, .x_stride = p, .draw = (uint32_t)draw + 1};
            sn_batch_fetch(use->problem, &rows, &batch);
            SN_TRY(sn_forward(&to, rows.n, x, mu));
            take_errors(open, first, rows.n, draw, mu, room);
        }
    }
    return STONET_OK;
}

/* -log mean_d exp(-scale e_d); *mean: the mean of e_d, each counting exp(-scale e_d). */
static double soft_least(const double *e, double scale, double *mean)
{
    double least = e[0], sum = 0.0, total = 0.0;
    for (int d = 1; d < DRAWS; d++) least = fmin(least, e[d]);
    for (int d = 0; d < DRAWS; d++) {
        const double w = exp(-scale * (e[d] - least));
        sum += w;
        total += w * e[d];
    }
    *mean = total / sum;
    return scale * least - log(sum / DRAWS);
}

static void judge_laws(const open_rows *open, sn_held_out *losses)
{
    const int64_t m = open->outputs;
    for (int64_t i = 0; i < open->n; i++) {
        double mean;
        losses->loss[open->at[i]] = open->weight[i] * soft_least(open->error + i * DRAWS, 1.0, &mean);
        if (open->share == NULL) continue;
        const double *share = open->share + i * m;
        const int32_t label = sn_problem_label(open->network->problem, open->row[i]);
        int64_t best = 0;
        for (int64_t k = 1; k < m; k++)
            if (share[k] > share[best]) best = k;
        losses->wrong[open->at[i]] = best != label ? open->weight[i] : 0.0;
    }
}

/* The v of EM: `known` is the sum of weighted squared errors of rows without gaps, `weights` that of all
   weights. It begins with all draws counting the same. */
static double variance_of(const open_rows *open, double known, double weights)
{
    double v = 0.0, before = (double)INFINITY;
    for (int round = 0; round < ROUNDS && fabs(v - before) > CLOSE * v; round++) {
        double sum = known, mean;
        before = v;
        for (int64_t i = 0; i < open->n; i++) {
            (void)soft_least(open->error + i * DRAWS, round == 0 ? 0.0 : 0.5 / v, &mean);
            sum += open->weight[i] * mean;
        }
        v = sum / (weights * (double)open->outputs);
    }
    return v;
}

static void judge_numbers(const sn_folds *folds, int fold, const open_rows *open, sn_held_out *losses)
{
    const sn_fold *of = &folds->fold[fold];
    const double m = (double)open->outputs;
    double *loss = losses->loss, known = 0.0, weights = 0.0, r = 0.0, mean;
    for (int64_t i = 0; i < open->n; i++) loss[open->at[i]] = 0.0;
    for (int64_t i = 0; i < of->test.n; i++) {
        weights += sn_folds_weight(folds, open->network->problem, sn_rows_at(&of->test, i));
        known += 2.0 * loss[of->first + i];
    }
    const double v = variance_of(open, known, weights);
    if (v == 0.0) return;
    for (int64_t i = 0; i < open->n; i++)
        loss[open->at[i]] = open->weight[i] * v * soft_least(open->error + i * DRAWS, 0.5 / v, &mean);
    for (int64_t i = 0; i < of->test.n; i++) r += loss[of->first + i] / (v * weights);
    const double factor = exp(2.0 * r / m - 1.0);
    for (int64_t i = 0; i < of->test.n; i++) {
        const double weight = sn_folds_weight(folds, open->network->problem, sn_rows_at(&of->test, i));
        loss[of->first + i] = factor * (loss[of->first + i] + weight * v * (m / 2.0 - r));
    }
}

stonet_status sn_incomplete_judge(const sn_folds *folds, int fold, const sn_use *network, sn_held_out *losses)
{
    const sn_problem *problem = network->problem;
    const int64_t n = folds->fold[fold].test.n, m = network->shape->width[network->shape->layers];
    if (!draws_cells(problem)) return STONET_OK;
    open_rows open = {.network = network, .outputs = m};
    SN_WORKSPACE(scratch);
    SN_TRY(SN_TAKE(&scratch, open.row, n));
    SN_TRY(SN_TAKE(&scratch, open.at, n));
    SN_TRY(SN_TAKE(&scratch, open.weight, n));
    list_rows(folds, fold, &open);
    if (open.n == 0) return STONET_OK;
    SN_TRY(SN_TAKE(&scratch, open.error, open.n * DRAWS));
    if (problem->task == SN_CLASSIFICATION) SN_TRY(SN_TAKE_ZERO(&scratch, open.share, open.n * m));
    SN_TRY(measure(&open));
    if (has_law(&open))
        judge_laws(&open, losses);
    else
        judge_numbers(folds, fold, &open, losses);
    return STONET_OK;
}

stonet_status sn_loss_of_rows(const sn_use *use, const sn_rows *rows, stonet_team *team, double *loss)
{
    if (!draws_cells(use->problem)) return sn_engine_loss(use, rows, team, loss);
    sn_fold all = {.test = *rows};
    sn_folds folds = {.count = 1, .fold = &all, .rows = rows->n};
    for (int64_t i = 0; i < rows->n; i++)
        folds.average += sn_problem_weight(use->problem, sn_rows_at(rows, i)) / (double)rows->n;
    SN_FREED_BY(sn_held_out_free) sn_held_out losses = {0};
    SN_TRY(sn_held_out_create(&folds, &losses));
    SN_TRY(sn_folds_measure(&folds, 0, use, &losses));
    *loss = sn_mean_loss(losses.loss, 0, folds.rows);
    return STONET_OK;
}
