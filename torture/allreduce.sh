#!/usr/bin/env bash
# allreduce.sh [WORK]: what if ranks added their sums by MPI_Allreduce, as most programs do? Copies the sources to WORK (a new
# folder), puts MPI_Allreduce in the place of the fixed tree (src/engine/team_sums.c), builds, and trains on 1, 2, 3, 4 and 7 ranks,
# as the test cli_ranks does. The models must differ, or that test could not tell the one from the other; status 1 if they are all the
# same. Without the change (ALLREDUCE=no) they must all be the same.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=${1:-$(mktemp -d)}
mkdir -p "$work"
git -C "$root" archive HEAD | tar x -C "$work"
cd "$work"
if [ "${ALLREDUCE:-yes}" = yes ]; then
    cat >> mpi/wire.c <<'END'

/* The mutant: sums of all ranks, in whatever order MPI likes. */
__attribute__((visibility("default"))) int mutant_allreduce(double *numbers, int count);
int mutant_allreduce(double *numbers, int count)
{
    return MPI_Allreduce(MPI_IN_PLACE, numbers, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
END
    python3 - <<'END'
path = "src/engine/team_sums.c"
text = open(path).read()
begin = text.index("/* Bytes of a root on the way")
open(path, "w").write("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdlib.h>\n" + text[:begin] + """
stonet_status sn_team_join_sums(void *user, sn_sums *sums)
{
    (void)user;
    const int64_t n = sums->parameters;
    double *all = calloc((size_t)n + 2, sizeof *all);
    for (int k = 0; k < sums->roots; k++) {
        all[0] += sums->root[k].loss;
        all[1] += sums->root[k].weight;
        for (int64_t j = 0; j < n; j++) all[2 + j] += sums->root[k].gradient[j];
    }
    void *module = dlopen(getenv("STONET_MUTANT"), RTLD_NOW);
    int (*reduce)(double *, int) = NULL;
    *(void **)&reduce = module != NULL ? dlsym(module, "mutant_allreduce") : NULL;
    if (reduce == NULL || reduce(all, (int)n + 2) != 0) abort();
    sums->roots = 0;
    SN_TRY(sn_sums_add(sums, 0, sums->shards));
    sums->root[0].loss = all[0];
    sums->root[0].weight = all[1];
    for (int64_t j = 0; j < n; j++)
        sums->root[0].gradient[j] = sums->single ? (double)(float)all[2 + j] : all[2 + j];
    free(all);
    return STONET_OK;
}
""")
END
fi
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release > /dev/null
cmake --build build -j "$(nproc)" --target stonet stonet_mpi > /dev/null
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_WAIT_POLICY=passive
STONET_MUTANT=$(realpath build/lib/libstonet-mpi.so)
export STONET_MUTANT
build/bin/stonet generate waveform --rows 1300 --out t.csv
for ranks in 1 2 3 4 7; do
    mpirun --oversubscribe -n $ranks build/bin/stonet fit t.csv --target y --dim 2 --set hidden=5 --set epochs=3 --set batch=600 \
        --set weight_decay=0.01 --set restarts=2 --set sdr_iterations=2 --threads 1 --quiet --out "$ranks.model"
    sha256sum "$ranks.model"
done
for ranks in 2 3 4 7; do
    cmp -s 1.model "$ranks.model" || { echo "models differ"; [ "${ALLREDUCE:-yes}" = yes ]; exit; }
done
echo "all models are the same"
[ "${ALLREDUCE:-yes}" = no ]
