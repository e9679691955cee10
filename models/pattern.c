#include "models/pattern.h"

#include "sim/base.h"

#include <stdlib.h>
#include <string.h>

/* The copies that a repeat asks for: of {2,5} 5, of {3,} 4, of + (one and any more) 2. */
static uint64_t copies_of(const char *at)
{
    if (*at == '+') {
        return 2;
    }
    if (*at != '{' || at[1] < '0' || at[1] > '9') {
        return 1;
    }
    char *end;
    unsigned long long least = strtoull(at + 1, &end, 10), most = least;
    if (*end == ',') {
        bool open = end[1] < '0' || end[1] > '9';
        most = open ? OVL_MIN(least, OVL_PATTERN_SIZE) + 1 : strtoull(end + 1, NULL, 10);
    }
    return OVL_MAX(1, OVL_MIN(OVL_MAX(least, most), OVL_PATTERN_SIZE + 1));
}

/* Repeats side by side only add up, but to tell them from nested ones takes the whole grammar: all
 * count as nested, but for a + behind a single character, which copies no more than that. */
static bool repeats_too_much(const char *text)
{
    uint64_t size = strlen(text);
    for (const char *at = text; *at && size <= OVL_PATTERN_SIZE; at++) {
        if (*at == '\\' && at[1]) {
            at++;
        } else if (*at != '+' || (at > text && at[-1] == ')')) {
            size *= copies_of(at);
        }
    }
    return size > OVL_PATTERN_SIZE;
}

static int compile(regex_t *regex, const char *text, bool any_case)
{
    return regcomp(regex, text, REG_EXTENDED | REG_NOSUB | (any_case ? REG_ICASE : 0));
}

const char *ovl_pattern_compile(regex_t *regex, const char *text, bool any_case, ovl_arena *arena)
{
    char why[200];
    if (repeats_too_much(text)) {
        return ovl_arena_printf(
            arena, "it repeats too much: its length times its repeats is more than %d characters",
            OVL_PATTERN_SIZE);
    }
    int code = compile(regex, text, any_case);
    if (code) {
        regerror(code, regex, why, sizeof why);
        return ovl_arena_printf(arena, "no pattern: %s", why);
    }
    return NULL;
}

void ovl_pattern_again(regex_t *regex, const char *text, bool any_case)
{
    if (compile(regex, text, any_case)) {
        ovl_out_of_memory(OVL_PATTERN_SIZE); /* nothing else can be wrong with it */
    }
}

const char *ovl_pattern_wrong(const char *text, ovl_arena *arena)
{
    regex_t regex;
    const char *why = ovl_pattern_compile(&regex, text, false, arena);
    if (!why) {
        regfree(&regex);
    }
    return why;
}
