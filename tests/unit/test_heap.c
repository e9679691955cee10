#include "sim/heap.h"
#include "tests/support/check.h"

static uint32_t pop(ovl_heap *h)
{
    uint32_t handle = OVL_HEAP_HANDLE(ovl_heap_top(h));
    ovl_heap_remove(h, handle);
    return handle;
}

static void orders_by_time_then_tie_then_handle(void)
{
    ovl_heap h = {0};
    ovl_heap_set(&h, 3, 50, 0);
    ovl_heap_set(&h, 1, 50, 0);
    ovl_heap_set(&h, 2, 50, 7);
    ovl_heap_set(&h, 9, 40, 9);
    CHECK_INT(pop(&h), 9);
    CHECK_INT(pop(&h), 1);
    CHECK_INT(pop(&h), 3);
    CHECK_INT(pop(&h), 2);
    CHECK(ovl_heap_top(&h) == NULL);
    ovl_heap_free(&h);
}

static void a_key_can_change_both_ways(void)
{
    ovl_heap h = {0};
    for (uint32_t i = 0; i < 20; i++) {
        ovl_heap_set(&h, i, 100 + i, 0);
    }
    ovl_heap_set(&h, 19, 1, 0);
    ovl_heap_set(&h, 0, 500, 0);
    CHECK_INT(OVL_HEAP_HANDLE(ovl_heap_top(&h)), 19);
    ovl_heap_remove(&h, 19);
    CHECK_INT(OVL_HEAP_HANDLE(ovl_heap_top(&h)), 1);
    ovl_heap_remove(&h, 77);
    ovl_heap_free(&h);
}

static void begins_anew(void)
{
    ovl_heap h = {0};
    ovl_heap_clear(&h);
    for (uint32_t i = 0; i < 100; i++) {
        ovl_heap_set(&h, i, i, 0);
    }
    ovl_heap_remove(&h, 3);
    CHECK(ovl_heap_leaf(&h, 3) == NULL);
    ovl_heap_remove(&h, 0);
    CHECK(ovl_heap_leaf(&h, 0) == NULL);
    ovl_heap_clear(&h);
    CHECK(ovl_heap_top(&h) == NULL);
    ovl_heap_set(&h, 50, 7, 0);
    ovl_heap_set(&h, 3, 8, 0);
    CHECK_INT(OVL_HEAP_HANDLE(ovl_heap_leaf(&h, 0)), 50);
    CHECK_INT(pop(&h), 50);
    CHECK_INT(pop(&h), 3);
    CHECK(ovl_heap_top(&h) == NULL);
    ovl_heap_free(&h);
}

enum { N = 300, STEPS = 20000 };

static uint32_t search(const ovl_time *key, const bool *in)
{
    uint32_t best = N;
    for (uint32_t i = 0; i < N; i++) {
        best = in[i] && (best == N || key[i] < key[best]) ? i : best;
    }
    return best;
}

/* Against a plain array that is searched: the same item comes out each time. Some changes follow
 * another at once, before the first is looked at. */
static void agrees_with_a_plain_search(void)
{
    ovl_time key[N] = {0};
    bool in[N] = {false};
    ovl_heap h = {0};
    uint64_t random = 1;
    int wrong = 0;
    for (int step = 0; step < STEPS; step++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t handle = (uint32_t)(random >> 33) % N, first = search(key, in),
                 kind = (uint32_t)(random >> 60);
        handle = kind < 6 && first < N ? first : handle;
        if (kind < 8) {
            ovl_heap_remove(&h, handle);
            in[handle] = false;
        } else {
            key[handle] = (ovl_time)((random >> 40) % 30);
            ovl_heap_set(&h, handle, key[handle], 0);
            in[handle] = true;
        }
        if (random >> 20 & 1) {
            const ovl_heap_item *top = ovl_heap_top(&h);
            wrong += (top ? OVL_HEAP_HANDLE(top) : N) != search(key, in);
        }
    }
    CHECK_INT(wrong, 0);
    ovl_heap_free(&h);
}

static CU_TestInfo tests[] = {
    {"orders by time, then tie, then handle", orders_by_time_then_tie_then_handle},
    {"a key can change both ways", a_key_can_change_both_ways},
    {"begins anew", begins_anew},
    {"agrees with a plain search over 20000 changes", agrees_with_a_plain_search},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("heap", tests);
}
