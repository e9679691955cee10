#include "models/known.h"

#include <string.h>

#define NUMBER      '\1'     /* stands for {i}, {i+1}, ... in a form */
#define COUNTERS    4        /* a form with more of them fits everything */
#define COMPARISONS 10000000 /* of forms; beyond them everything fits */
#define DIGITS      "-0123456789\1"

/* --- Forms --- */

/* The byte behind "{name}", "{name+1}" or "{name-1}"; NULL if this is no counter. */
static const char *behind_counter(const char *at)
{
    size_t length =
        strspn(at + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    at += 1 + length;
    if (length && (*at == '+' || *at == '-')) {
        at += 1 + strspn(at + 1, "0123456789");
    }
    return length && *at == '}' ? at + 1 : NULL;
}

/* The text with NUMBER for each counter, and how many there are. */
static char *form_of(const char *text, uint32_t *counters, ovl_arena *arena)
{
    char *form = ovl_arena_strdup(arena, text), *to = form;
    *counters = 0;
    while (*text) {
        const char *behind = *text == '{' ? behind_counter(text) : NULL;
        *counters += behind != NULL;
        *to++ = *text;
        if (behind) {
            to[-1] = NUMBER;
        }
        text = behind ? behind : text + 1;
    }
    *to = 0;
    return form;
}

static bool number_fits(const char *a, const char *b);

/* Can both mean the same text? */
static bool fit(const char *a, const char *b)
{
    while (*a && *a == *b && *a != NUMBER) {
        a++;
        b++;
    }
    if (*a != NUMBER && *b != NUMBER) {
        return *a == *b;
    }
    return (*a == NUMBER && number_fits(a, b)) || (*b == NUMBER && number_fits(b, a));
}

/* `a` begins with a number: can it be some of the digits at `b`? */
static bool number_fits(const char *a, const char *b)
{
    size_t most = strspn(b, DIGITS);
    for (size_t n = 1; n <= most; n++) {
        if (fit(a + 1, b + n)) {
            return true;
        }
    }
    return false;
}

/* --- Known names --- */

void ovl_known_init(ovl_known *k, ovl_arena *arena)
{
    *k = (ovl_known){.arena = arena, .exact = {.arena = arena}, .forms = {.arena = arena}};
}

void ovl_known_add(ovl_known *k, const char *name)
{
    uint32_t counters;
    if (!name) {
        k->all = false;
        return;
    }
    const char *form = form_of(name, &counters, k->arena);
    if (strchr(name, '$') || counters > COUNTERS) { /* a parameter that is not there */
        k->all = false;
    } else {
        ovl_names_add(counters ? &k->forms : &k->exact, form);
    }
}

static bool fits_one(ovl_known *k, const ovl_names *names, const char *form)
{
    for (uint32_t i = 0; i < names->count; i++) {
        if (k->comparisons++ > COMPARISONS || fit(form, names->text[i])) {
            return true;
        }
    }
    return false;
}

bool ovl_known_has(ovl_known *k, const char *text)
{
    uint32_t counters;
    if (!k->all || strchr(text, '$') || !*text) {
        return true;
    }
    const char *form = form_of(text, &counters, k->arena);
    return counters > COUNTERS || ovl_names_find(&k->exact, form) != OVL_NONE ||
           fits_one(k, &k->forms, form) || (counters && fits_one(k, &k->exact, form));
}

/* A form of known names with the numbers that `text` has: "gard3" may have meant "grad3". */
static const char *filled(const char *form, const char *text, ovl_arena *arena)
{
    const char *out = "";
    for (;;) {
        size_t plain = strcspn(form, "\1");
        text += strcspn(text, "{-0123456789");
        size_t number = strspn(text, "-0123456789");
        if (*text == '{') {
            const char *behind = behind_counter(text);
            number = behind ? (size_t)(behind - text) : 1;
        }
        out = ovl_arena_printf(arena, "%s%.*s", out, (int)plain, form);
        form += plain;
        if (!*form) {
            return out;
        }
        out = ovl_arena_printf(arena, "%s%.*s", out, (int)number, number ? text : "");
        text += number;
        form++;
    }
}

const char *ovl_known_nearest(const ovl_known *k, const char *text)
{
    uint32_t n = OVL_MIN(k->exact.count + k->forms.count, 10000);
    const char **names = OVL_NEW_ARRAY(k->arena, const char *, n);
    for (uint32_t i = 0; i < n; i++) {
        names[i] = i < k->exact.count ? k->exact.text[i]
                                      : filled(k->forms.text[i - k->exact.count], text, k->arena);
    }
    return ovl_nearest(text, names, n);
}
