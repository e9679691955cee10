#include "tests/support/check.h"
#include "tools/options.h"

static const char *const models[] = {"none", "shared", NULL};
static const ovl_option items[] = {
    {.name = "set", .value = "PATH=VALUE", .repeat = true, .doc = "set"},
    {.name = "model", .value = "MODEL", .choices = models, .doc = "model"},
    {.name = "json", .doc = "json"},
    {.name = "output", .letter = 'o', .value = "FILE", .doc = "output"},
    {.name = "seed", .value = "N", .doc = "seed", .needs = "trials|sample"},
    {.name = "trials", .doc = "trials"},
    {.name = "sample", .doc = "sample", .without = "json|csv"},
    {.name = "solve", .doc = "solve", .beside = "json set"},
    {.name = "csv", .doc = "csv"},
};
static const ovl_option_table table = {items, OVL_COUNT(items)};

typedef struct reading {
    ovl_arena arena;
    ovl_errs errs;
    ovl_args args;
    bool good;
} reading;

/* NULL ends the words. */
static void read_words(reading *r, const char *const words[])
{
    uint32_t n = 0;
    while (words[n]) {
        n++;
    }
    *r = (reading){0};
    r->errs.arena = &r->arena;
    r->good = ovl_args_read(&table, n, words, &r->arena, &r->args, &r->errs);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void both_spellings(void)
{
    reading r;
    read_words(&r, WORDS("--set", "a=1", "f.yaml", "--set=b=2", "--json"));
    CHECK(r.good);
    CHECK_TEXT(ovl_args_nth(&r.args, "set", 0), "a=1");
    CHECK_TEXT(ovl_args_nth(&r.args, "set", 1), "b=2");
    CHECK(ovl_args_nth(&r.args, "set", 2) == NULL);
    CHECK(ovl_args_has(&r.args, "json"));
    CHECK(!ovl_args_has(&r.args, "output"));
    CHECK_INT(r.args.n_operands, 1);
    CHECK_TEXT(r.args.operands[0], "f.yaml");
    ovl_arena_free(&r.arena);
}

static void short_form(void)
{
    reading r;
    read_words(&r, WORDS("-o", "x.json", "-"));
    CHECK_TEXT(ovl_args_value(&r.args, "output"), "x.json");
    CHECK_TEXT(r.args.operands[0], "-");
    ovl_arena_free(&r.arena);
    read_words(&r, WORDS("-ox.json"));
    CHECK_TEXT(ovl_args_value(&r.args, "output"), "x.json");
    ovl_arena_free(&r.arena);
}

static void dashes_end_options(void)
{
    reading r;
    read_words(&r, WORDS("--json", "--", "--json", "-x"));
    CHECK(r.good);
    CHECK_INT(r.args.n_operands, 2);
    CHECK_TEXT(r.args.operands[0], "--json");
    CHECK_INT(r.args.n_options, 1);
    ovl_arena_free(&r.arena);
}

static void check_error(const char *const words[], const char *sentence)
{
    reading r;
    read_words(&r, words);
    CHECK(!r.good);
    CHECK_INT(ovl_errs_status(&r.errs), OVL_E_USAGE);
    CHECK_TEXT(r.errs.count ? r.errs.items[0].text : NULL, sentence);
    ovl_arena_free(&r.arena);
}

static void says_what_is_wrong(void)
{
    check_error(WORDS("--jsn"), "unknown option \"--jsn\"; did you mean \"--json\"?");
    check_error(WORDS("--jsn=3"), "unknown option \"--jsn\"; did you mean \"--json\"?");
    check_error(WORDS("--quite-different"), "unknown option \"--quite-different\"");
    check_error(WORDS("-x"), "unknown option \"-x\"");
    check_error(WORDS("--set"), "option \"--set\" needs a value: --set PATH=VALUE");
    check_error(WORDS("--json=1"), "option \"--json\" takes no value");
    check_error(WORDS("--json", "--json"), "option \"--json\" is given twice");
    check_error(WORDS("--model", "fast"), "option \"--model\" is none or shared, not \"fast\"");
}

static void all_mistakes_at_once(void)
{
    reading r;
    read_words(&r, WORDS("--jsn", "--model=x", "-q"));
    CHECK_INT(r.errs.errors, 3);
    ovl_arena_free(&r.arena);
}

/* What would be ignored is said: what needs another option, what another one turns off, and what is
 * not one of those that go with it. */
static void without_an_effect(void)
{
    reading r;
    read_words(&r, WORDS("--seed=1", "--sample"));
    CHECK(r.good);
    ovl_arena_free(&r.arena);
    read_words(&r, WORDS("--solve", "--json", "--set=a=1"));
    CHECK(r.good);
    ovl_arena_free(&r.arena);
    check_error(WORDS("--seed=1"), "--seed has no effect without --trials or --sample");
    check_error(WORDS("--sample", "--csv"),
                "--sample has no effect beside --csv: leave one of them out");
    check_error(WORDS("--csv", "--solve"),
                "--csv has no effect beside --solve: leave one of them out");
    read_words(&r, WORDS("--csv", "--solve", "--trials", "--json"));
    CHECK_INT(r.errs.errors, 2);
    ovl_arena_free(&r.arena);
}

static CU_TestInfo tests[] = {
    {"a value may follow its option or be joined to it, and repeat", both_spellings},
    {"short options take values too, and a dash alone is an operand", short_form},
    {"after two dashes everything is an operand", dashes_end_options},
    {"each mistake has its sentence", says_what_is_wrong},
    {"all mistakes of a command line are told at once", all_mistakes_at_once},
    {"an option that would have no effect is a mistake", without_an_effect},
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("options", tests);
}
