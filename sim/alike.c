#include "sim/alike.h"

#include "sim/names.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Where the last number begins; its length if there is none. */
static size_t last_number(const char *name)
{
    size_t n = strlen(name), end = n;
    while (end > 0 && !is_digit(name[end - 1])) {
        end--;
    }
    if (end == 0) {
        return n;
    }
    while (end > 0 && is_digit(name[end - 1])) {
        end--;
    }
    return end;
}

const char *ovl_alike_text(const char *name, ovl_alike how, ovl_arena *arena)
{
    if (how == OVL_ALIKE_SAME) {
        return name;
    }
    size_t from = how == OVL_ALIKE_LAST ? last_number(name) : 0, at = 0;
    char *text = ovl_arena_strdup(arena, name);
    for (size_t i = 0; name[i]; i++) {
        bool open = i >= from && is_digit(name[i]);
        if (open && i > from && is_digit(name[i - 1])) {
            continue; /* the same number */
        }
        text[at++] = open ? '*' : name[i];
    }
    text[at] = '\0';
    return text;
}

uint32_t ovl_alike_number(const char *const *names, uint32_t n, ovl_alike how, uint32_t *number)
{
    ovl_arena scratch = {0};
    ovl_names common = {.arena = &scratch};
    for (uint32_t i = 0; i < n; i++) {
        number[i] = ovl_names_add(&common, ovl_alike_text(names[i], how, &scratch));
    }
    uint32_t count = common.count;
    ovl_arena_free(&scratch);
    return count;
}
