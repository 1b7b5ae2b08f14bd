/* Ranks that are threads of the test: a wire (base/wire.h) of mailboxes in memory. */
#pragma once

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/team.h"

enum { TEST_RANKS = 16 };

typedef struct test_letter {
    struct test_letter *next;
    int from, tag;
    size_t size;
    unsigned char bytes[];
} test_letter;

/* What all ranks share. */
typedef struct test_post {
    pthread_mutex_t lock;
    pthread_cond_t news;
    test_letter *box[TEST_RANKS]; /* in the order of arrival */
    int ranks, met;
} test_post;

typedef struct test_rank {
    test_post *post;
    int rank;
    stonet_team *team;
    void (*work)(struct test_rank *self);
    void *user;
} test_rank;

static inline int test_send(void *self, int to, int tag, const void *bytes, size_t size)
{
    test_rank *r = self;
    test_letter *letter = malloc(sizeof *letter + size), **end;
    if (letter == NULL) return 1;
    *letter = (test_letter){.from = r->rank, .tag = tag, .size = size};
    memcpy(letter->bytes, bytes, size);
    pthread_mutex_lock(&r->post->lock);
    for (end = &r->post->box[to]; *end != NULL;) end = &(*end)->next;
    *end = letter;
    pthread_cond_broadcast(&r->post->news);
    pthread_mutex_unlock(&r->post->lock);
    return 0;
}

static inline int test_receive(void *self, int from, int tag, void *bytes, size_t size)
{
    test_rank *r = self;
    test_letter **at = NULL;
    pthread_mutex_lock(&r->post->lock);
    for (;;) {
        for (at = &r->post->box[r->rank]; *at != NULL && ((*at)->from != from || (*at)->tag != tag);)
            at = &(*at)->next;
        if (*at != NULL) break;
        pthread_cond_wait(&r->post->news, &r->post->lock);
    }
    SN_BLOCK test_letter *letter = *at;
    *at = letter->next;
    pthread_mutex_unlock(&r->post->lock);
    const int wrong = letter->size != size;
    if (!wrong) memcpy(bytes, letter->bytes, size);
    return wrong;
}

static inline int test_look(void *self, int tag, int *waits, int *from)
{
    test_rank *r = self;
    pthread_mutex_lock(&r->post->lock);
    const test_letter *letter = r->post->box[r->rank];
    while (letter != NULL && letter->tag != tag) letter = letter->next;
    *waits = letter != NULL;
    if (letter != NULL) *from = letter->from;
    pthread_mutex_unlock(&r->post->lock);
    return 0;
}

static inline void *test_run_rank(void *user)
{
    test_rank *self = user;
    self->work(self);
    return NULL;
}

/* Lets so many ranks do the work, with each other. users: one for each rank, `size` bytes apart. */
static inline void test_run_ranks(int ranks, void (*work)(test_rank *self), void *users, size_t size)
{
    test_post post = {.ranks = ranks};
    test_rank rank[TEST_RANKS];
    pthread_t thread[TEST_RANKS];
    pthread_mutex_init(&post.lock, NULL);
    pthread_cond_init(&post.news, NULL);
    for (int r = 0; r < ranks; r++) {
        rank[r] =
            (test_rank){.post = &post, .rank = r, .work = work, .user = (char *)users + (size_t)r * size};
        const sn_wire wire = {.version = SN_WIRE_VERSION,
                              .rank = r,
                              .ranks = ranks,
                              .self = &rank[r],
                              .send = test_send,
                              .receive = test_receive,
                              .look = test_look};
        if (sn_team_create(&wire, &rank[r].team) != STONET_OK) abort();
    }
    for (int r = 0; r < ranks; r++)
        if (pthread_create(&thread[r], NULL, test_run_rank, &rank[r]) != 0) abort();
    for (int r = 0; r < ranks; r++) {
        pthread_join(thread[r], NULL);
        if (post.box[r] != NULL) abort(); /* a message that nobody wanted */
    }
    for (int r = 0; r < ranks; r++) sn_team_free(rank[r].team);
    pthread_cond_destroy(&post.news);
    pthread_mutex_destroy(&post.lock);
}
