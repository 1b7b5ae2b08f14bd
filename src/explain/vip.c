/*
 * VIP, the variable importance in projection of partial least squares (Wold, Johansson and Cocchi 1993). W
 * (p x k) has orthonormal columns that span those of the directions in turn (for one response they are the
 * weights of the NIPALS algorithm), and component a explains the share s_a of the response:
 *
 *     VIP_j^2 = p sum_a s_a w_ja^2 / sum_a s_a,
 *
 * 1 on the average over the features. A variable of several features has the root of their mean square. The
 * standard error is a jackknife that leaves out one of ten parts of the rows given in turn:
 * se^2 = 9/10 sum_g (VIP_g - mean)^2.
 */
#include <math.h>
#include <string.h>

#include "data/partitions.h"
#include "explain/importance.h"
#include "math/linalg.h"
#include "methods/linear_map.h"

enum { PARTS = 10, FEWEST_ROWS = 20 };

/* vip: one number a variable. */
static stonet_status projection(const sn_asked *asked, const sn_linear_map *map, double *vip)
{
    const int64_t p = map->p, k = map->dim;
    double total = 0.0;
    SN_ARRAY(p * k, double, w);
    memcpy(w, map->direction, (size_t)(p * k) * sizeof *w);
    SN_TRY(sn_orthonormalise(p, k, w));
    for (int64_t a = 0; a < k; a++) total += map->value[a];
    for (int64_t j = 0; j < asked->variables; j++) {
        double square = 0.0;
        const int64_t first = asked->variable[j]->first_feature, end = first + asked->variable[j]->features;
        for (int64_t f = first; f < end; f++)
            for (int64_t a = 0; a < k; a++) square += map->value[a] * w[f * k + a] * w[f * k + a] / total;
        vip[j] = sqrt(square * (double)p / (double)asked->variable[j]->features);
    }
    return STONET_OK;
}

/* The same by a fit on the rows outside one part. */
static stonet_status projection_without(const sn_asked *asked, const sn_problem *all, const int32_t *part,
                                        int left_out, double *vip)
{
    const stonet_model *model = asked->model;
    sn_quiet_run quiet;
    sn_quiet_run_init(&quiet, asked->run);
    int64_t count = 0;
    SN_ARRAY(all->n, int64_t, rows);
    for (int64_t i = 0; i < all->n; i++)
        if (part[i] != left_out) rows[count++] = i;
    SN_FREED_BY(sn_problem_subset_free) sn_problem some = {0};
    sn_fit_result fitted = {0};
    SN_TRY(sn_problem_subset(all, rows, count, &some));
    stonet_status status =
        sn_method_fit(model->method, &some, model->dim, model->settings, &quiet.run, &fitted);
    if (status == STONET_OK) status = projection(asked, fitted.state, vip);
    sn_linear_map_free(fitted.state);
    return status;
}

/* vip: PARTS x variables, the values without each part of the rows, for the jackknife. The value itself is
   that of the model. */
stonet_status sn_importance_vip(const sn_asked *asked, stonet_importance_result *result)
{
    const stonet_model *model = asked->model;
    const int64_t variables = asked->variables;
    if (strcmp(model->method->name, "pls") != 0)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "vip is made of the components of partial least squares, and this model is of method "
                       "'%s': use permutation, or fit with method pls",
                       model->method->name);
    if (asked->n < FEWEST_ROWS)
        return sn_fail(STONET_ERROR_DATA, "the standard errors of vip need %d rows at least", FEWEST_ROWS);
    SN_WORKSPACE(scratch);
    sn_problem all;
    SN_TRY(projection(asked, model->state, result->value));
    SN_TRY(sn_schema_problem(model->schema, asked->data, &scratch, &all));
    SN_ARRAY(all.n, int32_t, part);
    SN_ARRAY(PARTS * variables, double, vip);
    SN_TRY(sn_split_folds(all.n, all.label, all.outputs, all.kin, PARTS, asked->run->seed, part));
    for (int g = 0; g < PARTS; g++) SN_TRY(projection_without(asked, &all, part, g, vip + g * variables));
    for (int64_t j = 0; j < variables; j++) {
        double mean = 0.0, squares = 0.0;
        for (int g = 0; g < PARTS; g++) mean += vip[g * variables + j] / PARTS;
        for (int g = 0; g < PARTS; g++) squares += pow(vip[g * variables + j] - mean, 2);
        result->error[j] = sqrt((PARTS - 1.0) / PARTS * squares);
    }
    return STONET_OK;
}
