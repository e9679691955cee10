#include "models/reference.h"
#include "models/scenario.h"
#include "tests/support/check.h"

#include <string.h>

typedef struct sample {
    int64_t n;
    int kind;
} sample;

static const char *const kind_names[] = {"red", "rouge", "green", NULL};
static const int kind_values[] = {0, 0, 1};

static const ovl_field fields[] = {
    OVL_FIELD_MORE(sample, n, "n", OVL_F_COUNT, OVL_FIELD_REQUIRED, "How many | of them.", .min = 1,
                   .max = 9),
    OVL_FIELD_MORE(sample, kind, "kind", OVL_F_ENUM, 0,
                   "Which. Defaults are dull. Default: the first, `red`.", .names = kind_names,
                   .values = kind_values),
};
static const ovl_table table = {
    .title = "sample[].X",
    .intro = "A sample.\n\n    n: 5",
    .fields = fields,
    .n_fields = OVL_COUNT(fields),
    .size = sizeof(sample),
    .mark = OVL_NO_SET,
};

static void a_table_becomes_a_section(void)
{
    ovl_arena a = {0};
    const ovl_table *tables[] = {&table};
    const char *page = ovl_reference_page(tables, 1, &a);
    CHECK_HAS(page, "\n## sample[].X\n\n"
                    "A sample.\n\n    n: 5\n\n"
                    "| key | type | default | meaning |\n|---|---|---|---|\n"
                    "| `n` | count, 1 to 9 | required | How many \\| of them. |\n"
                    "| `kind` | `red`, `green` | the first, `red` | Which. Defaults are dull. |\n"
                    "\n## limits\n");
    CHECK_HAS(page, "| ranks | 1,000,000 | of a run |\n");
    ovl_arena_free(&a);
}

/* Every table is written once, and every link leads to a heading. */
static void the_page_of_the_scenario_format_is_whole(void)
{
    ovl_arena a = {0};
    const char *page = ovl_reference_page(ovl_scenario_tables, ovl_scenario_n_tables, &a);
    CHECK_HAS(page, "| `bucket_cap` | size > 0 | 25 MiB | pytorch: a bucket closes once it holds "
                    "this much. |\n");
    CHECK_HAS(page, "[hardware.links.NAME](#hardwarelinksname)");
    for (uint32_t i = 0; i < ovl_scenario_n_tables; i++) {
        const ovl_table *t = ovl_scenario_tables[i];
        const char *heading = ovl_arena_printf(&a, "\n## %s\n", t->title);
        const char *at = strstr(page, heading);
        CHECK_HAS(page, heading);
        CHECK(at && !strstr(at + 1, heading));
        for (uint32_t k = 0; k < t->n_fields; k++) {
            const ovl_table *inner = t->fields[k].more.table;
            CHECK_HAS(page, ovl_arena_printf(&a, "\n## %s\n", inner ? inner->title : t->title));
            CHECK(*t->fields[k].doc != '\0');
        }
    }
    ovl_arena_free(&a);
}

static CU_TestInfo tests[] = {
    {"a table becomes a section", a_table_becomes_a_section},
    {"the page of the scenario format is whole", the_page_of_the_scenario_format_is_whole},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("reference", tests);
}
