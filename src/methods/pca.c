/*
 * Principal components: Z = (x - mean) V_d with V_d the leading right singular vectors of the centred data,
 * orthonormal, not rescaled. The response is not looked at. In the coordinates of the components the
 * candidate matrix, the covariance, is diagonal.
 */
#include <string.h>

#include "methods/spectral.h"

static stonet_status find_matrix(const sn_sample *sample, const sn_settings *settings, sn_workspace *keep,
                                 sn_matrix *out)
{
    (void)settings;
    const sn_whitening *components = &sample->whitening;
    out->form = SN_FORM_DIAGONAL;
    out->noise = out->scale = components->variance[components->rank / 2]; /* what no component explains */
    SN_TRY(SN_TAKE(keep, out->m, components->rank));
    memcpy(out->m, components->variance, (size_t)components->rank * sizeof *out->m);
    return STONET_OK;
}

static const sn_candidate candidate = {
    .as_it_is = true,
    .limit = "the rank of the centred data",
    .matrix = find_matrix,
};

const sn_method sn_method_pca = {
    .name = "pca",
    .title = "Principal component analysis",
    .python = "PrincipalComponents",
    .tasks = SN_TASK_BOTH,
    .unsupervised = true,
    SN_SPECTRAL_METHOD,
};
