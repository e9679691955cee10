#include "sim/pages.h"
#include "sim/vec.h"
#include "tests/support/check.h"

static void memory_is_zeroed_aligned_and_stays(void)
{
    ovl_arena a = {0};
    char *one = ovl_arena_alloc(&a, 1, 1);
    *one = 'x';
    double *d = OVL_NEW_ARRAY(&a, double, 3);
    CHECK_INT((uintptr_t)d % _Alignof(double), 0);
    CHECK(d[0] == 0 && d[2] == 0);
    char *line = ovl_arena_alloc(&a, 10, 64);
    CHECK_INT((uintptr_t)line % 64, 0);
    char *big = ovl_arena_alloc(&a, (size_t)3 << 20, 16);
    big[((size_t)3 << 20) - 1] = 1;
    CHECK_INT(*one, 'x');
    CHECK(a.used >= ((size_t)3 << 20) + 1 + 24 + 10);
    CHECK(a.held >= a.used);
    ovl_arena_free(&a);
    CHECK_INT(a.held, 0);
    CHECK(ovl_arena_alloc(&a, 8, 8) != NULL); /* empty and usable again */
    ovl_arena_free(&a);
}

static void texts_are_copied_and_printed(void)
{
    ovl_arena a = {0};
    char source[] = "abcdef";
    const char *part = ovl_arena_strndup(&a, source, 3);
    source[0] = 'z';
    CHECK_TEXT(part, "abc");
    CHECK_TEXT(ovl_arena_printf(&a, "%d of %s", 3, part), "3 of abc");
    ovl_arena_free(&a);
}

static void a_vector_grows_and_freezes(void)
{
    ovl_arena a = {0};
    OVL_VEC(int) v = {0};
    for (int i = 0; i < 1000; i++) {
        ovl_vec_push(&v, i * i);
    }
    CHECK_INT(v.len, 1000);
    int *frozen = ovl_vec_freeze(&v, &a);
    CHECK_INT(v.len, 0);
    CHECK_INT(frozen[999], 998001);
    ovl_arena_free(&a);
}

/* 5 MiB and a byte: two whole large pages and some small ones. What is taken anew is zeroed
 * whatever was written before. */
static void large_pieces_are_zeroed_and_go_back(void)
{
    const size_t size = ((size_t)5 << 20) + 1;
    for (int i = 0; i < 3; i++) {
        unsigned char *pages = ovl_pages_take(size);
        CHECK(pages != NULL);
        if (!pages) {
            return;
        }
        ovl_pages_enlarge(pages, size);
        CHECK_INT((uintptr_t)pages % 16, 0);
        CHECK(pages[0] == 0 && pages[size / 2] == 0 && pages[size - 1] == 0);
        pages[0] = pages[size / 2] = pages[size - 1] = 7;
        ovl_pages_give_back(pages, size);
    }
    CHECK(ovl_pages_take(SIZE_MAX) == NULL);
}

/* A piece may begin and end anywhere: what has no whole large page in it stays as it is. */
static void memory_that_is_enlarged_keeps_what_it_holds(void)
{
    const size_t size = (size_t)7 << 20;
    unsigned char *data = malloc(size);
    CHECK(data != NULL);
    if (!data) {
        return;
    }
    data[0] = data[size - 1] = 5;
    ovl_pages_enlarge(data, 0);
    ovl_pages_enlarge(data + 1, 100);
    ovl_pages_enlarge(data + 1, size - 2);
    CHECK(data[0] == 5 && data[size - 1] == 5);
    free(data);
}

/* 1.2 million numbers are 4.8 MB and begin on a large page; grown to twice as many they are still
 * there. */
static void a_vector_that_begins_large_grows(void)
{
    OVL_VEC(uint32_t) v = {0};
    ovl_vec_reserve(&v, 1200000);
    uint32_t room = v.cap;
    for (uint32_t i = 0; i <= room; i++) {
        ovl_vec_push(&v, i);
    }
    CHECK(v.cap > room);
    CHECK(v.data[0] == 0 && v.data[room / 2] == room / 2 && v.data[room] == room);
    ovl_vec_free(&v);
}

/* Room for three beside it: the fourth makes it move, and what the owner holds stays as it was. */
static void a_vector_begins_near_its_owner(void)
{
    struct {
        OVL_VEC(int) list;
        int few[3];
    } owner = {0};
    ovl_vec_begin_near(&owner.list, owner.few);
    for (int i = 0; i < 3; i++) {
        ovl_vec_push_near(&owner.list, owner.few, 10 + i);
    }
    CHECK(owner.list.data == owner.few && owner.few[2] == 12);
    for (int i = 3; i < 100; i++) {
        ovl_vec_push_near(&owner.list, owner.few, 10 + i);
    }
    CHECK(owner.list.data != owner.few && owner.list.len == 100 && owner.list.cap >= 100);
    CHECK(owner.list.data[0] == 10 && owner.list.data[2] == 12 && owner.list.data[99] == 109);
    ovl_vec_free_near(&owner.list, owner.few);
    CHECK(owner.list.data == NULL && owner.list.cap == 0);
    ovl_vec_begin_near(&owner.list, owner.few);
    ovl_vec_push_near(&owner.list, owner.few, 5);
    ovl_vec_free_near(&owner.list, owner.few); /* never moved: nothing to give back */
    CHECK(owner.few[0] == 5 && owner.list.len == 0);
}

/* Whatever way it is taken and given back, the count comes back to where it was. */
static void what_is_held_is_counted(void)
{
    uint64_t before = ovl_tally_now();
    ovl_arena arena = {0};
    OVL_VEC(int) list = {0}, small = {0};
    int *part = OVL_NEW_ARRAY(&arena, int, 3 << 20);
    part[0] = 1;
    CHECK(ovl_tally_now() - before >= (12 << 20));
    for (int i = 0; i < 1 << 17; i++) {
        ovl_vec_push(&list, i);
    }
    CHECK(ovl_tally_now() - before >= (12 << 20) + (1 << 19));
    ovl_vec_push(&small, 1);
    int *kept = ovl_vec_freeze(&list, &arena), *few = ovl_vec_freeze(&small, &arena);
    CHECK(kept[100] == 100 && few[0] == 1);
    void *own = ovl_tally_take(10, 100);
    CHECK(ovl_tally_now() - before >= (12 << 20) + (1 << 19) + 1000);
    ovl_tally_give(own, 10, 100);
    ovl_arena_free(&arena);
    CHECK(ovl_tally_now() == before);
    CHECK(ovl_tally_peak() - before >= (12 << 20) + (1 << 19) + 1000);
    ovl_tally_from_here();
    CHECK(ovl_tally_peak() == before);
}

static CU_TestInfo tests[] = {
    {"what is held is counted", what_is_held_is_counted},
    {"memory is zeroed, aligned and stays where it is", memory_is_zeroed_aligned_and_stays},
    {"texts are copied and printed", texts_are_copied_and_printed},
    {"a vector grows and freezes", a_vector_grows_and_freezes},
    {"a vector begins near its owner", a_vector_begins_near_its_owner},
    {"large pieces are zeroed and go back", large_pieces_are_zeroed_and_go_back},
    {"memory that is enlarged keeps what it holds", memory_that_is_enlarged_keeps_what_it_holds},
    {"a vector that begins large grows", a_vector_that_begins_large_grows},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("arena", tests);
}
