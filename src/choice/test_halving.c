/* The one rule of the choice against trainings done by hand: the lowest held-out loss wins, from rows that
   had no say in it. */
#include "base/test_kit.h"
#include "choice/baselines.h"
#include "choice/choosing.h"
#include "engine/test_oracle.h"
#include "stonet/test_settings.h"

enum { N = 120, P = 3, LINES = 3 };

static const sn_line THREE[LINES] = {
    {SN_FAMILY_NETWORK, {{.kind = SN_FRONT_NONE}, SN_TANH, 0.01}},
    {SN_FAMILY_KERNEL,
     {{.kind = SN_FRONT_KERNEL, .complexity = 1.5, .linear = 0.1, .size = 30}, SN_TANH, 0.01}},
    {SN_FAMILY_LINEAR, {{.kind = SN_FRONT_NONE}, SN_IDENTITY, 0.1}}};

typedef struct fixture {
    oracle o;
    sn_settings *settings;
    stonet_run run;
    sn_choice_job job;
} fixture;

/* y = signal tanh(3 x0) (1.5 + tanh(x1) / 2) + noise, of n rows with p columns. */
static void make(fixture *f, int64_t n, int64_t p, double signal, uint64_t seed, const char *pairs)
{
    const int64_t width[] = {p, 2, 1};
    f->o = oracle_make(2, width, SN_TANH, SN_REGRESSION, n, seed);
    for (int64_t r = 0; r < n; r++) {
        const double a = (double)f->o.x[r * p], b = (double)f->o.x[r * p + 1];
        f->o.y[r] = signal * tanh(3.0 * a) * (1.5 + 0.5 * tanh(b)) + (signal > 0.0 ? 0.2 : 1.0) * f->o.y[r];
    }
    f->settings = settings_with(pairs);
    f->run = (stonet_run)STONET_RUN_INIT;
    f->job = (sn_choice_job){.settings = f->settings,
                             .problem = &f->o.problem,
                             .rows = sn_rows_range(0, n),
                             .units = 3,
                             .engine = &sn_engine_cpu,
                             .step = 1.0,
                             .seed = seed,
                             .threads = 1,
                             .run = &f->run};
}

static void drop(fixture *f)
{
    sn_settings_free(f->settings);
    oracle_free(&f->o);
}

static const char *const OPEN = "", *const GIVEN = "epochs 60";

/* ---- trainings by hand ------------------------------------------------------------------------------ */

/* Held-out losses of a line on one fold at the end of so many updates, and its loss over all rows. */
static double train_by_hand(const fixture *f, const sn_folds *folds, int fold, const sn_line *line,
                            int length, sn_held_out *cost)
{
    const sn_rows *rows = &folds->fold[fold].train;
    SN_AUTO(sn_front) *front = NULL;
    sn_problem seen;
    sn_shape shape;
    sn_config config;
    SN_AUTO(sn_trainer) *trainer = NULL;
    double loss;
    float theta[4096];
    OK(sn_front_make(&line->kind.front, &f->o.problem, rows, f->job.seed, &front));
    OK(sn_front_problem(front, &f->o.problem, NULL, &seen));
    OK(sn_line_config(&f->job, &line->kind, &seen, &shape, &config));
    assert_true(shape.parameters <= 4096);
    const int64_t updates = sn_length_updates(&config, length, rows->n);
    config.epochs = (double)updates / (double)sn_train_batches(&config, rows->n);
    const sn_stage_job job = {.shape = &shape,
                              .problem = &seen,
                              .rows = *rows,
                              .config = &config,
                              .seed = f->job.seed,
                              .threads = 1,
                              .run = &f->run};
    OK(sn_fold_start(&job, fold, theta));
    OK(sn_trainer_create(&job, theta, &trainer));
    OK(sn_trainer_run(trainer, updates));
    sn_trainer_parameters(trainer, theta);
    const sn_use network = {&seen, config.engine, &shape, theta, 1};
    OK(sn_folds_measure(folds, fold, &network, cost));
    OK(sn_engine_loss(&network, &f->job.rows, NULL, &loss));
    sn_front_problem_free(&f->o.problem, &seen);
    return loss;
}

/* With the length given there is one training for each line and fold. The line with the lowest mean wins, its
   estimate has for each fold the losses of what is best on the others, and of its networks the one is kept
   that is best on all rows. */
TEST(the_lowest_mean_loss_wins)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        SN_FREED_BY(drop) fixture f = {0};
        SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
        SN_FREED_BY(sn_choice_free) sn_choice choice = {0};
        double mean[LINES], whole[LINES][SN_FOLDS], estimate = 0.0;
        sn_held_out cost[LINES], guess;
        int best = 0, fold = 0;
        make(&f, N, P, 1.0, seed, GIVEN);
        OK(sn_folds_make(&f.o.problem, &f.job.rows, seed, &folds));
        for (int a = 0; a < LINES; a++) {
            OK(sn_held_out_create(&folds, &cost[a]));
            for (int k = 0; k < folds.count; k++)
                whole[a][k] = train_by_hand(&f, &folds, k, &THREE[a], 0, &cost[a]);
            mean[a] = sn_mean_loss(cost[a].loss, 0, N);
            if (mean[a] < mean[best]) best = a;
        }
        for (int k = 1; k < folds.count; k++)
            if (whole[best][k] < whole[best][fold]) fold = k;
        for (int k = 0; k < folds.count; k++) {
            const sn_fold *part = &folds.fold[k];
            int other = 0;
            double least = (double)INFINITY;
            for (int a = 0; a < LINES; a++) {
                const double rest = N * mean[a] - (double)part->test.n *
                                                      sn_mean_loss(cost[a].loss, part->first, part->test.n);
                if (rest < least) other = a;
                least = fmin(least, rest);
            }
            estimate += (double)part->test.n * sn_mean_loss(cost[other].loss, part->first, part->test.n) / N;
        }
        OK(sn_choose(&f.job, THREE, LINES, &choice));
        assert_int_equal(choice.outcome, STONET_DONE);
        assert_memory_equal(&choice.line, &THREE[best], sizeof choice.line);
        assert_int_equal(choice.fold, fold);
        assert_true(fabs(choice.loss - whole[best][fold]) < 1e-12);
        assert_true(fabs(choice.chosen.loss - estimate) < 1e-12 && choice.held_out == N);
        OK(sn_held_out_create(&folds, &guess));
        OK(sn_constant_measure(&f.o.problem, &folds, &guess));
        assert_true(fabs(choice.constant.loss - sn_mean_loss(guess.loss, 0, N)) < 1e-12);
        assert_true(fabs(choice.gains.over_constant.mean - (choice.constant.loss - estimate)) < 1e-12);
        sn_held_out_free(&guess);
        for (int a = 0; a < LINES; a++) sn_held_out_free(&cost[a]);
    }
}

/* The place of a line among the neighbours, and of its length; what is told of its loss. */
static double told(const char *neighbours, const sn_line *line, int *length)
{
    char name[120];
    long long updates;
    double loss;
    sn_line_tell(line, name, sizeof name);
    const char *at = strstr(neighbours, name);
    assert_non_null(at);
    assert_int_equal(sscanf(at + strlen(name), ", %lld updates; held-out loss %lf", &updates, &loss), 2);
    for (*length = 0; sn_rung_updates(*length) != updates; ++*length) assert_true(*length < SN_RUNGS);
    return loss;
}

/* With lengths open, each line is at the best of those it came to, and the winner has the lowest of all. */
TEST(lengths_are_chosen_too)
{
    SN_FREED_BY(drop) fixture f = {0};
    SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
    SN_FREED_BY(sn_choice_free) sn_choice choice = {0};
    double least = (double)INFINITY;
    int winner = -1, at = -1;
    make(&f, N, P, 1.0, 4, OPEN);
    OK(sn_folds_make(&f.o.problem, &f.job.rows, 4, &folds));
    OK(sn_choose(&f.job, THREE, LINES, &choice));
    for (int a = 0; a < LINES; a++) {
        int length;
        const double loss = told(choice.neighbours, &THREE[a], &length);
        double by_hand = (double)INFINITY;
        for (int l = length; l >= 0; l--) {
            SN_FREED_BY(sn_held_out_free) sn_held_out cost = {0};
            OK(sn_held_out_create(&folds, &cost));
            for (int k = 0; k < folds.count; k++) train_by_hand(&f, &folds, k, &THREE[a], l, &cost);
            const double mean = sn_mean_loss(cost.loss, 0, N);
            if (l == length) by_hand = mean;
            assert_true(by_hand <= mean); /* shorter ones were there to be taken */
        }
        assert_true(fabs(loss - by_hand) < 1e-3 * by_hand);
        if (by_hand >= least) continue;
        least = by_hand;
        winner = a;
        at = length;
    }
    assert_memory_equal(&choice.line, &THREE[winner], sizeof choice.line);
    assert_int_equal(choice.updates, sn_rung_updates(at));
}

/* A line that gains is left where it is when as large a gain on every rung to come would not bring it to the
   first one: kernels of a linear response, beside the linear model. */
TEST(who_cannot_win_is_left)
{
    static const sn_line lines[] = {
        {SN_FAMILY_LINEAR, {{.kind = SN_FRONT_NONE}, SN_IDENTITY, 1e-3}},
        {SN_FAMILY_KERNEL, {{.kind = SN_FRONT_KERNEL, .complexity = 0.5, .size = 30}, SN_TANH, 0.01}}};
    SN_FREED_BY(drop) fixture f = {0};
    SN_AUTO(sn_choosing) *s = NULL;
    int last;
    make(&f, N, P, 1.0, 4, OPEN);
    for (int64_t r = 0; r < N; r++) f.o.y[r] = (double)f.o.x[r * P];
    OK(sn_choosing_begin(&f.job, lines, 2, SN_FOLDS, &s));
    OK(sn_climb(s, &last));
    const sn_line_training *kernel = &s->all[1];
    const int reached = sn_common_lengths(kernel, SN_FOLDS);
    assert_true(reached > 1 && reached < s->most_rungs);
    const double now = sn_mean_loss(kernel->cost[reached - 1].loss, 0, N),
                 before = sn_mean_loss(kernel->cost[reached - 2].loss, 0, N);
    assert_true(now < before);
    assert_true(now - (s->most_rungs - reached) * (before - now) > s->all[0].score);
}

/* ---- the same again --------------------------------------------------------------------------------- */

static void assert_same(const sn_choice *a, const sn_choice *b)
{
    assert_memory_equal(&a->line, &b->line, sizeof a->line);
    assert_memory_equal(&a->chosen, &b->chosen, sizeof a->chosen);
    assert_memory_equal(&a->constant, &b->constant, sizeof a->constant);
    assert_memory_equal(&a->linear, &b->linear, sizeof a->linear);
    assert_true(a->updates == b->updates && a->fold == b->fold && a->loss == b->loss && a->tried == b->tried);
    assert_string_equal(a->neighbours, b->neighbours);
    assert_int_equal(a->shape.parameters, b->shape.parameters);
    assert_memory_equal(a->theta, b->theta, (size_t)a->shape.parameters * sizeof *a->theta);
}

/* One thread, three, and one again; on signal and on noise, which is judged by choices inside the folds. */
TEST(the_same_bits)
{
    for (int noise = 0; noise < 2; noise++) {
        SN_FREED_BY(drop) fixture f = {0};
        sn_choice choice[3];
        make(&f, 90, P, noise ? 0.0 : 1.0, 5, OPEN);
        for (int k = 0; k < 3; k++) {
            f.job.threads = k == 1 ? 3 : 1;
            OK(sn_choose(&f.job, THREE, LINES, &choice[k]));
            assert_same(&choice[k], &choice[0]);
        }
        for (int k = 0; k < 3; k++) sn_choice_free(&choice[k]);
    }
}

/* ---- no say in what one is measured by -------------------------------------------------------------- */

/* Held-out losses of a fold, and what it sees of all rows. Another fold has diverged: that must not stop this
   one, or the result would depend on which of two threads is the first. */
static void run_fold(fixture *f, const sn_folds *folds, int fold, const sn_line *line, double *loss,
                     float *seen)
{
    sn_views views = {.recipe = line->kind.front};
    SN_FREED_BY(sn_line_training_free) sn_line_training c = {.line = *line, .views = &views};
    sn_leg leg = {.candidate = &c, .fold = fold, .lengths = 1, .threads = 1, .run = &f->run};
    c.diverged[(fold + 1) % SN_FOLDS] = true;
    OK(sn_held_out_create(folds, &c.cost[0]));
    OK(sn_view_make(&f->job, f->job.problem, folds, fold, &views));
    OK(sn_leg_run(&f->job, folds, &leg, NULL));
    assert_int_equal(c.reached[fold], 1);
    assert_true(!c.diverged[fold] && sn_line_diverged(&c));
    const sn_problem *view = &views.fold[fold].seen;
    memcpy(loss, c.cost[0].loss, (size_t)folds->rows * sizeof *loss);
    memcpy(seen, view->x, (size_t)(view->n * view->p) * sizeof *seen);
    sn_views_free(&f->job, &views);
}

/* The rows of a single fold are cut into five parts, rows that belong together into the same: the losses of a
   part are those of the line that is best on the others. */
TEST(kin_do_not_choose_for_each_other)
{
    enum { ROWS = 200, UNITS = 20 };
    SN_FREED_BY(drop) fixture f = {0};
    int64_t kin[ROWS];
    sn_choice choice = {0};
    bool nothing;
    double right = 0.0;
    make(&f, ROWS, P, 1.0, 1, GIVEN);
    for (int64_t i = 0; i < ROWS; i++) kin[i] = i / 2;
    f.o.problem.kin = kin;
    SN_AUTO(sn_choosing) *s = NULL;
    OK(sn_choosing_begin(&f.job, THREE, 2, SN_FOLDS, &s));
    const sn_fold *fold = &s->folds.fold[0];
    assert_int_equal(fold->test.n, 2 * UNITS);
    sn_random random = sn_random_from(2, SN_STREAM_TEST, 0);
    for (int a = 0; a < 2; a++) {
        OK(sn_held_out_create(&s->folds, &s->all[a].cost[0]));
        s->all[a].reached[0] = 1;
        s->all[a].shape[0] = f.o.shape;
        for (int i = 0; i < 2 * UNITS; i++) s->all[a].cost[0].loss[i] = pow(sn_random_normal(&random), 2.0);
    }
    int part[2 * UNITS], units = 0;
    for (int i = 0; i < 2 * UNITS; i++) {
        int first = 0;
        while (kin[sn_rows_at(&fold->test, first)] != kin[sn_rows_at(&fold->test, i)]) first++;
        part[i] = first < i ? part[first] : units++ % 5;
    }
    for (int j = 0; j < 5; j++) {
        double others[2] = {0.0}, own[2] = {0.0};
        for (int a = 0; a < 2; a++)
            for (int i = 0; i < 2 * UNITS; i++)
                *(part[i] == j ? &own[a] : &others[a]) += s->all[a].cost[0].loss[i] / (2 * UNITS);
        right += own[others[1] < others[0]];
    }
    OK(sn_choice_estimate(s, 0, THREE, &s->all[0], &choice, &nothing));
    assert_true(fabs(choice.chosen.loss - right) < 1e-12);
}

/* The record of a leg that has come further than it was to go, as no program writes it, is refused: there is
   no room for its losses. */
TEST(a_leg_goes_no_further_than_it_was_told)
{
    SN_FREED_BY(drop) fixture f = {0};
    make(&f, N, P, 1.0, 1, GIVEN);
    SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
    SN_FREED_BY(sn_pack_clear) sn_pack record = {0};
    OK(sn_folds_make(&f.o.problem, &f.job.rows, 1, &folds));
    sn_views views = {.recipe = THREE[0].kind.front};
    SN_FREED_BY(sn_line_training_free) sn_line_training c = {.line = THREE[0], .views = &views};
    const sn_leg leg = {.candidate = &c, .lengths = 1, .threads = 1, .run = &f.run};
    OK(sn_held_out_create(&folds, &c.cost[0]));
    OK(sn_view_make(&f.job, f.job.problem, &folds, 0, &views));
    OK(sn_pack_int(&record, 0)); /* not diverged, */
    OK(sn_pack_int(&record, 2)); /* two lengths */
    for (int k = 0; k < 5000; k++) OK(sn_pack_real(&record, 0.0));
    assert_says(sn_leg_unpack(&f.job, &folds, &leg, &(sn_unpack){record.bytes, record.size}),
                STONET_ERROR_FORMAT, "does not fit");
    sn_views_free(&f.job, &views);
}

/* Whatever stands in a held-out row, its fold sees the other rows as before and judges them as before. */
TEST(held_out_rows_have_no_say)
{
    enum { WIDE = 12, ROWS = 60, MOST = 64 };
    static const sn_line lines[] = {
        {SN_FAMILY_NETWORK, {{.kind = SN_FRONT_NONE}, SN_TANH, 0.01}},
        {SN_FAMILY_KERNEL, {{.kind = SN_FRONT_KERNEL, .complexity = 1.5, .size = 40}, SN_TANH, 0.01}},
        {SN_FAMILY_FEW, {{.kind = SN_FRONT_COLUMNS, .size = 4}, SN_TANH, 0.01}},
        {SN_FAMILY_FEW, {{.kind = SN_FRONT_COMPONENTS, .size = 4}, SN_TANH, 0.01}}};
    for (size_t a = 0; a < sizeof lines / sizeof *lines; a++) {
        static float seen[2][ROWS * MOST];
        double loss[2][ROWS];
        SN_FREED_BY(drop) fixture f = {0};
        SN_FREED_BY(sn_folds_free) sn_folds folds = {0};
        make(&f, ROWS, WIDE, 1.0, 6, OPEN);
        OK(sn_folds_make(&f.o.problem, &f.job.rows, 6, &folds));
        const sn_fold *fold = &folds.fold[2];
        const int64_t row = sn_rows_at(&fold->test, 1);
        memset(seen, 0, sizeof seen);
        run_fold(&f, &folds, 2, &lines[a], loss[0], seen[0]);
        for (int j = 0; j < WIDE; j++) f.o.x[row * WIDE + j] = j % 2 == 0 ? 1e3F : -50.0F;
        f.o.y[row] = 77.0;
        run_fold(&f, &folds, 2, &lines[a], loss[1], seen[1]);
        const int64_t p = lines[a].kind.front.kind == SN_FRONT_NONE     ? WIDE
                          : lines[a].kind.front.kind == SN_FRONT_KERNEL ? 0 /* as many as there are */
                                                                        : 4;
        for (int64_t i = 0; i < ROWS; i++)
            if (p > 0 && i != row)
                assert_memory_equal(seen[0] + i * p, seen[1] + i * p, (size_t)p * sizeof(float));
        for (int64_t i = 0; i < fold->test.n; i++)
            assert_int_equal(loss[0][fold->first + i] == loss[1][fold->first + i],
                             sn_rows_at(&fold->test, i) != row);
    }
}

/* The best of 300 columns of noise look as if they told something. The estimate must not: over ten tables its
   gain over a constant guess is not above 0 by more than chance. */
TEST(chosen_columns_of_noise_gain_nothing)
{
    enum { TABLES = 10, FEW = 4 };
    sn_line lines[FEW];
    double sum = 0.0, squares = 0.0;
    for (int a = 0; a < FEW; a++)
        lines[a] = (sn_line){
            SN_FAMILY_FEW, {{.kind = SN_FRONT_COLUMNS, .size = a < 2 ? 2 : 8}, SN_TANH, a % 2 ? 0.1 : 0.01}};
    for (uint64_t seed = 1; seed <= TABLES; seed++) {
        SN_FREED_BY(drop) fixture f = {0};
        SN_FREED_BY(sn_choice_free) sn_choice choice = {0};
        make(&f, 60, 300, 0.0, seed, OPEN);
        OK(sn_choose(&f.job, lines, FEW, &choice));
        assert_true(choice.theta != NULL && choice.front != NULL);
        sum += choice.gains.over_constant.mean;
        squares += choice.gains.over_constant.mean * choice.gains.over_constant.mean;
    }
    const double mean = sum / TABLES, variance = (squares - sum * mean) / (TABLES - 1);
    assert_true(mean < 2.0 * sqrt(variance / TABLES));
}

/* Where the estimate is not below the loss of a constant guess, the strongest weight decay is taken, and the
   estimate is that of the guess. */
TEST(nothing_to_find)
{
    enum { MANY = 16 };
    static const sn_line three[] = {{SN_FAMILY_NETWORK, {{.kind = SN_FRONT_NONE}, SN_TANH, 1e-3}},
                                    {SN_FAMILY_LINEAR, {{.kind = SN_FRONT_NONE}, SN_IDENTITY, 1.0}},
                                    {SN_FAMILY_NETWORK, {{.kind = SN_FRONT_NONE}, SN_TANH, 1e-2}}};
    sn_line many[MANY]; /* the strongest may have gone out long before, and what its folds saw with it */
    int nothing[2] = {0};
    for (int a = 0; a < MANY; a++)
        many[a] = (sn_line){SN_FAMILY_FEW,
                            {{.kind = SN_FRONT_COLUMNS, .size = a + 1}, SN_TANH, a == 9 ? 0.0101 : 0.01}};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        const bool is_out = seed > 6;
        SN_FREED_BY(drop) fixture f = {0};
        SN_FREED_BY(sn_choice_free) sn_choice choice = {0};
        make(&f, is_out ? 60 : 80, is_out ? 30 : P, 0.0, is_out ? seed - 6 : seed, is_out ? "epochs 5" : "");
        OK(sn_choose(&f.job, is_out ? many : three, is_out ? MANY : 3, &choice));
        if (choice.gains.over_constant.mean >= 0.0) continue;
        nothing[is_out]++;
        assert_true(choice.line.kind.weight_decay == (is_out ? 0.0101 : 1.0));
        assert_int_equal(choice.updates, is_out ? 0 : sn_rung_updates(0));
        assert_memory_equal(&choice.chosen, &choice.constant, sizeof choice.chosen);
        assert_int_equal(choice.front != NULL ? choice.front->outputs : P, is_out ? 10 : P);
        assert_true(isfinite(choice.loss) && choice.loss > 0.0);
    }
    assert_true(nothing[0] >= 2 && nothing[1] >= 2);
}

/* ---- stopping --------------------------------------------------------------------------------------- */

/* Whenever it is stopped, there is a network of some fold that fits its front; or none was trained yet. */
TEST(a_stop_leaves_a_network)
{
    int with = 0;
    for (int noise = 0; noise < 2; noise++)
        for (int calls = 0; calls < 3000; calls = 1 + 2 * calls) {
            SN_FREED_BY(drop) fixture f = {0};
            SN_FREED_BY(sn_choice_free) sn_choice choice = {0};
            int64_t left = calls;
            make(&f, 70, P, noise ? 0.0 : 1.0, 7, OPEN);
            f.run.should_stop = stop_after;
            f.run.user = &left;
            OK(sn_choose(&f.job, THREE, LINES, &choice));
            if (left >= 0) assert_int_equal(choice.outcome, STONET_DONE);
            if (left < 0) assert_int_equal(choice.outcome, STONET_STOPPED);
            with += choice.theta != NULL;
            for (int64_t k = 0; choice.theta != NULL && k < choice.shape.parameters; k++)
                assert_true(isfinite(choice.theta[k]));
            if (choice.theta != NULL)
                assert_int_equal(choice.shape.width[0], choice.front != NULL ? choice.front->outputs : P);
            if (calls > 100) assert_non_null(choice.theta);
        }
    assert_true(with > 10);
}

RUN_TESTS(NULL, NULL)
