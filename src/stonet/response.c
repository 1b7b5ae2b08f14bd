#include "stonet/response.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/linalg.h"
#include "math/smallest.h"
#include "net/regression.h"

SN_DEFINE_WORDS(sn_response_words, "response", SN_RESPONSE_LOCATION_SCALE, SN_RESPONSE_WORDS);

enum {
    DEGREES = 4,
    PAIRED_TARGETS = 8 /* with more, their products are too many */
};
static const double SMALLEST = 0.01;    /* variance that a feature must have beyond those before it */
static const double HEAD_PENALTY = 0.1; /* l2 of the head */

/* ---- ranks ------------------------------------------------------------------------------------------- */

/* Knots at evenly spaced places of the sorted values, each at the middle of the ranks of its ties; what is
   left of the room repeats the last. */
static void place_knots(int64_t n, const double *sorted, double *knot, double *level)
{
    int64_t count = 0;
    for (int64_t k = 0; k < SN_RESPONSE_KNOTS; k++) {
        const int64_t at = n > 1 ? k * (n - 1) / (SN_RESPONSE_KNOTS - 1) : 0;
        if (count > 0 && sorted[at] == knot[count - 1]) continue;
        int64_t first = at, last = at;
        while (first > 0 && sorted[first - 1] == sorted[at]) first--;
        while (last < n - 1 && sorted[last + 1] == sorted[at]) last++;
        knot[count] = sorted[at];
        level[count++] = ((double)(first + last) / 2.0 + 0.5) / (double)n;
    }
    for (int64_t k = count; k < SN_RESPONSE_KNOTS; k++) {
        knot[k] = knot[count - 1];
        level[k] = level[count - 1];
    }
}

/* The rank of y in (0, 1): linear between knots, that of the nearest beyond them. */
static double rank_of(const double *knot, const double *level, double y)
{
    int64_t low = 0, high = SN_RESPONSE_KNOTS - 1;
    if (y <= knot[low]) return level[low];
    if (y >= knot[high]) return level[high];
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (knot[middle] <= y)
            low = middle;
        else
            high = middle;
    }
    return level[low] + (level[high] - level[low]) * (y - knot[low]) / (knot[high] - knot[low]);
}

/* Whether the target has a law beyond its mean, from its sorted values. */
static stonet_status check_values(const sn_response *response, int64_t target, int64_t n,
                                  const double *sorted)
{
    int64_t distinct = 1;
    for (int64_t i = 1; i < n && distinct < 3; i++) distinct += sorted[i] > sorted[i - 1];
    if (distinct == 1)
        return sn_fail(STONET_ERROR_DATA, "target %lld is constant: there is nothing to explain",
                       (long long)target + 1);
    if (distinct == 2)
        return sn_fail(
            STONET_ERROR_DATA,
            "target %lld has two values: its mean says all about it, so use response=mean; response=%s is for more than two values",
            (long long)target + 1, sn_words_name(&sn_response_words, response->kind));
    return STONET_OK;
}

static stonet_status learn_ranks(const sn_problem *problem, sn_response *response)
{
    SN_ARRAY(problem->n, double, sorted);
    for (int64_t t = 0; t < response->targets; t++) {
        for (int64_t i = 0; i < problem->n; i++) sorted[i] = problem->y[i * response->targets + t];
        qsort(sorted, (size_t)problem->n, sizeof *sorted, sn_by_double);
        SN_TRY(check_values(response, t, problem->n, sorted));
        if (response->knot != NULL)
            place_knots(problem->n, sorted, response->knot + t * SN_RESPONSE_KNOTS,
                        response->level + t * SN_RESPONSE_KNOTS);
    }
    return STONET_OK;
}

/* ---- functions of the response ----------------------------------------------------------------------- */

/* Of times, those of location and spread alone: what is drawn beyond a censoring says nothing new of a law's
   shape, and the higher polynomials are steep there. Each draw would repeat what the network made of the
   last. */
static int64_t degrees_of(const sn_response *response)
{
    return response->law != NULL ? 2 : DEGREES;
}

static int64_t count_features(const sn_response *response)
{
    const int64_t targets = response->targets;
    return targets * degrees_of(response) + (targets <= PAIRED_TARGETS ? targets * (targets - 1) / 2 : 0);
}

/* sqrt(2k + 1) P_k(2u - 1), k = 1 .. degrees: variance 1 over ranks u. */
static void legendre(double u, int64_t degrees, double *out)
{
    const double x = 2.0 * u - 1.0;
    double before = 1.0, now = x;
    for (int64_t k = 1; k <= degrees; k++) {
        const double degree = (double)k;
        out[k - 1] = sqrt(2.0 * degree + 1.0) * now;
        const double next = ((2.0 * degree + 1.0) * x * now - degree * before) / (degree + 1.0);
        before = now;
        now = next;
    }
}

static void features_of(const sn_response *response, const double *y, double *out)
{
    const int64_t targets = response->targets, degrees = degrees_of(response);
    for (int64_t t = 0; t < targets; t++) {
        const double *knot = response->knot + t * SN_RESPONSE_KNOTS;
        legendre(rank_of(knot, response->level + t * SN_RESPONSE_KNOTS, y[t]), degrees, out + t * degrees);
    }
    double *product = out + targets * degrees;
    for (int64_t a = 0; a < targets && targets <= PAIRED_TARGETS; a++)
        for (int64_t b = 0; b < a; b++) *product++ = out[a * degrees] * out[b * degrees];
}

/* The rows of map by Gram and Schmidt in the metric of the covariance C of the features (n x f, centred):
   what feature j has beyond those before it, brought to variance 1; left out where that is next to nothing.
 */
static stonet_status whiten(int64_t n, const double *centred, sn_response *response)
{
    const int64_t f = response->features;
    int64_t m = 0;
    SN_ARRAY(f * f, double, c);
    SN_ARRAY(f, double, times);
    SN_TRY(SN_NEW(response->map, f * f));
    sn_syrk_tn(f, n, 1.0 / (double)n, centred, 0.0, c);
    for (int64_t j = 0; j < f; j++) {
        double *row = response->map + m * f;
        memset(row, 0, (size_t)f * sizeof *row);
        row[j] = 1.0;
        for (int64_t k = 0; k < m; k++) {
            const double *other = response->map + k * f;
            const double shared = sn_dot(f, other, c + j * f);
            for (int64_t a = 0; a < f; a++) row[a] -= shared * other[a];
        }
        sn_gemv(1.0, sn_as(c, f, f), row, 0.0, times);
        const double variance = sn_dot(f, row, times);
        if (!(variance > SMALLEST)) continue;
        for (int64_t a = 0; a < f; a++) row[a] /= sqrt(variance);
        m++;
    }
    response->outputs = m;
    return STONET_OK;
}

static stonet_status learn_functions(const sn_problem *problem, sn_response *response)
{
    const int64_t n = problem->n, f = response->features;
    SN_ARRAY(n * f, double, values);
    for (int64_t i = 0; i < n; i++) features_of(response, problem->y + i * response->targets, values + i * f);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < f; j++) response->mean[j] += values[i * f + j] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < f; j++) values[i * f + j] -= response->mean[j];
    return whiten(n, values, response);
}

stonet_status sn_response_choose_law(const char *word, sn_problem *problem)
{
    if (problem->law == NULL && strcmp(word, "auto") == 0) return STONET_OK;
    if (problem->law == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "law=%s is for task=survival, interval, count and ordinal: leave it out", word);
    const sn_law *law = sn_law_find(sn_law_kind_of(problem->law), word);
    if (law == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "law=%s is no law of task=%s: leave it out", word,
                       sn_words_name(&sn_law_kind_words, sn_law_kind_of(problem->law)));
    problem->law = law;
    return STONET_OK;
}

/* A first guess at every time: drawn from the law of all rows, which is standard normal here. Any order of
   times that rows agree on would do, for ranks only set a scale. */
static void guess_times(const sn_problem *problem, double *y)
{
    static const double GOLDEN = 0.6180339887498949; /* its multiples fill (0, 1) evenly */
    const sn_law *law = sn_law_find(SN_LAW_TIMES, "normal");
    for (int64_t i = 0; i < problem->n; i++)
        y[i] = sn_law_draw_time(law, problem->seen + i * SN_LAW_SEEN, 0.0, (const double[]){0.0, 0.0},
                                fmod(((double)i + 0.5) * GOLDEN, 1.0));
}

static stonet_status learn_ensemble(const sn_problem *problem, sn_response *response)
{
    response->targets = problem->outputs;
    response->features = count_features(response);
    SN_TRY(SN_NEW(response->knot, response->targets * SN_RESPONSE_KNOTS));
    SN_TRY(SN_NEW(response->level, response->targets * SN_RESPONSE_KNOTS));
    SN_TRY(SN_NEW(response->mean, response->features));
    SN_TRY(learn_ranks(problem, response));
    return learn_functions(problem, response);
}

static stonet_status learn_times(const sn_problem *problem, sn_response *response)
{
    sn_problem guessed = *problem;
    SN_ARRAY(problem->n, double, y);
    guess_times(problem, y);
    guessed.y = y;
    SN_TRY(learn_ensemble(&guessed, response));
    if (response->outputs > 1) return STONET_OK;
    return sn_fail(STONET_ERROR_DATA, "the times have too few values for response=ensemble: leave it out");
}

/* A law has one output of the network, whatever its kind, but for functions of times. Thresholds of ordered
   classes have room for SN_LAW_PARAMETERS numbers, which limits the classes. */
static stonet_status learn_law(const sn_problem *problem, sn_response *response)
{
    const sn_law_kind kind = sn_law_kind_of(problem->law);
    const char *task = sn_words_name(&sn_law_kind_words, kind);
    response->law = problem->law;
    response->outputs = 1;
    if (response->kind == SN_RESPONSE_LOCATION_SCALE ||
        (response->kind == SN_RESPONSE_ENSEMBLE && kind != SN_LAW_TIMES))
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "response=%s is for plain numbers%s: leave it out for task=%s",
                       sn_words_name(&sn_response_words, response->kind),
                       response->kind == SN_RESPONSE_ENSEMBLE ? " and times" : "", task);
    if (problem->joint)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "missing=joint draws cells given plain numbers or classes: use missing=gaussian for "
                       "task=%s",
                       task);
    if (problem->outputs > SN_LAW_PARAMETERS)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "the target has %lld ordered classes; %d are possible: treat it as a number",
                       (long long)problem->outputs, SN_LAW_PARAMETERS);
    return response->kind == SN_RESPONSE_ENSEMBLE ? learn_times(problem, response) : STONET_OK;
}

stonet_status sn_response_learn(sn_response_kind kind, const sn_problem *problem, sn_response *response)
{
    *response = (sn_response){.kind = kind, .targets = problem->outputs, .outputs = problem->outputs};
    if (problem->law != NULL) return learn_law(problem, response);
    if (kind == SN_RESPONSE_MEAN) return STONET_OK;
    if (problem->task == SN_CLASSIFICATION)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "response=%s is for numbers: the outputs for classes are their whole law already, so "
                       "leave it out",
                       sn_words_name(&sn_response_words, kind));
    if (kind == SN_RESPONSE_LOCATION_SCALE) {
        response->outputs = 2 * problem->outputs;
        return learn_ranks(problem, response);
    }
    return learn_ensemble(problem, response);
}

/* Of the targets y of a row; values: room for the features. */
static void encode_row(const sn_response *response, const double *y, double *values, double *out)
{
    features_of(response, y, values);
    for (int64_t j = 0; j < response->features; j++) values[j] -= response->mean[j];
    sn_gemv(1.0, sn_as(response->map, response->outputs, response->features), values, 0.0, out);
}

static void functions_of_time(const void *of, double y, double *out)
{
    double values[DEGREES] = {0.0};
    encode_row(of, &y, values, out);
}

stonet_status sn_response_encode(const sn_response *response, int64_t n, const double *y, double *out)
{
    const int64_t m = response->outputs;
    if (response->kind == SN_RESPONSE_MEAN) {
        memcpy(out, y, (size_t)(n * m) * sizeof *out);
        return STONET_OK;
    }
    if (response->kind == SN_RESPONSE_LOCATION_SCALE) {
        for (int64_t k = 0; k < n * m; k++)
            out[k] = k % m < response->targets ? y[k / m * response->targets + k % m] : 0.0;
        return STONET_OK;
    }
    SN_ARRAY(response->features, double, values);
    for (int64_t i = 0; i < n; i++) encode_row(response, y + i * response->targets, values, out + i * m);
    return STONET_OK;
}

/* Ordered classes: codes, and the scores expected behind them when nothing else is known. */
static stonet_status see_classes(const sn_response *response, const sn_problem *problem, sn_problem *seen,
                                 double **room)
{
    const int64_t n = problem->n;
    double parameter[SN_LAW_PARAMETERS];
    SN_TRY(SN_NEW_RAW(*room, n * (1 + SN_LAW_SEEN)));
    double *y = *room, *code = *room + n;
    for (int64_t i = 0; i < n; i++) {
        code[i * SN_LAW_SEEN] = sn_problem_label(problem, i);
        code[i * SN_LAW_SEEN + 1] = (double)problem->outputs;
    }
    const sn_law_sample sample = {.n = n, .seen = code};
    sn_law_fit(response->law, &sample, true, parameter);
    for (int64_t i = 0; i < n; i++)
        y[i] = response->law->pull(response->law, code + i * SN_LAW_SEEN, 0.0, parameter, 0.0);
    seen->task = SN_REGRESSION;
    seen->outputs = 1;
    seen->label = NULL;
    seen->raw = NULL;
    seen->y = y;
    seen->seen = code;
    return STONET_OK;
}

stonet_status sn_response_see(const sn_response *response, const sn_problem *problem, sn_problem *seen,
                              double **room)
{
    const int64_t n = problem->n;
    SN_BLOCK double *times = NULL;
    *seen = *problem;
    *room = NULL;
    seen->law = response->law;
    if (response->kind != SN_RESPONSE_ENSEMBLE && response->law != NULL)
        return problem->seen != NULL ? STONET_OK : see_classes(response, problem, seen, room);
    if (response->kind == SN_RESPONSE_MEAN) return STONET_OK;
    if (response->law != NULL) { /* each row has the functions of a first guess at its time */
        SN_TRY(SN_NEW_RAW(times, n));
        guess_times(problem, times);
        seen->functions = functions_of_time;
        seen->functions_of = response;
    }
    SN_TRY(SN_NEW_RAW(*room, n * response->outputs));
    SN_TRY(sn_response_encode(response, n, times != NULL ? times : problem->y, *room));
    seen->y = *room;
    seen->outputs = response->outputs;
    return STONET_OK;
}

/* ---- the head ---------------------------------------------------------------------------------------- */

stonet_status sn_response_fit_head(sn_response *response, const sn_problem *problem, const sn_rows *rows,
                                   int64_t units, const float *psi)
{
    SN_FREE(response->coef);
    SN_FREE(response->intercept);
    response->units = units;
    SN_TRY(SN_NEW(response->coef, response->targets * units));
    SN_TRY(SN_NEW(response->intercept, response->targets));
    const sn_regression regression = {
        .problem = problem, .rows = rows, .d = units, .x = psi, .l2 = HEAD_PENALTY};
    bool found;
    return sn_regress(&regression, NULL, response->coef, response->intercept, &found);
}

void sn_response_predict(const sn_response *response, int64_t n, const float *psi, double *out)
{
    const int64_t units = response->units;
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = 0; t < response->targets; t++) {
            double sum = response->intercept[t];
            for (int64_t k = 0; k < units; k++)
                sum += response->coef[t * units + k] * (double)psi[i * units + k];
            out[i * response->targets + t] = sum;
        }
}

void sn_response_free(sn_response *response)
{
    SN_FREE_ALL(response->knot, response->level, response->mean, response->map, response->coef,
                response->intercept);
    *response = (sn_response){0};
}

/* ---- the model file ---------------------------------------------------------------------------------- */

/* Those that predictions need. */
static int64_t law_parameters(const sn_response *response)
{
    if (sn_law_kind_of(response->law) == SN_LAW_ORDERED) return response->targets - 1;
    return response->kind == SN_RESPONSE_ENSEMBLE ? 3 : 2;
}

stonet_status sn_response_put(const sn_response *response, sn_store *store)
{
    const int64_t t = response->targets, f = response->features;
    SN_TRY(sn_words_put(&sn_response_words, store, "response", response->kind));
    if (response->law != NULL) {
        SN_TRY(sn_words_put(&sn_law_kind_words, store, "law_of", sn_law_kind_of(response->law)));
        SN_TRY(sn_store_put_text(store, "law", response->law->word));
        SN_TRY(sn_store_put_vector(store, "law_parameters", SN_F64, law_parameters(response),
                                   response->parameter));
    }
    if (response->kind != SN_RESPONSE_ENSEMBLE) return STONET_OK;
    SN_TRY(sn_store_put_matrix(store, "response_knots", SN_F64, t, SN_RESPONSE_KNOTS, response->knot));
    SN_TRY(sn_store_put_matrix(store, "response_levels", SN_F64, t, SN_RESPONSE_KNOTS, response->level));
    SN_TRY(sn_store_put_vector(store, "response_mean", SN_F64, f, response->mean));
    SN_TRY(sn_store_put_matrix(store, "response_map", SN_F64, response->outputs, f, response->map));
    if (response->law != NULL) return STONET_OK;
    SN_TRY(sn_store_put_matrix(store, "head_coef", SN_F64, t, response->units, response->coef));
    return sn_store_put_vector(store, "head_intercept", SN_F64, t, response->intercept);
}

/* An array of these numbers, the caller's; rows 0: a vector. */
static stonet_status take(const sn_store *store, const char *name, int64_t rows, int64_t cols, double **to)
{
    const sn_tensor *tensor;
    SN_TRY(rows == 0 ? sn_store_get_vector(store, name, SN_F64, cols, &tensor)
                     : sn_store_get_matrix(store, name, SN_F64, rows, cols, &tensor));
    SN_TRY(sn_tensor_check_finite(tensor));
    SN_TRY(SN_NEW_RAW(*to, sn_tensor_count(tensor)));
    memcpy(*to, tensor->data, (size_t)sn_tensor_count(tensor) * sizeof **to);
    return STONET_OK;
}

/* t targets and `units` units of the last hidden layer: knots and levels t x SN_RESPONSE_KNOTS, map outputs x
   features, coef t x units. The caller frees the response, also after a failure. */
static stonet_status get_ensemble(const sn_store *store, int64_t outputs, int64_t units,
                                  sn_response *response)
{
    enum { MOST_TARGETS = 1 << 16 };
    const sn_tensor *levels;
    char room[64];
    SN_TRY(sn_store_get_matrix(store, "response_levels", SN_F64, -1, SN_RESPONSE_KNOTS, &levels));
    const int64_t t = response->law != NULL ? 1 : levels->shape[0];
    if (t < 1 || t > MOST_TARGETS)
        return sn_fail(STONET_ERROR_FORMAT, "the model has a response of %lld targets", (long long)t);
    response->targets = t;
    response->features = count_features(response);
    response->outputs = outputs;
    response->units = units;
    SN_TRY(take(store, "response_knots", t, SN_RESPONSE_KNOTS, &response->knot));
    SN_TRY(take(store, "response_levels", t, SN_RESPONSE_KNOTS, &response->level));
    for (int64_t k = 1; k < t * SN_RESPONSE_KNOTS; k++) /* else they would lead rank_of astray */
        if (k % SN_RESPONSE_KNOTS > 0 && response->knot[k] < response->knot[k - 1])
            return sn_fail(STONET_ERROR_FORMAT, "entry '%s' is not in ascending order",
                           sn_store_name(store, "response_knots", room, sizeof room));
    SN_TRY(take(store, "response_mean", 0, response->features, &response->mean));
    SN_TRY(take(store, "response_map", outputs, response->features, &response->map));
    if (response->law != NULL) return STONET_OK;
    SN_TRY(take(store, "head_coef", t, units, &response->coef));
    return take(store, "head_intercept", 0, t, &response->intercept);
}

/* Times and counts have two parameters. Ordered classes have their thresholds, in ascending order: one fewer
   than classes. */
static stonet_status get_law(const sn_store *store, sn_response *response)
{
    const sn_tensor *parameters;
    const char *word;
    int kind;
    SN_TRY(sn_words_get(&sn_law_kind_words, store, "law_of", &kind));
    SN_TRY(sn_store_get_text(store, "law", &word));
    response->law = sn_law_find((sn_law_kind)kind, word);
    SN_TRY(sn_store_get_vector(store, "law_parameters", SN_F64, -1, &parameters));
    const int64_t count = parameters->shape[0];
    const bool several = response->kind == SN_RESPONSE_ENSEMBLE;
    if (response->law == NULL || count < 1 || count >= SN_LAW_PARAMETERS ||
        response->outputs != (several ? 2 : 1) || (several && kind != SN_LAW_TIMES) ||
        (kind != SN_LAW_ORDERED && count != law_parameters(response)))
        return sn_fail(STONET_ERROR_FORMAT, "the model has a law that does not fit its network");
    SN_TRY(sn_tensor_check_finite(parameters));
    memcpy(response->parameter, parameters->data, (size_t)count * sizeof *response->parameter);
    if (kind == SN_LAW_ORDERED) response->targets = count + 1;
    for (int64_t k = 1; kind == SN_LAW_ORDERED && k < count; k++)
        if (!(response->parameter[k - 1] < response->parameter[k]))
            return sn_fail(STONET_ERROR_FORMAT, "the model's thresholds are not in ascending order");
    return STONET_OK;
}

stonet_status sn_response_get(const sn_store *store, int64_t outputs, int64_t units, sn_response *response)
{
    *response = (sn_response){.targets = outputs, .outputs = outputs};
    if (sn_store_find_text(store, "response") == NULL) return STONET_OK; /* files before 0.2 */
    int kind;
    SN_TRY(sn_words_get(&sn_response_words, store, "response", &kind));
    response->kind = (sn_response_kind)kind;
    if (sn_store_find_text(store, "law") != NULL) SN_TRY(get_law(store, response));
    if (response->kind == SN_RESPONSE_ENSEMBLE) return get_ensemble(store, outputs, units, response);
    if (response->kind == SN_RESPONSE_MEAN) return STONET_OK;
    if (outputs % 2 != 0)
        return sn_fail(STONET_ERROR_FORMAT, "the model's network has %lld outputs for means and spreads",
                       (long long)outputs);
    response->targets = outputs / 2;
    return STONET_OK;
}
