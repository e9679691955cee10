#include "tools/options.h"

#include "sim/names.h"

#include <string.h>

typedef struct reader {
    const ovl_option_table *table;
    ovl_arena *arena;
    ovl_args *args;
    ovl_errs *errs;
    const char *const *words;
    uint32_t count, at; /* the next word */
} reader;

static const ovl_mark nowhere = {0};

static const ovl_option *find(const ovl_option_table *table, const char *name, size_t length)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const char *known = table->items[i].name;
        if (strlen(known) == length && strncmp(known, name, length) == 0) {
            return &table->items[i];
        }
    }
    return NULL;
}

static void unknown(const reader *r, const char *name)
{
    const char **names = OVL_NEW_ARRAY(r->arena, const char *, r->table->count);
    for (uint32_t i = 0; i < r->table->count; i++) {
        names[i] = r->table->items[i].name;
    }
    const char *near = ovl_nearest(name, names, r->table->count);
    if (near) {
        ovl_error(r->errs, OVL_E_USAGE, nowhere, "unknown option \"--%s\"; did you mean \"--%s\"?",
                  name, near);
    } else {
        ovl_error(r->errs, OVL_E_USAGE, nowhere, "unknown option \"--%s\"", name);
    }
}

static const char *listed(const reader *r, const char *const *choices)
{
    const char *text = choices[0];
    for (uint32_t i = 1; choices[i]; i++) {
        text =
            ovl_arena_printf(r->arena, "%s%s%s", text, choices[i + 1] ? ", " : " or ", choices[i]);
    }
    return text;
}

static bool chosen(const char *const *choices, const char *value)
{
    for (uint32_t i = 0; choices && choices[i]; i++) {
        if (strcmp(choices[i], value) == 0) {
            return true;
        }
    }
    return choices == NULL;
}

static void add(reader *r, const ovl_option *option, const char *value)
{
    if (!option->repeat && ovl_args_has(r->args, option->name)) {
        ovl_error(r->errs, OVL_E_USAGE, nowhere, "option \"--%s\" is given twice", option->name);
    } else if (value && !chosen(option->choices, value)) {
        ovl_error(r->errs, OVL_E_USAGE, nowhere, "option \"--%s\" is %s, not \"%s\"", option->name,
                  listed(r, option->choices), value);
    } else {
        r->args->options[r->args->n_options++] = (struct ovl_arg){option, value};
    }
}

/* The value of an option: what follows it in the same word, else the next word. */
static void take(reader *r, const ovl_option *option, const char *attached)
{
    if (!option->value && attached) {
        ovl_error(r->errs, OVL_E_USAGE, nowhere, "option \"--%s\" takes no value", option->name);
    } else if (!option->value) {
        add(r, option, NULL);
    } else if (attached) {
        add(r, option, attached);
    } else if (r->at < r->count) {
        add(r, option, r->words[r->at++]);
    } else {
        ovl_error(r->errs, OVL_E_USAGE, nowhere, "option \"--%s\" needs a value: --%s %s",
                  option->name, option->name, option->value);
    }
}

static void read_long(reader *r, const char *name)
{
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const ovl_option *option = find(r->table, name, length);
    if (option) {
        take(r, option, equals ? equals + 1 : NULL);
    } else {
        unknown(r, ovl_arena_strndup(r->arena, name, length));
    }
}

/* "-o FILE", "-oFILE"; switches are not bundled: there are too few. */
static void read_short(reader *r, const char *word)
{
    for (uint32_t i = 0; i < r->table->count; i++) {
        const ovl_option *option = &r->table->items[i];
        if (option->letter && option->letter == word[1]) {
            take(r, option, word[2] ? word + 2 : NULL);
            return;
        }
    }
    ovl_error(r->errs, OVL_E_USAGE, nowhere, "unknown option \"%s\"", word);
}

/* --- Options that go together --- */

/* Whether `name` is one of `list`, whose names have `between` between them. */
static bool listed_in(const char *list, char between, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, between)) {
        at += *at == between;
        if (strncmp(at, name, length) == 0 && (at[length] == between || at[length] == 0)) {
            return true;
        }
    }
    return false;
}

/* "--trials", "--over or --zip". */
static const char *dashed(const char *list, ovl_arena *arena)
{
    const char *text = "";
    while (*list) {
        size_t length = strcspn(list, "|");
        text = ovl_arena_printf(arena, "%s%s--%.*s", text, *text ? " or " : "", (int)length, list);
        list += length + (list[length] == '|');
    }
    return text;
}

static bool has_one_of(const ovl_args *args, const char *list)
{
    for (uint32_t i = 0; i < args->n_options; i++) {
        if (listed_in(list, '|', args->options[i].option->name)) {
            return true;
        }
    }
    return false;
}

/* Whether `a` has an effect beside `b`. */
static bool agree(const ovl_option *a, const ovl_option *b)
{
    return a == b || ((!a->without || !listed_in(a->without, '|', b->name)) &&
                      (!b->beside || listed_in(b->beside, ' ', a->name)));
}

static void check_beside(const reader *r, const ovl_option *option)
{
    for (uint32_t i = 0; i < r->args->n_options; i++) {
        const ovl_option *other = r->args->options[i].option;
        if (!agree(option, other)) {
            ovl_error(r->errs, OVL_E_USAGE, nowhere,
                      "--%s has no effect beside --%s: leave one of them out", option->name,
                      other->name);
        }
    }
}

static void check_together(const reader *r)
{
    for (uint32_t i = 0; i < r->args->n_options; i++) {
        const ovl_option *option = r->args->options[i].option;
        if (option->needs && !has_one_of(r->args, option->needs)) {
            ovl_error(r->errs, OVL_E_USAGE, nowhere, "--%s has no effect without %s", option->name,
                      dashed(option->needs, r->arena));
        }
        check_beside(r, option);
    }
}

bool ovl_args_read(const ovl_option_table *table, uint32_t count, const char *const *words,
                   ovl_arena *arena, ovl_args *args, ovl_errs *errs)
{
    uint32_t before = errs->errors;
    *args = (ovl_args){.table = table};
    args->operands = OVL_NEW_ARRAY(arena, const char *, count);
    args->options = OVL_NEW_ARRAY(arena, struct ovl_arg, count);
    reader r = {table, arena, args, errs, words, count, 0};
    bool closed = false;
    while (r.at < count) {
        const char *word = words[r.at++];
        if (closed || word[0] != '-' || word[1] == '\0') {
            args->operands[args->n_operands++] = word;
        } else if (strcmp(word, "--") == 0) {
            closed = true;
        } else if (word[1] == '-') {
            read_long(&r, word + 2);
        } else {
            read_short(&r, word);
        }
    }
    if (errs->errors == before) {
        check_together(&r);
    }
    return errs->errors == before;
}

const char *ovl_args_nth(const ovl_args *args, const char *name, uint32_t i)
{
    assert(find(args->table, name, strlen(name)));
    for (uint32_t k = 0; k < args->n_options; k++) {
        if (strcmp(args->options[k].option->name, name) == 0 && i-- == 0) {
            return args->options[k].value;
        }
    }
    return NULL;
}

const char *ovl_args_value(const ovl_args *args, const char *name)
{
    return ovl_args_nth(args, name, 0);
}

bool ovl_args_has(const ovl_args *args, const char *name)
{
    assert(find(args->table, name, strlen(name)));
    for (uint32_t k = 0; k < args->n_options; k++) {
        if (strcmp(args->options[k].option->name, name) == 0) {
            return true;
        }
    }
    return false;
}
