#include "models/plan_ops.h"

#include <stdio.h>

#define MAX_REPORTS 1000

bool ovl_ops_may_report(ovl_ops *o)
{
    return o->reports++ < MAX_REPORTS;
}

ovl_mark ovl_ops_mark(const ovl_texts *texts, uint32_t i, ovl_mark otherwise)
{
    return texts->mark ? texts->mark[i] : otherwise;
}

static bool name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A counter in braces: name, and what is added to it. */
typedef struct counter {
    const char *name;
    size_t length;
    int64_t add;
    const char *end; /* behind the closing brace */
} counter;

/* Reads "{name}", "{name+1}" or "{name-1}"; other texts in braces are left alone. */
static bool read_counter(const char *at, counter *c)
{
    c->name = ++at;
    while (name_char(*at)) {
        at++;
    }
    c->length = (size_t)(at - c->name);
    c->add = 0;
    if (c->length == 0 || (*c->name >= '0' && *c->name <= '9')) {
        return false;
    }
    if (*at == '+' || *at == '-') {
        bool minus = *at++ == '-';
        if (*at < '0' || *at > '9') {
            return false;
        }
        for (; *at >= '0' && *at <= '9' && c->add < 1000000000; at++) {
            c->add = c->add * 10 + (*at - '0');
        }
        c->add = minus ? -c->add : c->add;
    }
    c->end = at + 1;
    return *at == '}';
}

static const ovl_binding *find_binding(const ovl_ops *o, uint32_t binding, const counter *c)
{
    for (; binding != OVL_NONE; binding = o->bindings.data[binding].outer) {
        const ovl_binding *b = &o->bindings.data[binding];
        if (strlen(b->name) == c->length && memcmp(b->name, c->name, c->length) == 0) {
            return b;
        }
    }
    return NULL;
}

static void put(ovl_ops *o, const char *text, size_t length)
{
    if (length == 0) {
        return;
    }
    ovl_vec_reserve(&o->text, o->text.len + length);
    memcpy(o->text.data + o->text.len, text, length);
    o->text.len += (uint32_t)length;
}

static bool put_counter(ovl_ops *o, const counter *c, uint32_t binding, ovl_mark mark)
{
    const ovl_binding *b = find_binding(o, binding, c);
    if (!b) {
        if (ovl_ops_may_report(o)) {
            ovl_error(o->l->errs, OVL_E_INPUT, mark, "{%.*s} is no counter of a repeat around this",
                      (int)c->length, c->name);
        }
        return false;
    }
    char number[24];
    int length = snprintf(number, sizeof number, "%" PRId64, b->value + c->add);
    put(o, number, (size_t)length);
    return true;
}

const char *ovl_ops_text(ovl_ops *o, const char *text, uint32_t binding, ovl_mark mark)
{
    const char *open = strchr(text, '{');
    counter c;
    if (!open) {
        return text;
    }
    o->text.len = 0;
    for (const char *at = text; *at;) {
        open = strchr(at, '{');
        size_t plain = open ? (size_t)(open - at) : strlen(at);
        put(o, at, plain);
        at += plain;
        if (!open) {
            break;
        }
        if (!read_counter(at, &c)) {
            put(o, at++, 1);
        } else if (put_counter(o, &c, binding, mark)) {
            at = c.end;
        } else {
            return "";
        }
    }
    ovl_vec_push(&o->text, 0);
    return o->text.data;
}
