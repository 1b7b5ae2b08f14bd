def sub(p, pairs):
    s=open(p).read()
    for a,b in pairs:
        assert a in s, (p,a)
        s=s.replace(a,b,1)
    open(p,'w').write(s)
sub('cli/transform.c',[
('''    int64_t draws, seed, threads;
    bool activated, impute;
    const char *out;
} transform_values;''','''    run_options run;
    int64_t draws, refits;
    bool activated, impute;
    const char *se, *out;
} transform_values;'''),
('''     .help = "M random passes instead of the mean, one below the other (M times the rows)"},''','''     .help = "M random passes with the noise of the network instead of the mean, one below the other (M times "
             "the rows); their spread is no standard error"},'''),
('''    TARGET_OPTIONS(transform_values, target),
    SEED_OPTION(transform_values, seed),
    THREADS_OPTION(transform_values, threads),
};''','''    {.name = "se",
     .kind = OPTION_TEXT,
     .offset = offsetof(transform_values, se),
     .argument = "FILE",
     .help = "Also standard errors of Z, columns se1, se2, ..: the model is fitted again on halves of its "
             "training rows, which are this file (with --target or --target-file)"},
    {.name = "refits",
     .kind = OPTION_INTEGER,
     .offset = offsetof(transform_values, refits),
     .argument = "B",
     .initial = "50",
     .low = 2,
     .high = 100000,
     .help = "How many, with --se"},
    TARGET_OPTIONS(transform_values, target),
    RUN_OPTIONS(transform_values, run),
};'''),
('''static int write_z(const cli_command *command, const char *path, const float *z, int64_t rows, int64_t dim)
{
    enum { NAME_SIZE = 24 };
    double *values = malloc((size_t)(rows * dim) * sizeof *values);
    char(*text)[NAME_SIZE] = malloc((size_t)dim * sizeof *text);
    const char **names = malloc((size_t)dim * sizeof *names);
''','''/* z1, z2, .. and, unless se (rows x dim) is NULL, se1, se2, .. */
static int write_z(const cli_command *command, const char *path, const float *z, const double *se,
                   int64_t rows, int64_t dim)
{
    enum { NAME_SIZE = 24 };
    const int64_t columns = se != NULL ? 2 * dim : dim;
    double *values = malloc((size_t)(rows * columns) * sizeof *values);
    char(*text)[NAME_SIZE] = malloc((size_t)columns * sizeof *text);
    const char **names = malloc((size_t)columns * sizeof *names);
'''),
('''        for (int64_t j = 0; j < dim; j++) {
            snprintf(text[j], NAME_SIZE, "z%" PRId64, j + 1);
            names[j] = text[j];
        }
        for (int64_t i = 0; i < rows * dim; i++) values[i] = (double)z[i];
        result = output_matrix(command, path, values, rows, dim, names);
''','''        for (int64_t j = 0; j < columns; j++) {
            snprintf(text[j], NAME_SIZE, j < dim ? "z%" PRId64 : "se%" PRId64, j % dim + 1);
            names[j] = text[j];
        }
        for (int64_t i = 0; i < rows * columns; i++) {
            const int64_t row = i / columns, j = i % columns;
            values[i] = j < dim ? (double)z[row * dim + j] : se[row * dim + j - dim];
        }
        result = output_matrix(command, path, values, rows, columns, names);
'''),
('''                              .seed = (uint64_t)values->seed,
                              .threads = (int)values->threads};
    stonet_status status = stonet_transform(model, data, &how, z);
    int result = status == STONET_OK ? write_z(command, values->out, z, rows * passes, dim)
                                     : say_failure(command, status);
    free(z);
    return result;
}
''','''                              .seed = (uint64_t)values->run.seed,
                              .threads = (int)values->run.threads};
    stonet_status status = stonet_transform(model, data, &how, z);
    double *se = NULL;
    int result = status == STONET_OK ? EXIT_DONE : say_failure(command, status);
    if (result == EXIT_DONE && values->se != NULL) result = standard_errors(command, values, model, data, &se);
    if (result == EXIT_DONE) result = write_z(command, values->out, z, se, rows * passes, dim);
    free(se);
    free(z);
    return result;
}
'''),
('''static int transform(const cli_command *command''','''/* *se, rows x dim, is to be freed. */
static int standard_errors(const cli_command *command, const transform_values *values,
                           const stonet_model *model, const stonet_data *data, double **se)
{
    stonet_data *train = NULL;
    int result =
        read_data_for(command, model, values->se, &values->target, values->run.threads, &train);
    if (result != EXIT_DONE) return result;
    *se = malloc((size_t)(stonet_data_rows(data) * stonet_model_dim(model)) * sizeof **se);
    if (*se == NULL) {
        say_error(command, "memory ran out");
        result = EXIT_FAILED;
    } else {
        stonet_run run;
        double stability = 0.0;
        start_run(&values->run, &run);
        stonet_status status =
            stonet_transform_se(model, train, data, values->refits, &run, *se, &stability);
        progress_clear();
        if (status != STONET_OK)
            result = say_failure(command, status);
        else if (!values->run.quiet)
            fprintf(stderr,
                    "%" PRId64 " refits on halves of the rows: mean canonical correlation of their Z with that "
                    "of the model %.3f\\n",
                    values->refits, stability);
    }
    stonet_data_free(train);
    return result;
}

static int transform(const cli_command *command'''),
('''    int result = values.impute ? require_target(command, &values.target) : EXIT_DONE;
''','''    int result = values.impute ? require_target(command, &values.target) : EXIT_DONE;
    if (values.se != NULL && (values.draws > 0 || values.activated || values.impute)) {
        say_usage(command, "--se is for the plain Z, without --draws, --activated and --impute");
        result = EXIT_USAGE;
    }
'''),
('''    if (result == EXIT_DONE)
        result = read_data_for(command, model, given.operand[1], &values.target, values.threads, &data);
''','''    /* With --se the response is that of the training rows. */
    const target_options none = {.header = values.target.header};
    if (result == EXIT_DONE)
        result = read_data_for(command, model, given.operand[1], values.se != NULL ? &none : &values.target,
                               values.run.threads, &data);
'''),
('''--draws 100 --out draws.npy",''','''--draws 100 --out draws.npy\\n"
                "  stonet transform my.model test.csv --se train.csv --target y --out z.csv",'''),
('#include "cli/output.h"\n','#include "cli/output.h"\n#include "cli/progress.h"\n'),
])
