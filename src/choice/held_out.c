#include "choice/held_out.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "choice/incomplete.h"
#include "engine/settle.h"
#include "stats/distributions.h"

stonet_status sn_folds_make(const sn_problem *problem, const sn_rows *rows, uint64_t seed, sn_folds *folds)
{
    const sn_fold_plan plan = {.count = SN_FOLDS, .most = SN_MANY_ROWS, .enough = SN_ENOUGH_ROWS};
    return sn_folds_cut(problem, rows, &plan, seed, folds);
}

stonet_status sn_folds_problem(const sn_folds *folds, int fold, const sn_problem *problem, sn_problem *known)
{
    const sn_row_source *source = problem->source;
    sn_row_source *learned;
    *known = *problem;
    if (source == NULL || source->learned_from == NULL) return STONET_OK;
    SN_TRY(source->learned_from(source, &folds->fold[fold].train, &learned));
    known->source = learned;
    known->keep = NULL; /* of other draws */
    return STONET_OK;
}

void sn_folds_problem_free(const sn_problem *problem, sn_problem *known)
{
    if (known->source != NULL && known->source != problem->source)
        known->source->free((sn_row_source *)known->source);
}

stonet_status sn_held_out_create(const sn_folds *folds, sn_held_out *out)
{
    *out = (sn_held_out){0};
    SN_TRY(SN_NEW(out->loss, folds->rows));
    return SN_NEW(out->wrong, folds->rows);
}

void sn_held_out_free(sn_held_out *losses)
{
    sn_free(losses->loss);
    sn_free(losses->wrong);
    *losses = (sn_held_out){0};
}

void sn_folds_copy(const sn_folds *folds, int fold, const sn_held_out *from, sn_held_out *to)
{
    const int64_t first = folds->fold[fold].first;
    const size_t bytes = (size_t)folds->fold[fold].test.n * sizeof(double);
    memcpy(to->loss + first, from->loss + first, bytes);
    memcpy(to->wrong + first, from->wrong + first, bytes);
}

void sn_folds_take(const sn_folds *folds, int fold, const sn_problem *problem, const sn_shape *shape,
                   const float *mu, double *room, sn_held_out *losses)
{
    const sn_fold *at = &folds->fold[fold];
    const int64_t d = shape->width[shape->layers];
    for (int64_t i = 0; i < at->test.n; i++) {
        const int64_t row = sn_rows_at(&at->test, i);
        const double weight = sn_folds_weight(folds, problem, row);
        bool wrong;
        const double loss = sn_row_loss(shape, problem, row, mu + i * d, room, &wrong);
        losses->loss[at->first + i] = weight * loss;
        losses->wrong[at->first + i] = wrong ? weight : 0.0;
    }
}

stonet_status sn_folds_measure(const sn_folds *folds, int fold, const sn_use *network, sn_held_out *losses)
{
    const sn_rows *rows = &folds->fold[fold].test;
    const sn_shape *shape = network->shape;
    const int64_t d = shape->width[shape->layers];
    SN_AUTO(sn_engine) *engine = NULL;
    SN_ARRAY(rows->n * d, float, mu);
    SN_ARRAY(d, double, room);
    SN_TRY(network->engine->create(shape, network->problem, 0, network->threads, &engine));
    engine->ops->start(engine, network->theta);
    double parameter[SN_LAW_PARAMETERS];
    sn_problem problem = *network->problem;
    SN_TRY(engine->ops->forward(engine, &(sn_pass){.rows = *rows, .layer = shape->layers}, mu));
    if (problem.law != NULL) {
        SN_TRY(sn_settle(engine, shape->layers, &problem, &folds->fold[fold].train, SN_SETTLE_ROWS, true,
                         parameter));
        problem.parameter = parameter;
    }
    sn_folds_take(folds, fold, &problem, shape, mu, room, losses);
    return sn_incomplete_judge(folds, fold, network, losses);
}

double sn_mean_loss(const double *loss, int64_t first, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = first; i < first + n; i++) sum += loss[i];
    return isfinite(sum) ? sum / (double)n : (double)INFINITY;
}

static double value_at(const double *v, const double *less, int64_t i)
{
    return less != NULL ? v[i] - less[i] : v[i];
}

/* What a held-out row and those after it that belong with it are above `own`, squared: 0 where one before has
   said it. *units: one more for each such sum. */
static double square_of_kin(const sn_folds *folds, const double *v, const double *less, double own, int64_t i,
                            double *units)
{
    double sum = 0.0;
    if (folds->kin != NULL && !folds->is_first[i]) return 0.0;
    ++*units;
    for (; i >= 0; i = folds->kin != NULL ? folds->kin[i] : -1) sum += value_at(v, less, i) - own;
    return sum * sum;
}

/* w is W of the formula, f is max(0, B - W), and df = (W + f)^2 / (W^2 / (n - K) + f^2 / (K - 1)). A mean
   that is not finite has no standard error. squares: each v is half a sum of so many squares; 0: it is not.
 */
static sn_fold_mean mean_of(const sn_folds *folds, const double *v, const double *less, double squares)
{
    const double n = (double)folds->rows, between_df = (double)(folds->count - 1);
    double sum = 0.0, within = 0.0, between = 0.0, units = 0.0;
    for (int64_t i = 0; i < folds->rows; i++) sum += value_at(v, less, i) / n;
    if (!isfinite(sum)) return (sn_fold_mean){.mean = sum, .se = (double)NAN};
    for (int k = 0; k < folds->count; k++) {
        const sn_fold *fold = &folds->fold[k];
        const int64_t first = fold->first, end = first + fold->test.n;
        double own = 0.0;
        for (int64_t i = first; i < end; i++) own += value_at(v, less, i) / (double)fold->test.n;
        between += (double)fold->test.n * (own - sum) * (own - sum);
        for (int64_t i = first; i < end; i++) within += square_of_kin(folds, v, less, own, i, &units);
    }
    const double within_df = units - between_df - 1.0;
    double w = within_df > 0.0 ? within / within_df * units / n : 0.0;
    if (within_df > 0.0 && squares > 0.0) w = fmax(w, 2.0 * sum * sum / squares);
    const double f = between_df > 0.0 ? fmax(between / between_df - w, 0.0) : 0.0;
    double parts = 0.0; /* squares over degrees of freedom, whatever has none is 0 */
    if (w > 0.0) parts += w * w / within_df;
    if (f > 0.0) parts += f * f / between_df;
    return (sn_fold_mean){sum, sqrt((w + f) / n), parts > 0.0 ? (w + f) * (w + f) / parts : units - 1.0};
}

sn_fold_mean sn_held_out_mean(const sn_folds *folds, const double *v, const double *less)
{
    return mean_of(folds, v, less, 0.0);
}

/* Half the length of the interval of a mean. */
static double half_of(const sn_fold_mean *mean)
{
    return sn_t_quantile(mean->df, 0.5 + 0.5 * SN_COVERED) * mean->se;
}

bool sn_gain_is_clear(const sn_fold_mean *mean)
{
    return mean->df > 0.0 && mean->mean > half_of(mean);
}

static void put_interval(double low, double high, sn_estimate *out)
{
    out->low = low;
    out->high = high;
}

void sn_rate_interval(const sn_fold_mean *rate, double rows, sn_estimate *out)
{
    const double p = fmin(fmax(rate->mean, 0.0), 1.0), z = sn_normal_quantile(0.5 + 0.5 * SN_COVERED);
    const double n = rate->se > 0.0 ? p * (1.0 - p) / (rate->se * rate->se) : rows;
    const double part = z * z / n, middle = (p + 0.5 * part) / (1.0 + part);
    const double half = z * sqrt(p * (1.0 - p) / n + 0.25 * part / n) / (1.0 + part);
    put_interval(fmax(middle - half, 0.0), fmin(middle + half, 1.0), out);
}

static void student(const sn_fold_mean *loss, const double *each, int64_t rows, sn_estimate *out)
{
    const double off = half_of(loss), mean = loss->mean;
    bool squares = mean > 0.0;
    for (int64_t i = 0; i < rows; i++) squares = squares && !(each[i] < 0.0);
    if (squares)
        put_interval(mean * exp(-off / mean), mean * exp(off / mean), out);
    else
        put_interval(mean - off, mean + off, out);
}

sn_estimate sn_estimate_of(const sn_folds *folds, const sn_held_out *losses, const sn_problem *problem,
                           const sn_shape *shape)
{
    sn_estimate out = sn_no_estimate;
    if (losses->loss == NULL) return out;
    const bool squares = problem->task == SN_REGRESSION && problem->law == NULL && !shape->spread;
    const sn_fold_mean loss = mean_of(folds, losses->loss, NULL, squares ? (double)problem->outputs : 0.0);
    out.loss = loss.mean;
    out.loss_se = loss.se;
    if (problem->task != SN_CLASSIFICATION) {
        if (loss.df > 0.0) student(&loss, losses->loss, folds->rows, &out);
        return out;
    }
    const sn_fold_mean error = sn_held_out_mean(folds, losses->wrong, NULL);
    out.error = error.mean;
    out.error_se = error.se;
    sn_rate_interval(&error, (double)folds->rows, &out);
    return out;
}
