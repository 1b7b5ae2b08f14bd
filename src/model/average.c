#include "model/average.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/workspace.h"
#include "data/encoder.h"

enum { CHUNK = 1024 }; /* rows at a time */

bool sn_average_wanted(const stonet_model *model, const stonet_data *data)
{
    return data->missing > 0 && model->method->redraws && model->schema->imputer != NULL;
}

static stonet_status make_encoder(const sn_average *average, sn_encoder **out)
{
    SN_TRY(sn_frame_check(average->data));
    SN_TRY(sn_encoder_create(average->model->schema, average->data, out));
    sn_encoder_key(*out, average->seed, true);
    return STONET_OK;
}

stonet_status sn_average_encode(const sn_average *average, int64_t first, int64_t count, uint32_t draw,
                                float *x)
{
    SN_AUTO(sn_encoder) *encoder = NULL;
    SN_TRY(make_encoder(average, &encoder));
    const sn_rows rows = sn_rows_range(first, count);
    const sn_row_source *source = sn_encoder_source(encoder);
    source->fetch(source, &rows, draw, x, average->model->schema->p);
    return STONET_OK;
}

/* Room for a chunk of rows. */
typedef struct chunk {
    int64_t n;
    int64_t *row;
    float *x;
    double *answer, *sum, *square; /* n x width: the sums are of gaps from the first draw's answer */
    double *origin;
} chunk;

/* Answers each row once for each draw of its missing cells. With g_d = answer_d - answer_1, sum gets sum_d
   g_d and square gets sum_d g_d^2. Differences from the first draw keep their digits where answers are large
   and hardly vary. */
static stonet_status average_chunk(const sn_average *average, const sn_row_source *source, chunk *c)
{
    const int64_t p = average->model->schema->p, count = c->n * average->width;
    const sn_rows rows = sn_rows_list(c->row, c->n);
    memset(c->sum, 0, (size_t)count * sizeof *c->sum);
    memset(c->square, 0, (size_t)count * sizeof *c->square);
    for (int64_t draw = 1; draw <= average->draws; draw++) {
        source->fetch(source, &rows, (uint32_t)draw, c->x, p);
        SN_TRY(average->ask(average, c->x, c->n, c->row, c->answer));
        if (draw == 1) memcpy(c->origin, c->answer, (size_t)count * sizeof *c->origin);
        for (int64_t k = 0; k < count; k++) {
            const double gap = c->answer[k] - c->origin[k];
            c->sum[k] += gap;
            c->square[k] += gap * gap;
        }
    }
    return STONET_OK;
}

static void hand_out(const sn_average *average, const chunk *c, int64_t first, double *out, double *sd)
{
    const int64_t w = average->width;
    const double m = (double)average->draws;
    for (int64_t i = 0; i < c->n; i++)
        for (int64_t k = 0; k < w; k++) {
            const int64_t from = i * w + k, to = (c->row[i] - first) * w + k;
            const double mean = c->sum[from] / m;
            if (out != NULL) out[to] = c->origin[from] + mean;
            if (sd != NULL && m > 1.0)
                sd[to] = sqrt(fmax((c->square[from] - m * mean * mean) / (m - 1.0), 0.0));
        }
}

stonet_status sn_average_rows(const sn_average *average, int64_t first, int64_t count, double *out,
                              double *sd)
{
    if (sd != NULL) memset(sd, 0, (size_t)(count * average->width) * sizeof *sd);
    if (!sn_average_wanted(average->model, average->data)) return STONET_OK;
    const int64_t most = count < CHUNK ? count : CHUNK;
    SN_WORKSPACE(scratch);
    chunk c = {0};
    SN_AUTO(sn_encoder) *encoder = NULL;
    SN_TRY(SN_TAKE(&scratch, c.row, most));
    SN_TRY(SN_TAKE(&scratch, c.x, most * average->model->schema->p));
    SN_TRY(SN_TAKE_EACH(&scratch, most * average->width, &c.answer, &c.sum, &c.square, &c.origin));
    SN_TRY(make_encoder(average, &encoder));
    for (int64_t i = first; i < first + count; i++) {
        if (!sn_frame_row_is_complete(average->data, i)) c.row[c.n++] = i;
        if (c.n == 0 || (c.n < CHUNK && i + 1 < first + count)) continue;
        SN_TRY(average_chunk(average, sn_encoder_source(encoder), &c));
        hand_out(average, &c, first, out, sd);
        c.n = 0;
    }
    return STONET_OK;
}
