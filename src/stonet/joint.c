#include "stonet/joint.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "engine/engine.h"
#include "math/noise.h"
#include "net/forward.h"

enum {
    BLOCK = 512,     /* rows at a time */
    MOST_TRIES = 40, /* of a move; a bracket this small is where the row is */
    ANGLES = 7       /* the layer of the angles' noise, beside those of the cells */
};
static const double LEAST_VARIANCE = 1e-4; /* of y given x, of a y with variance 1 */

struct sn_joint {
    const sn_problem *given;
    sn_problem problem; /* x is the state */
    float *x;           /* n x p */
    int64_t *row;       /* the incomplete ones that move */
    int64_t rows;
    uint64_t seed;
};

void sn_joint_free(sn_joint *joint)
{
    if (joint == NULL) return;
    SN_FREE_ALL(joint->x, joint->row, joint);
}

const sn_problem *sn_joint_problem(const sn_joint *joint)
{
    return &joint->problem;
}

stonet_status sn_joint_create(const sn_problem *problem, const sn_rows *rows, uint64_t seed, sn_joint **out)
{
    const sn_rows all = sn_rows_range(0, problem->n);
    SN_AUTO(sn_joint) *joint = NULL;
    SN_TRY(SN_NEW(joint, 1));
    SN_TRY(sn_memory_require((uint64_t)problem->n * (uint64_t)problem->p * sizeof *joint->x,
                             "the state of the missing cells", "take missing=gaussian"));
    SN_TRY(SN_NEW_RAW(joint->x, problem->n * problem->p));
    SN_TRY(SN_NEW_RAW(joint->row, rows->n));
    SN_TRY(sn_batch_prepare(problem, &all));
    /* The first state is a draw without the response. */
    sn_batch batch = {.x = joint->x, .x_stride = problem->p, .draw = 1};
    sn_batch_fetch(problem, &all, &batch);
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = sn_rows_at(rows, i);
        if (problem->source->gaps(problem->source, row) != SN_GAPS_NONE) joint->row[joint->rows++] = row;
    }
    joint->given = problem;
    joint->seed = seed;
    joint->problem = *problem;
    joint->problem.x = joint->x;
    joint->problem.source = NULL;
    joint->problem.joint = false;
    joint->problem.keep = NULL; /* what is kept of rows does not move with them */
    return SN_GIVE(joint, out);
}

/* Some rows on their way, count x p each. */
typedef struct block {
    int64_t n, p;
    const int64_t *row;
    float *mean, *drawn, *tried; /* drawn: a draw from the law given the other cells */
    float *mu;                   /* n x outputs of the network */
    double *level, *angle, *low, *high;
    bool *done;
} block;

static double uniform(const sn_joint *joint, int64_t row, uint32_t epoch, uint32_t number)
{
    return sn_noise_uniform(joint->seed, SN_STREAM_CELLS, (uint32_t)row, ANGLES, 4 * number, epoch, 0);
}

/* log p(y | f) of the row, up to a constant. */
static double likelihood(const sn_joint *joint, const sn_shape *shape, const float *mu, int64_t row,
                         double variance)
{
    const bool is_number = shape->task == SN_REGRESSION && !shape->spread;
    bool wrong;
    return -sn_row_loss(shape, joint->given, row, mu, NULL, &wrong) / (is_number ? variance : 1.0);
}

/* The proposals of the rows that are not done. */
static void propose(const sn_joint *joint, const block *b)
{
    for (int64_t i = 0; i < b->n; i++) {
        const float *now = joint->x + b->row[i] * b->p;
        const double c = cos(b->angle[i]), s = sin(b->angle[i]);
        for (int64_t j = 0; j < b->p && !b->done[i]; j++) {
            const int64_t at = i * b->p + j;
            const double mean = (double)b->mean[at];
            /* What is known is the same in all of them, to the bit. */
            b->tried[at] =
                b->mean[at] == b->drawn[at] && b->mean[at] == now[j]
                    ? now[j]
                    : (float)(mean + ((double)now[j] - mean) * c + ((double)b->drawn[at] - mean) * s);
        }
    }
}

/* Starts the move of a block: level_i = log p(y | f(x)) + log U. The first angle is uniform on (0, 2 pi), and
   its bracket reaches back by a whole turn. Noise is keyed by row and epoch, not by block or thread. */
static stonet_status begin(const sn_joint *joint, const sn_forward_job *net, double variance, uint32_t epoch,
                           block *b)
{
    const sn_shape *shape = net->shape;
    const int64_t d = shape->width[shape->layers];
    const sn_rows rows = sn_rows_list(b->row, b->n);
    sn_batch batch = {.x = b->mean, .x_stride = b->p};
    sn_batch_fetch(joint->given, &rows, &batch);
    batch = (sn_batch){.x = b->drawn, .x_stride = b->p, .draw = epoch + 1};
    sn_batch_fetch(joint->given, &rows, &batch);
    for (int64_t i = 0; i < b->n; i++)
        memcpy(b->tried + i * b->p, joint->x + b->row[i] * b->p, (size_t)b->p * sizeof *b->tried);
    SN_TRY(sn_forward(net, b->n, b->tried, b->mu));
    for (int64_t i = 0; i < b->n; i++) {
        const int64_t row = b->row[i];
        const bool gaussian = joint->given->source->gaps(joint->given->source, row) == SN_GAPS_GAUSSIAN;
        b->level[i] =
            likelihood(joint, shape, b->mu + i * d, row, variance) + log(uniform(joint, row, epoch, 0));
        /* A quarter turn is the draw itself, without a bracket to shrink. */
        b->angle[i] = gaussian ? 2.0 * M_PI * uniform(joint, row, epoch, 1) : M_PI / 2.0;
        b->low[i] = gaussian ? b->angle[i] - 2.0 * M_PI : b->angle[i];
        b->high[i] = b->angle[i];
        b->done[i] = false;
    }
    return STONET_OK;
}

/* Tries angles until log p(y | f(x')) > level, and shrinks the bracket towards angle 0 after each failure. A
   row that MOST_TRIES angles do not move stays where it is. Rows that are not Gaussian have one try (low ==
   high). */
static stonet_status move_block(sn_joint *joint, const sn_forward_job *net, double variance, uint32_t epoch,
                                block *b)
{
    const sn_shape *shape = net->shape;
    const int64_t d = shape->width[shape->layers];
    SN_TRY(begin(joint, net, variance, epoch, b));
    int64_t left = b->n;
    for (uint32_t tries = 0; tries < MOST_TRIES && left > 0; tries++) {
        propose(joint, b);
        SN_TRY(sn_forward(net, b->n, b->tried, b->mu));
        for (int64_t i = 0; i < b->n; i++) {
            if (b->done[i]) continue;
            const bool taken = likelihood(joint, shape, b->mu + i * d, b->row[i], variance) > b->level[i];
            if (taken)
                memcpy(joint->x + b->row[i] * b->p, b->tried + i * b->p, (size_t)b->p * sizeof *b->tried);
            b->done[i] = taken || b->low[i] == b->high[i];
            left -= b->done[i];
            if (b->angle[i] < 0.0)
                b->low[i] = b->angle[i];
            else
                b->high[i] = b->angle[i];
            b->angle[i] = b->low[i] + (b->high[i] - b->low[i]) * uniform(joint, b->row[i], epoch, 2 + tries);
        }
    }
    return STONET_OK;
}

stonet_status sn_joint_move(sn_joint *joint, const sn_shape *shape, const float *theta, double loss,
                            uint32_t epoch, int threads)
{
    const int64_t p = joint->problem.p, d = shape->width[shape->layers];
    const double variance = fmax(2.0 * loss / (double)d, LEAST_VARIANCE);
    const sn_forward_job net = {shape, theta, shape->layers, false, threads};
    SN_WORKSPACE(scratch);
    block b = {.p = p};
    SN_TRY(SN_TAKE(&scratch, b.mean, BLOCK * p));
    SN_TRY(SN_TAKE(&scratch, b.drawn, BLOCK * p));
    SN_TRY(SN_TAKE(&scratch, b.tried, BLOCK * p));
    SN_TRY(SN_TAKE(&scratch, b.mu, BLOCK * d));
    SN_TRY(SN_TAKE_EACH(&scratch, BLOCK, &b.level, &b.angle, &b.low, &b.high));
    SN_TRY(SN_TAKE(&scratch, b.done, BLOCK));
    for (int64_t first = 0; first < joint->rows; first += BLOCK) {
        b.n = joint->rows - first < BLOCK ? joint->rows - first : BLOCK;
        b.row = joint->row + first;
        SN_TRY(move_block(joint, &net, variance, epoch, &b));
    }
    return STONET_OK;
}

stonet_status sn_joint_pack(const sn_joint *joint, sn_pack *pack)
{
    const int64_t p = joint->problem.p;
    SN_TRY(sn_pack_int(pack, joint->rows));
    for (int64_t i = 0; i < joint->rows; i++)
        SN_TRY(sn_pack_bytes(pack, joint->x + joint->row[i] * p, (size_t)p * sizeof *joint->x));
    return STONET_OK;
}

stonet_status sn_joint_unpack(sn_joint *joint, sn_unpack *from)
{
    const int64_t p = joint->problem.p;
    int64_t rows;
    SN_TRY(sn_unpack_int(from, &rows));
    if (rows != joint->rows)
        return sn_fail(STONET_ERROR_FORMAT, "the checkpoint has a training with other missing cells");
    for (int64_t i = 0; i < rows; i++) {
        float *x = joint->x + joint->row[i] * p;
        SN_TRY(sn_unpack_bytes(from, x, (size_t)p * sizeof *x));
        for (int64_t j = 0; j < p; j++)
            if (!isfinite(x[j]))
                return sn_fail(STONET_ERROR_FORMAT, "the checkpoint has cells that are not numbers");
    }
    return STONET_OK;
}
