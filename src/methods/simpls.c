#include "methods/simpls.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/workspace.h"
#include "math/linalg.h"

/* What the components share; arrays of a workspace. */
typedef struct simpls {
    const sn_simpls_moments *of;
    double *s;               /* p x m: what is left of X'Y */
    double *v;               /* dim x p: the loadings so far, orthonormal rows */
    double *r, *load;        /* p each: of the component at hand */
    double *q;               /* m */
    double *square, *vector; /* m x m, m */
} simpls;

/* Takes the loading of component a, less what those before have of it, out of S. Once more takes off what
   rounding left. */
static void deflate(simpls *self, int64_t a)
{
    const int64_t p = self->of->p, m = self->of->m;
    double *v = self->v + a * p;
    memcpy(v, self->load, (size_t)p * sizeof *v);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t b = 0; b < a; b++) {
            const double along = sn_dot(p, self->v + b * p, v);
            for (int64_t j = 0; j < p; j++) v[j] -= along * self->v[b * p + j];
        }
    const double length = sn_norm(p, v);
    for (int64_t j = 0; j < p && length > 0.0; j++) v[j] /= length;
    sn_gemv(1.0, sn_turned(self->s, p, m), v, 0.0, self->q);
    for (int64_t j = 0; j < p; j++)
        for (int64_t k = 0; k < m; k++) self->s[j * m + k] -= v[j] * self->q[k];
}

stonet_status sn_simpls(const sn_simpls_moments *moments, int64_t dim, double *r, double *explained,
                        int64_t *found)
{
    const int64_t p = moments->p, m = moments->m;
    SN_WORKSPACE(scratch);
    simpls self = {.of = moments};
    SN_TRY(SN_TAKE(&scratch, self.s, p * m));
    SN_TRY(SN_TAKE(&scratch, self.v, dim * p));
    SN_TRY(SN_TAKE_EACH(&scratch, p, &self.r, &self.load));
    SN_TRY(SN_TAKE_EACH(&scratch, m, &self.q, &self.vector));
    SN_TRY(SN_TAKE(&scratch, self.square, m * m));
    memcpy(self.s, moments->cross, (size_t)(p * m) * sizeof *self.s);
    memset(r, 0, (size_t)(p * dim) * sizeof *r);
    memset(explained, 0, (size_t)dim * sizeof *explained);
    const double rounding = (double)p * DBL_EPSILON * sn_norm(p * m, self.s);
    for (*found = 0; *found < dim && sn_norm(p * m, self.s) > rounding; ++*found) {
        self.vector[0] = 1.0; /* r = S q for the leading eigenvector q of S'S */
        if (m > 1) {
            double value;
            sn_syrk_tn(m, p, 1.0, self.s, 0.0, self.square);
            SN_TRY(sn_eigh_top(m, 1, self.square, &value, self.vector));
        }
        sn_gemv(1.0, sn_as(self.s, p, m), self.vector, 0.0, self.r);
        if (!moments->diagonal) sn_gemv(1.0, sn_as(moments->gram, p, p), self.r, 0.0, self.load); /* X'X r */
        for (int64_t j = 0; moments->diagonal && j < p; j++) self.load[j] = moments->gram[j] * self.r[j];
        const double square = sn_dot(p, self.r, self.load); /* t't */
        if (!(square > 0.0)) break;
        for (int64_t j = 0; j < p; j++) {
            self.r[j] /= sqrt(square);
            self.load[j] /= sqrt(square);
            r[j * dim + *found] = self.r[j];
        }
        sn_gemv(1.0, sn_turned(moments->cross, p, m), self.r, 0.0, self.q); /* Y't */
        explained[*found] = sn_dot(m, self.q, self.q);
        deflate(&self, *found);
    }
    return STONET_OK;
}
