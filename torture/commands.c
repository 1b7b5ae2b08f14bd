#include "torture/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char torture_preparation[] =
    "awk 'BEGIN {srand(1); print \"a,b,c,y,w,label\"; for (i = 0; i < 24; i++) {a = rand(); b = rand(); c = "
    "rand();"
    "  print a \",\" b \",\" c \",\" a + b * b + c / 9 \",\" (i % 3 ? \"u\" : \"v\") \",\" (a > b ? \"hi\" : "
    "\"lo\")}}'"
    "  > all.csv &&"
    "cut -d, -f1-4 all.csv > num.csv && cut -d, -f1-3,5,6 all.csv > lab.csv && cut -d, -f1-3 all.csv > x.csv "
    "&&"
    "cut -d, -f4 all.csv > y.csv && (cat num.csv; sed 1d num.csv; sed 1d num.csv) > many.csv && gzip -kf "
    "num.csv && tr , '\\t' < num.csv > num.tsv &&"
    "echo '{\"method\": \"sir\", \"dim\": 1, \"settings\": {\"slices\": 4}}' > c.json &&"
    "awk 'BEGIN {srand(2); split(\"low mid high\", o, \" \"); print \"id,a,b,day,size,code,n,y\";"
    "  for (i = 0; i < 40; i++) {a = rand(); b = rand(); print \"r\" i \",\" a \",\" (i % 7 ? b : \"\")"
    "  \",2024-0\" 1 + i % 9 \"-1\" i % 10 \",\" (i % 11 ? o[1 + i % 3] : \"\") \",\" i % 4 \",\" 1 + i % 3 "
    "\",\" a + "
    "b * b + i % 4}}' > rich.csv &&"
    "awk 'BEGIN {srand(3); for (i = 0; i < 24; i++) print (i % 2 ? 1 : -1) \" 1:\" rand() + i % 2 \" 3:\" "
    "rand()}' > "
    "sparse.svm &&"
    "(printf '\\000\\000\\010\\002\\000\\000\\000\\030\\000\\000\\000\\002'; head -c 48 all.csv) > "
    "images.idx &&"
    "(printf '\\000\\000\\010\\001\\000\\000\\000\\030'; awk 'BEGIN {for (i = 0; i < 24; i++) printf \"%d\", "
    "i % 2}') > "
    "labels.idx &&"
    "(printf '\\000\\000\\010\\003\\000\\000\\000\\030\\000\\000\\000\\006\\000\\000\\000\\006'; head -c 864 "
    "all.csv) > pictures.idx &&"
    "$STONET generate select-regression:210 --rows 30 --out wide.csv &&"
    "$STONET shard rich.csv --target y --weights n --id id --ordinal size=low,mid,high --season day --quiet"
    "  --out rich.shards &&"
    "$STONET fit pictures.idx --target-file labels.idx --dim 1 --set front=conv --set hidden=3 --set epochs=2"
    "  --set activation=tanh --set weight_decay=0 --quiet --out conv.model &&"
    "$STONET fit num.csv --target y --dim 1 --set front=kernel --set epochs=2 --set activation=tanh"
    "  --set weight_decay=0 --quiet --out kernel.model &&"
    "$STONET fit lab.csv --target label --method gsir --dim 1 --learner mlp --set learner.epochs=2 --quiet"
    "  --out gsir.model &&"
    "$STONET fit rich.csv --target y --features a,b,code --dim 1 --set response=location-scale --set hidden=3"
    "  --set epochs=2 --set activation=tanh --set weight_decay=0 --set front=none --quiet --out gaps.model &&"
    "$STONET fit wide.csv --target y --dim 1 --set front=components --set hidden=3 --set epochs=2"
    "  --set activation=tanh --set weight_decay=0 --set learner=mlp --set learner.epochs=2 --quiet"
    "  --out components.model &&"
    "$STONET fit num.csv --target y --dim 3 --method none --set class_weight=none --quiet --out none.model &&"
    "$STONET fit wide.csv --target y --dim 1 --set front=columns --set hidden=3 --set epochs=2"
    "  --set activation=tanh --set weight_decay=0 --quiet --out columns.model &&"
    "$STONET generate waveform --rows 20 --out g.npy && $STONET generate waveform --rows 20 --out g.npy.gz &&"
    "$STONET fit num.csv --target y --method sir --dim 1 --quiet --out num.model &&"
    "$STONET fit lab.csv --target label --method pca --dim 2 --quiet --out lab.model &&"
    "$STONET fit num.csv --target y --dim 1 --set hidden=3 --set epochs=2 --set activation=tanh --quiet "
    "--out net.model &&"
    "$STONET fit num.csv --target y --method sir --dim 1 --calibrate --quiet --out cal.model &&"
    "$STONET fit lab.csv --target label --method sir --dim 1 --calibrate --quiet --out callab.model &&"
    "$STONET fit num.csv --target y --dim 1 --set response=location-scale --set hidden=3 --set epochs=2 "
    "--quiet"
    "  --out spread.model &&"
    "$STONET fit rich.csv --target y --weights n --id id --ordinal size=low,mid,high --season day --method "
    "sir"
    "  --dim 1 --quiet --out rich.model &&"
    "$STONET fit rich.csv --target y --weights n --id id --ordinal size=low,mid,high --method sir"
    "  --dim 1 --quiet --out dated.model &&"
    "$STONET order num.csv --target y --method sir --resamples 3 --quiet --json > order.json";

/* A network with nothing to choose, which takes milliseconds. */
#define NET                                                                                                  \
    "--set hidden=3 --set epochs=2 --set front=none --set activation=tanh --set restarts=1 "                 \
    "--set weight_decay=0 --set levels=none --quiet"

static const torture_command fixed[] = {
    {"stonet --version", {NULL}},
    {"stonet fit --help", {NULL}},
    {"stonet methods", {NULL}},
    {"stonet methods stonet --json", {NULL}},
    {"stonet generate", {NULL}},
    {"stonet generate waveform --rows 5 --out o1 --truth o2", {"o1", "o2"}},
    {"stonet generate waveform --rows 5 --out o.csv.gz", {"o.csv.gz"}},
    {"stonet info num.model", {NULL}},
    {"stonet info lab.model --json", {NULL}},
    {"stonet export lab.model --out o.onnx", {"o.onnx"}},
    {"stonet export net.model --format c", {NULL}},
    {"stonet export num.model --out o.json", {"o.json"}},
    {"stonet fit num.csv --target y --dim 1 --out o1 --log o2 " NET, {"o1", "o2"}},
    {"stonet fit lab.csv --target label --dim 1 --learner logistic --out o1 " NET, {"o1"}},
    {"stonet fit num.csv --target y --dim 1 --learner mlp --method pca --set learner.epochs=2 --out o1",
     {"o1"}},
    {"stonet fit num.csv --target y --config c.json --out o1", {"o1"}},
    {"stonet fit x.csv --target-file y.csv --method sir --dim 1 --quiet --out o1", {"o1"}},
    {"stonet fit num.csv.gz --target y --method pca --dim 1 --quiet --out o1", {"o1"}},
    {"stonet fit num.tsv --target 4 --method pca --dim 1 --quiet --out o1", {"o1"}},
    {"stonet fit g.npy --target 22 --method pca --dim 1 --quiet --out o1", {"o1"}},
    {"stonet fit g.npy.gz --target 22 --method pca --dim 1 --quiet --out o1", {"o1"}},
    {"stonet transform num.model num.csv", {NULL}},
    {"stonet transform net.model num.csv --draws 2 --out o.npy", {"o.npy"}},
    {"stonet transform net.model num.csv --impute --target y --out o.csv", {"o.csv"}},
    {"stonet transform num.model num.csv.gz --out o.csv.gz", {"o.csv.gz"}},
    {"stonet predict num.model num.csv --out o.csv", {"o.csv"}},
    {"stonet predict lab.model lab.csv", {NULL}},
    {"stonet predict lab.model lab.csv --proba --out o.csv", {"o.csv"}},
    {"stonet score num.model num.csv --target y", {NULL}},
    {"stonet score lab.model lab.csv --target label --json", {NULL}},
    {"stonet score num.model many.csv --target y --sufficiency --json", {NULL}},
    {"stonet tune num.csv --target y --dim 1 --method sir --grid slices=2,4 --folds 2 --quiet --json --best "
     "o.json",
     {"o.json"}},
    {"stonet tune num.csv --target y --dim 1 --grid lr=.1,.01 --folds 2 --json --best o.json " NET,
     {"o.json"}},
    {"stonet compare num.csv --target y --dim 1 --methods sir,pca --folds 2 --quiet --json", {NULL}},
    {"stonet compare num.csv --target y --dim 1 --methods sir --tune --tune-folds 2 --folds 2 --quiet --json",
     {NULL}},
    {"stonet compare num.csv --target y --dim auto --methods sir --folds 2 --quiet --json", {NULL}},
    {"stonet transform num.model num.csv --target y --plot o.svg --out o.csv", {"o.svg", "o.csv"}},
    {"stonet coef num.model num.csv --target y --se --json", {NULL}},
    {"stonet coef net.model num.csv --csv", {NULL}},
    {"stonet report num.model num.csv --target y --importance gradient --quiet --out o.html", {"o.html"}},
    {"stonet report lab.model lab.csv --target label --points 5 --importance none --quiet --out o.html",
     {"o.html"}},
    {"stonet order num.csv --target y --method sir --resamples 3 --quiet --plot o.svg", {"o.svg"}},
    {"stonet order num.csv --target y --method sir --rule augmentation --resamples 2 --quiet --json", {NULL}},
    {"stonet order num.csv --target y --method dr --rule tests --resamples 3 --quiet --json", {NULL}},
    {"stonet order num.csv --target y --method phd --rule bic --quiet --json", {NULL}},
    {"stonet order num.csv --target y --method pca --rule cv --folds 2 --max 2 --quiet --json", {NULL}},
    {"stonet order all.csv --target y --method save --rule tests --quiet --json", {NULL}},
    {"stonet importance num.model num.csv --target y --repeats 2 --quiet --json --plot o.svg", {"o.svg"}},
    {"stonet importance net.model num.csv --target y --kind gradient --quiet --json", {NULL}},
    {"stonet importance lab.model lab.csv --target label --kind shapley --repeats 2 --quiet --json", {NULL}},
    {"stonet independence num.csv --x a,b --y y --json", {NULL}},
    {"stonet independence many.csv --x a --y y --given b,c --json", {NULL}},
    {"stonet independence lab.csv --x a --y w --json", {NULL}},
    {"stonet completion bash", {NULL}},
    {"stonet generate ratio --rows 5 --out o1", {"o1"}},
    {"stonet fit rich.csv --target y --weights n --id id --ordinal size=low,mid,high --season day --method "
     "sir --dim 1 --quiet --out o1",
     {"o1"}},
    {"stonet fit rich.csv --target y --weights n --drop id,day --dim 1 --out o1 " NET, {"o1"}},
    {"stonet fit rich.csv --target y --features 2-3 --set missing=drop --method save --dim 1 --quiet --out "
     "o1",
     {"o1"}},
    {"stonet fit rich.csv --target y --features a,b,code --dim 1 --out o1 " NET
     " --set missing=mean --set levels=auto",
     {"o1"}},
    {"stonet fit num.csv --target y --dim auto --method sir --json --out o1", {"o1"}},
    {"stonet fit num.csv --target y --dim 1 --method sir --calibrate --plot o.svg --out o1", {"o.svg", "o1"}},
    {"stonet fit num.csv --target y --dim 1 --checkpoint kept --every 0 --out o1 " NET, {"o1"}},
    {"stonet fit sparse.svm --target y --method sir --dim 1 --quiet --out o1", {"o1"}},
    {"stonet fit images.idx --target-file labels.idx --method pca --dim 1 --quiet --out o1", {"o1"}},
    {"stonet fit num.csv --target y --dim 1 --out o1 " NET " --set front=kernel", {"o1"}},
    {"stonet fit lab.csv --target label --dim 1 --out o1 " NET " --set front=kernel", {"o1"}},
    {"stonet fit num.csv --target y --dim 1 --out o1 " NET " --set front=columns", {"o1"}},
    {"stonet fit num.csv --target y --dim 1 --out o1 " NET " --set front=components", {"o1"}},
    {"stonet fit num.csv --target y --dim 1 --out o1 " NET " --set select=group --set select_penalty=.01",
     {"o1"}},
    {"stonet fit num.csv --target y --dim 1 --out o1 " NET " --set response=ensemble", {"o1"}},
    {"stonet fit num.csv --target y --dim 1 --out o1 " NET " --set response=location-scale", {"o1"}},
    {"stonet fit num.csv --target y --dim 1 --out o1 " NET " --set output=refit --set restarts=2", {"o1"}},
    {"stonet fit lab.csv --target label --dim 1 --out o1 " NET " --set engine=ref", {"o1"}},
    {"stonet fit num.csv --target y --dim 1 --out o1 " NET " --set activation=auto --set weight_decay=auto",
     {"o1"}},
    {"stonet fit num.csv --target y --dim 1 --out o1 " NET " --set epochs=auto", {"o1"}},
    {"stonet calibrate num.model num.csv --target y --folds 2 --quiet --out o1", {"o1"}},
    {"stonet calibrate callab.model lab.csv --target label --fresh --score lac --quiet --out o1", {"o1"}},
    {"stonet predict cal.model num.csv --interval 0.5", {NULL}},
    {"stonet predict callab.model lab.csv --sets 0.5 --by-class --out o.csv", {"o.csv"}},
    {"stonet predict spread.model num.csv --spread", {NULL}},
    {"stonet predict rich.model rich.csv --missing-sd --out o.csv", {"o.csv"}},
    {"stonet transform net.model num.csv --activated", {NULL}},
    {"stonet transform cal.model num.csv --se num.csv --refits 2 --target y --quiet --out o.csv", {"o.csv"}},
    {"stonet importance cal.model num.csv --target y --kind refit --train num.csv --quiet --json", {NULL}},
    {"stonet importance net.model num.csv --target y --kind stability --repeats 1 --quiet --json", {NULL}},
    {"stonet tune num.csv --target y --dim 1 --method sir --grid slices=2,4 --folds 2 --within 1 --quiet "
     "--out o.json",
     {"o.json"}},
    {"stonet compare num.csv --target y --dim 1,2 --methods sir,none --test num.csv --quiet --plot o.svg "
     "--out o.json",
     {"o.svg", "o.json"}},
    {"stonet report cal.model num.csv --target y --order order.json --quiet --out o.html", {"o.html"}},
    {"stonet info rich.model --json", {NULL}},
    {"stonet export dated.model --out o.onnx", {"o.onnx"}},
    {"stonet export callab.model --format c", {NULL}},
    {"stonet export gsir.model --out o.onnx", {"o.onnx"}},
    {"stonet export kernel.model --format c", {NULL}},
    {"stonet export columns.model --format json", {NULL}},
    {"stonet shard rich.csv --target y --weights n --id id --ordinal size=low,mid,high --season day --quiet "
     "--out o.shards",
     {"o.shards/"}},
    {"stonet shard g.npy --target 22 --out o.shards", {"o.shards/"}},
    {"stonet fit rich.shards --target y --method sir --dim 1 --quiet --out o1", {"o1"}},
    {"stonet fit rich.shards --target y --dim 1 --out o1 " NET, {"o1"}},
    {"stonet transform rich.model rich.shards --out o.npy", {"o.npy"}},
    {"stonet score rich.model rich.shards --json", {NULL}},
    {"stonet fit pictures.idx --target-file labels.idx --dim 1 --out o1 " NET
     " --set front=conv --set front_channels=2",
     {"o1"}},
    {"stonet predict conv.model pictures.idx --proba", {NULL}},
    {"stonet fit wide.csv --target y --dim 1 --out o1 " NET " --set front=auto", {"o1"}},
    {"stonet fit wide.csv --target y --dim 1 --out o1 " NET " --set front=auto --set weight_decay=auto",
     {"o1"}},
    {"stonet fit rich.csv --target y --features a,b,code --dim 1 --out o1 " NET " --set missing=joint",
     {"o1"}},
    {"stonet fit rich.csv --target y --features a,b,code --dim 1 --out o1 " NET
     " --set missing_indicators=on",
     {"o1"}},
    {"stonet fit lab.csv --target label --dim 1 --out o1 " NET " --set class_weight=balanced --set l1=.01",
     {"o1"}},
    {"stonet fit sparse.svm --target y --dim 1 --out o1 " NET, {"o1"}},
    {"stonet order num.csv --target y --rule cv --folds 2 --max 2 --json " NET, {NULL}},
    {"stonet order num.csv --target y --method mave --resamples 2 --max 2 --quiet --json", {NULL}},
    {"stonet order all.csv --target label --method sir --rule tests --quiet --json", {NULL}},
    {"stonet independence num.csv --x a --y y --test dcor --permutations 20 --json", {NULL}},
    {"stonet independence many.csv --x a --y y --given b --test rcit --approx hbe --json", {NULL}},
    {"stonet independence many.csv --x a --y y --given b --test rcot --approx perm --permutations 20",
     {NULL}},
    {"stonet independence num.csv --x a --y y --approx gamma --repeats 2 --json", {NULL}},
    {"stonet compare num.csv all.csv --target 4 --dim 1 --methods sir,pca --folds 2 --checkpoint kept "
     "--every "
     "0 --quiet --json",
     {NULL}},
    {"stonet tune num.csv --target y --dim 1 --method sir --grid slices=2,4 --folds 2 --checkpoint kept "
     "--every 0 --quiet --json",
     {NULL}},
    {"stonet importance rich.model rich.csv --target y --kind shapley --repeats 2 --quiet --json", {NULL}},
    {"stonet importance cal.model num.csv --target y --kind stability --repeats 2 --quiet --json", {NULL}},
    {"stonet report rich.model rich.csv --target y --importance shapley --quiet --out o.html", {"o.html"}},
    {"stonet report callab.model lab.csv --target label --importance gradient --quiet --out o.html",
     {"o.html"}},
    {"stonet calibrate lab.model lab.csv --target label --folds 2 --quiet --out o1", {"o1"}},
    {"stonet score cal.model num.csv --target y --level 0.8 --json", {NULL}},
    {"stonet coef lab.model --json", {NULL}},
    {"stonet predict gaps.model rich.csv --spread --out o.csv", {"o.csv"}},
    {"stonet transform gaps.model rich.csv --impute --target y --out o.csv", {"o.csv"}},
    {"stonet transform gaps.model rich.csv --draws 2", {NULL}},
    {"stonet export components.model --format json", {NULL}},
    {"stonet export none.model --out o.onnx", {"o.onnx"}},
    {"stonet export gsir.model --format c", {NULL}},
    {"stonet fit num.csv --target y --method gsir --set landmarks=8 --dim 1 --out o1", {"o1"}},
    {"stonet fit lab.csv --target label --method ksir --set landmarks=8 --dim 1 --out o1", {"o1"}},
    {"stonet fit num.csv --target y --method gsave --set landmarks=8 --dim 1 --out o1", {"o1"}},
    {"stonet fit num.csv --target y --dim 1 --checkpoint kept --every 0 --out o1 " NET
     " --set activation=auto "
     "--set weight_decay=auto",
     {"o1"}},
    {"stonet fit num.csv --target y --dim 1 --out o1 " NET " --set select=group", {"o1"}},
};

const char *torture_also(const torture_command *command)
{
    return strstr(command->command, "--calibrate") != NULL ? "num.model" : NULL;
}

enum { FIXED = sizeof fixed / sizeof *fixed, MAX_METHODS = 200 };

/* A fit with each method that the program lists, on numbers and on labels. */
static size_t add_methods(torture_command *all, size_t count)
{
    char name[64];
    FILE *list = popen("$STONET methods | awk 'NR > 2 && NF == 0 {exit} NR > 2 && /^[^ ]/ {print $1}'", "r");
    for (int i = 0; list != NULL && i < MAX_METHODS && fscanf(list, "%63s", name) == 1; i++) {
        const char *more = strcmp(name, "stonet") == 0        ? " " NET
                           : strcmp(name, "nnsdr") == 0       ? " --set epochs=2"
                           : strcmp(name, "autoencoder") == 0 ? " --set epochs=2"
                           : strcmp(name, "gmddnet") == 0     ? " --set epochs=2 --set hidden=4"
                           : strcmp(name, "benn") == 0 ? " --set epochs=2 --set units=8 --set transforms=5"
                                                       : "";
        for (int way = 0; way < 2; way++) {
            torture_command *command = &all[count++];
            *command = (torture_command){.output = {"o1"}};
            snprintf(command->command, sizeof command->command,
                     "stonet fit %s --method %s --dim 1 --out o1%s",
                     way == 0 ? "num.csv --target y" : "lab.csv --target label", name, more);
        }
    }
    if (list == NULL || pclose(list) != 0 || count == FIXED) {
        fprintf(stderr, "the methods could not be listed\n");
        exit(2);
    }
    return count;
}

/* Where STONET_CUDA names a module: the tests' own takes seconds for this, in which the processor is the
 * device. */
static const torture_command on_device = {
    "stonet fit num.csv --target y --dim 1 --out o1 " NET " --set sweeps=1 --set engine=cuda", {"o1"}};

torture_command *torture_commands(size_t *count)
{
    torture_command *all = malloc((FIXED + 2 * MAX_METHODS + 1) * sizeof *all);
    if (all == NULL) {
        fprintf(stderr, "memory ran out\n");
        exit(2);
    }
    memcpy(all, fixed, sizeof fixed);
    *count = add_methods(all, FIXED);
    if (getenv("STONET_CUDA") != NULL) all[(*count)++] = on_device;
    return all;
}
