/* The table of candidates: what is set takes the lines away that have something else, and nothing more. */
#include "base/test_kit.h"
#include "choice/candidates.h"
#include "stonet/test_settings.h"

typedef struct table {
    sn_line line[SN_MOST_LINES];
    int count;
    bool open;
    stonet_status status;
} table;

static table table_of(int64_t n, int64_t p, const char *pairs)
{
    table t = {.count = -1};
    SN_AUTO(sn_settings) *settings = settings_with(pairs);
    const sn_problem problem = {.n = n, .p = p, .task = SN_REGRESSION, .outputs = 1};
    t.status = sn_lines_for(settings, &problem, 1, t.line, &t.count, &t.open);
    return t;
}

static table fine(int64_t n, int64_t p, const char *pairs)
{
    const table t = table_of(n, p, pairs);
    OK(t.status);
    return t;
}

static bool is_same(const sn_line *a, const sn_line *b, bool whatever_decay)
{
    return a->family == b->family && sn_front_recipe_same(&a->kind.front, &b->kind.front) &&
           a->kind.activation == b->kind.activation &&
           (whatever_decay || a->kind.weight_decay == b->kind.weight_decay);
}

static bool has(const table *t, const sn_line *line, bool whatever_decay)
{
    for (int k = 0; k < t->count; k++)
        if (is_same(&t->line[k], line, whatever_decay)) return true;
    return false;
}

static int count_front(const table *t, sn_front_kind kind)
{
    int count = 0;
    for (int k = 0; k < t->count; k++) count += t->line[k].kind.front.kind == kind;
    return count;
}

enum { SMALL = 100, FEW = 3 };
static const char *const NOTHING = "";

enum {
    TANH = 1 << SN_FAMILY_NETWORK,
    NETWORKS = TANH | 1 << SN_FAMILY_RELU,
    KERNELS = 1 << SN_FAMILY_KERNEL,
    LINEAR = 1 << SN_FAMILY_LINEAR
};

/* Which lines of the whole table a setting leaves. */
TEST(what_is_set_takes_its_lines_away)
{
    static const struct {
        const char *pairs;
        int families;
        double complexity; /* of the kernel; 0: whatever it is */
    } cases[] = {{"epochs 7", NETWORKS | KERNELS | LINEAR, 0},
                 {"restarts 3 lr 0.1", NETWORKS | KERNELS | LINEAR, 0},
                 {"front none", NETWORKS | LINEAR, 0},
                 {"front kernel", KERNELS, 0},
                 {"front kernel front_complexity 4.5", KERNELS, 4.5},
                 {"hidden 5", NETWORKS, 0},
                 {"input_activation tanh", NETWORKS, 0},
                 {"activation tanh", TANH | KERNELS, 0},
                 {"activation identity", LINEAR, 0},
                 {"select group", NETWORKS | LINEAR, 0}};
    const table whole = fine(SMALL, FEW, NOTHING);
    assert_true(whole.open);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const table t = fine(SMALL, FEW, cases[k].pairs);
        int expected = 0;
        assert_true(t.open);
        for (int a = 0; a < whole.count; a++) {
            const sn_line *line = &whole.line[a];
            const bool left =
                (cases[k].families >> line->family & 1) != 0 &&
                (cases[k].complexity == 0 || line->kind.front.complexity == cases[k].complexity);
            expected += left;
            assert_int_equal(has(&t, line, false), left);
        }
        assert_int_equal(t.count, expected);
    }
}

/* Units that learn at other speeds are not compared before the end. */
TEST(a_family_has_one_kind_of_units)
{
    const table t = fine(SMALL, FEW, NOTHING);
    for (int a = 0; a < t.count; a++)
        for (int b = 0; b < a; b++)
            if (t.line[a].family == t.line[b].family) {
                assert_int_equal(t.line[a].kind.activation, t.line[b].kind.activation);
                assert_int_equal(t.line[a].kind.front.kind, t.line[b].kind.front.kind);
            }
}

/* A weight decay leaves every kind of network. */
TEST(a_given_decay)
{
    const table whole = fine(SMALL, FEW, NOTHING), t = fine(SMALL, FEW, "weight_decay 0.02");
    assert_true(t.open);
    for (int a = 0; a < whole.count; a++) assert_true(has(&t, &whole.line[a], true));
    for (int a = 0; a < t.count; a++) assert_true(has(&whole, &t.line[a], true));
}

/* With epochs and weight decay nothing is open: one line, of what else was set. */
TEST(one_line)
{
    static const struct {
        const char *pairs;
        sn_front_kind front;
        sn_activation activation;
    } cases[] = {{"epochs 3 weight_decay 0.5", SN_FRONT_NONE, SN_TANH},
                 {"epochs 3 weight_decay 0.5 activation sigmoid", SN_FRONT_NONE, SN_SIGMOID},
                 {"epochs 3 weight_decay 0.5 hidden none", SN_FRONT_NONE, SN_RELU},
                 {"epochs 3 weight_decay 0.5 front kernel", SN_FRONT_KERNEL, SN_TANH},
                 {"epochs 3 weight_decay 0.5 front columns", SN_FRONT_COLUMNS, SN_TANH},
                 {"epochs 3 weight_decay 0.5 front components", SN_FRONT_COMPONENTS, SN_TANH},
                 {"weight_decay 0.5 front conv", SN_FRONT_CONV, SN_TANH}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const table t = fine(SMALL, FEW, cases[k].pairs);
        assert_false(t.open);
        assert_int_equal(t.count, 1);
        assert_int_equal(t.line[0].kind.front.kind, cases[k].front);
        assert_int_equal(t.line[0].kind.activation, cases[k].activation);
        assert_true(t.line[0].kind.weight_decay == 0.5);
    }
}

/* Many more columns than rows: a few of the columns and components, and nothing that sees all of x. */
TEST(wide_tables)
{
    static const struct {
        int64_t n, p;
        const char *pairs;
        bool wide;
    } cases[] = {{100, 200, "", false},           {100, 201, "", true},
                 {101, 202, "", false},           {5, 20, "", false},
                 {100, 201, "front none", false}, {100, 201, "select group", false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const table t = fine(cases[k].n, cases[k].p, cases[k].pairs);
        const int few = count_front(&t, SN_FRONT_COLUMNS) + count_front(&t, SN_FRONT_COMPONENTS);
        assert_int_equal(few, cases[k].wide ? t.count : 0);
        if (!cases[k].wide) continue;
        assert_true(count_front(&t, SN_FRONT_COLUMNS) > 0 && count_front(&t, SN_FRONT_COMPONENTS) > 0);
    }
}

/* Above 20,000 rows kernels are tried where they are asked for. Landmarks: a tenth of the rows, 200 to 1,000.
 */
TEST(kernels)
{
    const int64_t landmarks[][2] = {{100, 200}, {2000, 200}, {5000, 500}, {20000, 1000}, {20001, 1000}};
    for (int k = 0; k < 5; k++) {
        const table t = fine(landmarks[k][0], 3, NOTHING), asked = fine(landmarks[k][0], 3, "front kernel");
        assert_int_equal(count_front(&t, SN_FRONT_KERNEL) > 0, landmarks[k][0] <= 20000);
        assert_int_equal(count_front(&asked, SN_FRONT_KERNEL), asked.count);
        assert_int_equal(asked.line[0].kind.front.size, landmarks[k][1]);
    }
    const table given = fine(100, 3, "front kernel front_linear 0.25 front_landmarks 17");
    assert_true(given.line[0].kind.front.linear == 0.25 && given.line[0].kind.front.size == 17);
}

/* Whether a line is what was set. */
static void assert_obeys(const sn_line *line, const char *front, const char *activation, const char *decay)
{
    const sn_net_kind *kind = &line->kind;
    if (strcmp(front, "auto") != 0)
        assert_string_equal(sn_words_name(&sn_front_words, (int)kind->front.kind), front);
    if (strcmp(activation, "auto") != 0)
        assert_string_equal(sn_words_name(&sn_activation_words, (int)kind->activation), activation);
    if (strcmp(decay, "auto") != 0) assert_true(kind->weight_decay == strtod(decay, NULL));
}

/* Every combination: between one line and the most, none twice, all as they were set; or an error. */
TEST(every_combination)
{
    static const char *const front[] = {"auto", "none", "kernel", "columns", "components"},
                             *const activation[] = {"auto", "tanh", "relu", "sigmoid", "identity"},
                             *const hidden[] = {"auto", "none", "5"}, *const decay[] = {"auto", "0.02"},
                             *const epochs[] = {"auto", "3"}, *const input[] = {"off", "tanh"};
    const int64_t sizes[][2] = {{100, 3}, {50, 300}, {30000, 3}};
    int refused = 0;
    for (int k = 0; k < 5 * 5 * 3 * 2 * 2 * 2 * 3; k++) {
        const char *const f = front[k % 5], *const a = activation[k / 5 % 5], *const h = hidden[k / 25 % 3],
                          *const d = decay[k / 75 % 2], *const e = epochs[k / 150 % 2],
                          *const i = input[k / 300 % 2];
        const int64_t *size = sizes[k / 600];
        const table t =
            table_of(size[0], size[1],
                     text_of("front %s activation %s hidden %s weight_decay %s epochs %s input_activation %s",
                             f, a, h, d, e, i));
        if (t.status != STONET_OK) {
            assert_says(t.status, STONET_ERROR_ARGUMENT, "no kind of network has all of these settings");
            refused++;
            continue;
        }
        assert_in_range(t.count, 1, SN_MOST_LINES);
        for (int l = 0; l < t.count; l++) {
            assert_obeys(&t.line[l], f, a, d);
            for (int m = 0; m < l; m++)
                if (t.line[l].kind.activation == t.line[m].kind.activation &&
                    sn_front_recipe_same(&t.line[l].kind.front, &t.line[m].kind.front) &&
                    fabs(t.line[l].kind.weight_decay / t.line[m].kind.weight_decay - 1.0) < 1e-6)
                    fail_msg("front=%s activation=%s hidden=%s weight_decay=%s: lines %d and %d are the same",
                             f, a, h, d, m, l);
        }
    }
    assert_true(refused > 0 &&
                refused < 60); /* a linear model with inputs that are bent, of unnamed layers */
}

TEST(lines_are_told)
{
    const sn_line line = {SN_FAMILY_KERNEL, {{.kind = SN_FRONT_KERNEL, .complexity = 1.5}, SN_TANH, 0.01}},
                  straight = {SN_FAMILY_LINEAR, {{.kind = SN_FRONT_COMPONENTS}, SN_IDENTITY, 0.1}};
    char text[100];
    sn_line_tell(&line, text, sizeof text);
    assert_string_equal(text, "tanh network on kernel features (complexity 1.5), weight decay 0.01");
    sn_line_tell(&straight, text, sizeof text);
    assert_string_equal(text, "linear network on principal components, weight decay 0.1");
}

/* Cells drawn given the response are cells of x: whoever asks for them gets networks that see x, or an error.
 */
TEST(joint_cells_need_networks_of_x)
{
    table t = {.count = -1};
    SN_AUTO(sn_settings) *open = settings_with(NOTHING);
    SN_AUTO(sn_settings) *kernel = settings_with("front kernel");
    sn_problem problem = {.n = SMALL, .p = FEW, .task = SN_REGRESSION, .outputs = 1, .joint = true};
    OK(sn_lines_for(open, &problem, 1, t.line, &t.count, &t.open));
    assert_int_equal(count_front(&t, SN_FRONT_NONE), t.count);
    assert_says(sn_lines_for(kernel, &problem, 1, t.line, &t.count, &t.open), STONET_ERROR_ARGUMENT,
                "front=kernel");
    problem.joint = false;
    OK(sn_lines_for(open, &problem, 1, t.line, &t.count, &t.open));
    assert_true(count_front(&t, SN_FRONT_KERNEL) > 0);
}

TEST(cells_of_a_problem_with_numbers_are_joint)
{
    static const struct {
        const char *pairs;
        sn_task task;
        int64_t p;
        bool suits;
    } cases[] = {{"front auto", SN_REGRESSION, FEW, true},
                 {"front none", SN_REGRESSION, FEW, true},
                 {"front kernel", SN_REGRESSION, FEW, false},
                 {"select group", SN_REGRESSION, FEW, false},
                 {"response ensemble", SN_REGRESSION, FEW, false},
                 {"front auto", SN_REGRESSION, 2 * SMALL + SN_MANY_COLUMNS, false},
                 {"front auto", SN_CLASSIFICATION, FEW, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        SN_AUTO(sn_settings) *settings = settings_with(cases[k].pairs);
        const sn_problem problem = {.n = SMALL, .p = cases[k].p, .task = cases[k].task, .outputs = 1};
        if (sn_joint_suits(settings, &problem) != cases[k].suits) fail_msg("case %zu", k);
    }
}

RUN_TESTS(NULL, NULL)
