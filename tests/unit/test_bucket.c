#include "models/bucket.h"
#include "tests/support/check.h"

#include <string.h>

#define MIB ((uint64_t)1 << 20)

/* "0|1|2,4|3,5": members of each bucket. */
static const char *shape(ovl_buckets b, ovl_arena *arena)
{
    const char *text = "";
    for (uint32_t k = 0; k < b.count; k++) {
        for (uint32_t i = 0; i < b.item[k].n_members; i++) {
            const char *comma = i ? "," : k ? "|" : "";
            text = ovl_arena_printf(arena, "%s%s%" PRIu32, text, comma,
                                    b.members[b.item[k].first_member + i]);
        }
    }
    return text;
}

/* PyTorch PR 62231: f32[50] (200 bytes) and f64[25] (200 bytes) in turn, three times, limits 200
 * and 400: the first of each dtype closes at 200, the next two of each at 400. */
static void the_published_vector(void)
{
    ovl_arena arena = {0};
    ovl_tensor t[6];
    uint32_t order[6];
    for (uint32_t i = 0; i < 6; i++) {
        t[i] = (ovl_tensor){.bytes = 200, .dtype = i % 2 ? OVL_F64 : OVL_F32};
        order[i] = i;
    }
    const uint64_t limits[] = {200, 400};
    ovl_buckets b = ovl_buckets_pytorch(t, order, 6, limits, 2, &arena);
    CHECK_TEXT(shape(b, &arena), "0|1|2,4|3,5");
    CHECK_INT(b.item[0].limit, 200);
    CHECK_INT(b.item[1].limit, 200);
    CHECK_INT(b.item[2].limit, 400);
    CHECK_INT(b.item[3].limit, 400);
    CHECK_INT(b.item[2].bytes, 400);
    CHECK(b.item[1].dtype == OVL_F64 && b.item[2].dtype == OVL_F32);
    ovl_arena_free(&arena);
}

/* A tensor is never split: limit 10, tensors of 6: 12, then 6 left over. The leftovers of two
 * dtypes come in the order in which they were begun. */
static void buckets_overshoot_and_leftovers_come_last(void)
{
    ovl_arena arena = {0};
    const ovl_tensor t[] = {
        {.bytes = 6, .dtype = OVL_F16}, {.bytes = 6}, {.bytes = 6}, {.bytes = 6}};
    const uint32_t order[] = {0, 1, 2, 3};
    const uint64_t limit = 10;
    ovl_buckets b = ovl_buckets_pytorch(t, order, 4, &limit, 1, &arena);
    CHECK_TEXT(shape(b, &arena), "1,2|0|3");
    CHECK_INT(b.item[0].bytes, 12);
    ovl_buckets_sort(&b, order, 4, &arena);
    CHECK_TEXT(shape(b, &arena), "0|1,2|3");
    ovl_arena_free(&arena);
}

/* Sizes of ResNet-18's 62 tensors in elements (torchvision); buckets seen in PyTorch issue 48880 at
 * a cap of 25 MiB: 2,052,000, 28,852,224 and 15,853,824 bytes. */
static const uint32_t resnet18[] = {
    9408,    64,  64,  36864,   64,  64,  36864,  64,  64,  36864,   64,  64,  36864,   64,  64,
    73728,   128, 128, 147456,  128, 128, 8192,   128, 128, 147456,  128, 128, 147456,  128, 128,
    294912,  256, 256, 589824,  256, 256, 32768,  256, 256, 589824,  256, 256, 589824,  256, 256,
    1179648, 512, 512, 2359296, 512, 512, 131072, 512, 512, 2359296, 512, 512, 2359296, 512, 512,
    512000,  1000};

static void resnet18_has_three_buckets(void)
{
    ovl_arena arena = {0};
    const uint32_t n = OVL_COUNT(resnet18);
    ovl_tensor t[OVL_COUNT(resnet18)];
    uint32_t order[OVL_COUNT(resnet18)];
    CHECK_INT(n, 62);
    for (uint32_t i = 0; i < n; i++) {
        t[i] = (ovl_tensor){.bytes = 4 * (uint64_t)resnet18[i]};
        order[i] = n - 1 - i;
    }
    const uint64_t limits[] = {MIB, 25 * MIB};
    ovl_buckets b = ovl_buckets_pytorch(t, order, n, limits, 2, &arena);
    CHECK_INT(b.count, 3);
    CHECK_INT(b.item[0].bytes, 2052000);
    CHECK_INT(b.item[1].bytes, 28852224);
    CHECK_INT(b.item[2].bytes, 15853824);
    ovl_arena_free(&arena);
}

/* bucket_size 100 elements of f32, tensors of 60, 50, 10 elements: 110 >= 100 closes the first.
 * Padded (64, lcm(3, 128) = 384): 60, then 64 + 50 = 114 >= 100: closed at 384 elements = 1536
 * bytes, of which 440 are data; 10 -> 384 elements. */
static void megatron_pads_starts_and_ends(void)
{
    ovl_arena arena = {0};
    const ovl_tensor t[] = {{.bytes = 240}, {.bytes = 200}, {.bytes = 40}};
    const uint32_t order[] = {0, 1, 2};
    ovl_buckets b =
        ovl_buckets_megatron(t, order, 3, &(ovl_megatron){100, 3, 1, false, false}, &arena);
    CHECK_TEXT(shape(b, &arena), "0,1|2");
    CHECK_INT(b.item[0].bytes, 440);
    CHECK_INT(b.item[0].padding, 0);
    b = ovl_buckets_megatron(t, order, 3, &(ovl_megatron){100, 3, 1, true, false}, &arena);
    CHECK_TEXT(shape(b, &arena), "0,1|2");
    CHECK_INT(b.item[0].bytes, 1536);
    CHECK_INT(b.item[0].padding, 1096);
    CHECK_INT(b.item[1].bytes, 1536);
    /* lcm(3, 128, 65536) = 196608 elements */
    b = ovl_buckets_megatron(t, order, 3, &(ovl_megatron){100, 3, 1, true, true}, &arena);
    CHECK_INT(b.item[1].bytes, 4 * 196608);
    /* no limit: one bucket a dtype; 10 starts at 128: 138 -> 384 */
    b = ovl_buckets_megatron(t, order, 3, &(ovl_megatron){0, 3, 1, true, false}, &arena);
    CHECK_TEXT(shape(b, &arena), "0,1,2");
    CHECK_INT(b.item[0].bytes, 1536);
    ovl_arena_free(&arena);
}

static void megatron_keeps_dtypes_apart(void)
{
    ovl_arena arena = {0};
    const ovl_tensor t[] = {{.bytes = 40, .dtype = OVL_BF16},
                            {.bytes = 40},
                            {.bytes = 40, .dtype = OVL_BF16},
                            {.bytes = 40}};
    const uint32_t order[] = {3, 2, 1, 0};
    ovl_buckets b =
        ovl_buckets_megatron(t, order, 4, &(ovl_megatron){20, 2, 1, false, false}, &arena);
    CHECK_TEXT(shape(b, &arena), "3,1|2|0"); /* 20 f32 close; bf16 tensors have 20 each */
    ovl_arena_free(&arena);
}

/* A walk over 100,000 tensors takes no time to speak of: nothing in it looks back. */
static void many_tensors(void)
{
    ovl_arena arena = {0};
    const uint32_t n = 100000;
    ovl_tensor *t = OVL_NEW_ARRAY(&arena, ovl_tensor, n);
    uint32_t *order = OVL_NEW_ARRAY(&arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        t[i].bytes = 4;
        order[i] = i;
    }
    const uint64_t limit = 8;
    ovl_buckets b = ovl_buckets_pytorch(t, order, n, &limit, 1, &arena);
    CHECK_INT(b.count, n / 2);
    CHECK_INT(b.item[n / 2 - 1].first_member, n - 2);
    ovl_arena_free(&arena);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"the vector of PyTorch PR 62231", the_published_vector},
        {"tensors are not split, leftovers come last", buckets_overshoot_and_leftovers_come_last},
        {"ResNet-18 has the three published buckets", resnet18_has_three_buckets},
        {"Megatron pads starts and ends", megatron_pads_starts_and_ends},
        {"Megatron keeps dtypes apart", megatron_keeps_dtypes_apart},
        {"a hundred thousand tensors", many_tensors},
        CU_TEST_INFO_NULL,
    };
    return check_main("bucket", tests);
}
