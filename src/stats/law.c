#include "stats/law.h"

#include <math.h>
#include <string.h>

#include "math/linalg.h"

SN_DEFINE_WORDS(sn_law_kind_words, "kind of response", SN_LAW_ORDERED, SN_LAW_KIND_WORDS);

enum { OF_TIMES = 1 << SN_LAW_TIMES | 1 << SN_LAW_INTERVALS, STEPS = 50, HALVINGS = 20 };

#define TIMES(word, errors)                                                                                  \
    {                                                                                                        \
        word, OF_TIMES, errors, sn_law_times_start, sn_law_times_loss, sn_law_times_pull,                    \
            sn_law_times_answer                                                                              \
    }
#define ORDERED(word, errors)                                                                                \
    {                                                                                                        \
        word, 1 << SN_LAW_ORDERED, errors, sn_law_ordered_start, sn_law_ordered_loss, sn_law_ordered_pull,   \
            sn_law_ordered_answer                                                                            \
    }
#define COUNTS(word)                                                                                         \
    {                                                                                                        \
        word, 1 << SN_LAW_COUNTS, SN_ERRORS_NORMAL, sn_law_counts_start, sn_law_counts_loss,                 \
            sn_law_counts_pull, sn_law_counts_answer                                                         \
    }

/* The first of a kind is its law=auto. */
static const sn_law laws[] = {
    TIMES("normal", SN_ERRORS_NORMAL),
    TIMES("logistic", SN_ERRORS_LOGISTIC),
    TIMES("extreme", SN_ERRORS_EXTREME),
    ORDERED("logistic", SN_ERRORS_LOGISTIC),
    ORDERED("normal", SN_ERRORS_NORMAL),
    ORDERED("extreme", SN_ERRORS_EXTREME),
    COUNTS("poisson"),
    COUNTS("negbin"),
};

const sn_law *sn_law_find(sn_law_kind kind, const char *word)
{
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++)
        if ((laws[k].kinds >> kind & 1U) != 0 &&
            (strcmp(word, "auto") == 0 || strcmp(word, laws[k].word) == 0))
            return &laws[k];
    return NULL;
}

sn_law_kind sn_law_kind_of(const sn_law *law)
{
    sn_law_kind kind = SN_LAW_NONE;
    while ((law->kinds >> kind & 1U) == 0) kind++;
    return kind;
}

double sn_law_scale(const sn_law *law, const double *parameter)
{
    return strcmp(law->word, "poisson") == 0 ? 0.0 : exp(parameter[1]);
}

/* ---- several outputs ----------------------------------------------------------------------------------- */

enum { OF_MU = 2, OF_LOG_S, SEVERAL }; /* parameters b and d, and how many there are then */

static const double *read(int64_t outputs, const double *out, const double *parameter, double *own,
                          double *mu)
{
    *mu = out[0];
    if (outputs <= 1) return parameter;
    *mu = parameter[OF_MU] * out[0];
    own[0] = parameter[0];
    own[1] = parameter[1] + parameter[OF_LOG_S] * out[1];
    return own;
}

const double *sn_law_read(int64_t outputs, const float *out, const double *parameter, double *own, double *mu)
{
    const double exact[] = {(double)out[0], outputs > 1 ? (double)out[1] : 0.0};
    return read(outputs, exact, parameter, own, mu);
}

/* ---- the parameters ------------------------------------------------------------------------------------ */

/* Penalty of b and d, a row's: outputs that hardly vary say nothing yet of a time. */
static const double SLIGHT = 1e-3;

/* A sum over the sample, by k parameters. */
typedef struct sums {
    int k;
    double loss;
    double slope[SN_LAW_PARAMETERS];
    double square[SN_LAW_PARAMETERS * SN_LAW_PARAMETERS]; /* k x k */
} sums;

/* The slopes by b and d are those by shift and log s times the outputs. */
static void add(const sn_law *law, const double *seen, const double *out, int64_t outputs, double weight,
                const double *parameter, sums *to)
{
    const int k = to->k;
    double slope[SN_LAW_PARAMETERS] = {0.0}, own[2], mu;
    const double *of_row = read(outputs, out, parameter, own, &mu);
    to->loss += weight * law->loss(law, seen, mu, of_row, slope);
    for (int a = OF_MU; outputs > 1 && a < k; a++) slope[a] = slope[a - OF_MU] * out[a - OF_MU];
    for (int a = 0; a < k; a++) {
        if (slope[a] == 0.0) continue;
        to->slope[a] += weight * slope[a];
        for (int b = 0; b < k; b++) to->square[a * k + b] += weight * slope[a] * slope[b];
    }
}

/* 0 of several outputs: b is 0 at first. */
double sn_law_mean_mu(const sn_law_sample *sample)
{
    double mean = 0.0;
    if (sample->mu == NULL || sample->outputs > 1) return mean;
    for (int64_t i = 0; i < sample->n; i++) mean += sample->mu[i] / (double)sample->n;
    return mean;
}

/* Ordered classes have half a row more each, at the mean mu: none is without rows. */
static void add_up(const sn_law *law, const sn_law_sample *sample, int k, const double *parameter, sums *to)
{
    const int64_t m = sample->outputs > 1 ? sample->outputs : 1;
    double mean = 0.0, total = 0.0;
    *to = (sums){.k = k};
    for (int64_t i = 0; i < sample->n; i++) {
        const double *out = sample->mu != NULL ? sample->mu + i * m : &(const double){0.0};
        const double weight = sample->weight != NULL ? sample->weight[i] : 1.0;
        mean += out[0] / (double)sample->n;
        total += weight;
        add(law, sample->seen + i * SN_LAW_SEEN, out, m, weight, parameter, to);
    }
    for (int c = 0; law->kinds == 1 << SN_LAW_ORDERED && c <= k; c++)
        add(law, (const double[]){c, k + 1}, &mean, 1, 0.5, parameter, to);
    for (int a = OF_MU; m > 1 && a < k; a++) {
        to->loss += 0.5 * SLIGHT * total * parameter[a] * parameter[a];
        to->slope[a] += SLIGHT * total * parameter[a];
        to->square[a * k + a] += SLIGHT * total;
    }
}

void sn_law_fit(const sn_law *law, const sn_law_sample *sample, bool fresh, double *parameter)
{
    double first[SN_LAW_PARAMETERS] = {0.0}; /* a checkpoint keeps all of them */
    const int alone = law->start(law, sample, first);
    const int k = sample->outputs <= 1 ? alone : sample->spreads ? SEVERAL : SEVERAL - 1;
    if (fresh) memcpy(parameter, first, sizeof first);
    sums now, tried;
    add_up(law, sample, k, parameter, &now);
    for (int step = 0; step < STEPS; step++) {
        double move[SN_LAW_PARAMETERS], next[SN_LAW_PARAMETERS], part = 1.0;
        const double enough = 1e-10 * (fabs(now.loss) + 1.0);
        memcpy(move, now.slope, sizeof move);
        for (int a = 0; a < k; a++) now.square[a * k + a] += 1e-9 * (now.square[a * k + a] + 1.0);
        if (sn_solve_spd(k, now.square, 1, move) != STONET_OK) return;
        int halving = 0;
        for (; halving < HALVINGS; halving++, part *= 0.5) {
            memcpy(next, parameter, sizeof next);
            for (int a = 0; a < k; a++) next[a] -= part * move[a];
            add_up(law, sample, k, next, &tried);
            if (tried.loss < now.loss) break;
        }
        if (halving == HALVINGS) return;
        const bool done = now.loss - tried.loss < enough;
        memcpy(parameter, next, sizeof next);
        now = tried;
        if (done) return;
    }
}
