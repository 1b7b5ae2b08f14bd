/* Every stage of every method tells how far it is of how much. */
#include "base/test_kit.h"
#include "model/test_table.h"

enum { N = 120, P = 4, MOST_STAGES = 32 };

typedef struct heard {
    const char *method;
    int count, stages;
    char stage[MOST_STAGES][64];
    int64_t last[MOST_STAGES];
} heard;

static int find_stage(heard *h, const char *stage)
{
    for (int k = 0; k < h->stages; k++)
        if (strcmp(h->stage[k], stage) == 0) return k;
    assert_true(h->stages < MOST_STAGES);
    snprintf(h->stage[h->stages], sizeof h->stage[0], "%s", stage);
    return h->stages++;
}

static void hear(const stonet_progress *progress, void *user)
{
    heard *h = user;
    h->count++;
    if (progress->stage == NULL || progress->total < 1 || progress->done < 0 ||
        progress->done > progress->total || !(progress->seconds >= 0))
        fail_msg("%s: stage '%s' is at %lld of %lld", h->method, progress->stage, (long long)progress->done,
                 (long long)progress->total);
    h->last[find_stage(h, progress->stage)] = progress->done;
}

static void listen(const char *words, const stonet_data *data, heard *h)
{
    stonet_run run = STONET_RUN_INIT;
    *h = (heard){.method = words};
    run.on_progress = hear;
    run.user = h;
    run.threads = 2;
    SN_AUTO(stonet_model) *model = sn_testing_fit(words, data, &run);
}

TEST(every_stage_has_a_total)
{
    SN_TABLE table = sn_table_classes(N, P, 2, 3);
    heard h;
    for (size_t k = 0; k < sn_method_count(); k++) {
        const char *words = sn_testing_words("%s 1 hurry", sn_method_at(k)->name);
        if ((sn_method_at(k)->tasks & SN_TASK_CLASSIFICATION) != 0) listen(words, table.data, &h);
    }
    listen("none 1", table.data, &h); /* logistic regression */
    assert_true(h.count > 1);
}

/* The choice says how much is to come, and ends there. */
TEST(the_choice_of_settings_has_a_total)
{
    SN_TABLE table = sn_table_numbers(N, P, 1, 4);
    heard h;
    listen("stonet 1 restarts=1 sdr_iterations=2", table.data, &h);
    assert_true(h.last[find_stage(&h, "choosing settings")] >= 100);
    assert_true(h.last[find_stage(&h, "training")] > 0);
}

RUN_TESTS(NULL, NULL)
