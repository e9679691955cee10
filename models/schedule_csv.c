#include "models/schedule_csv.h"

#include <ctype.h>
#include <stdio.h>

#define MOST_NUMBER 1000000 /* microbatches; keeps a slip of the pen from filling memory */

typedef struct reader {
    const char *at;
    ovl_mark mark; /* of `at` */
    ovl_errs *errs;
    bool has_bw, has_w, has_i; /* which dialect it can be */
    ovl_mark first_bw, first_i;
    uint32_t stages, microbatches;
    ovl_mark highest;         /* where the highest stage is */
    ovl_action_list list;     /* of the row */
    OVL_VEC(uint32_t) column; /* of each of its actions */
} reader;

/* "BW" of the old dialect, until the dialect is known. */
#define ACT_BW OVL_ACT_COUNT

/* --- Cells --- */

/* The longest type that `text` begins with; NULL: none. */
static const char *type_of(const char *text, uint8_t *type)
{
    const char *end = NULL;
    for (unsigned t = OVL_ACT_F; t < OVL_ACT_COUNT; t++) {
        const char *name = ovl_action_name((ovl_action_type)t);
        size_t length = strlen(name);
        if (strncmp(text, name, length) == 0 && (!end || text + length > end)) {
            *type = (uint8_t)t;
            end = text + length;
        }
    }
    if (strncmp(text, "BW", 2) == 0) {
        *type = ACT_BW;
        end = text + 2;
    }
    return end;
}

static const char *number(const char *text, uint32_t *value)
{
    *value = 0;
    while (isdigit((unsigned char)*text) && *value <= MOST_NUMBER) {
        *value = *value * 10 + (uint32_t)(*text++ - '0');
    }
    return text;
}

static bool has_microbatch(unsigned type)
{
    return type != OVL_ACT_UNSHARD && type != OVL_ACT_RESHARD && type != OVL_ACT_REDUCE_GRAD;
}

static bool wrong_cell(reader *x, const char *from, const char *why)
{
    size_t length = strcspn(from, ",\r\n");
    ovl_error(x->errs, OVL_E_INPUT, x->mark, "\"%.*s\" is no action: %s", (int)OVL_MIN(length, 40),
              from, why);
    return false;
}

static void push(reader *x, ovl_action action)
{
    ovl_vec_push(&x->list, action);
    ovl_vec_push(&x->column, x->mark.column);
}

/* Reads one action at *text and moves on behind it; false and an error if there is none. */
static bool read_action(reader *x, const char **text, ovl_action *action)
{
    uint32_t stage, microbatch = OVL_NONE;
    uint8_t type = OVL_ACT_NONE;
    const char *from = *text, *end = number(from, &stage);
    if (end == from) {
        return wrong_cell(x, from, "it begins with the number of a stage");
    }
    end = type_of(end, &type);
    if (!end) {
        return wrong_cell(x, from, "after the stage comes a type such as F, I, W, B or SEND_F");
    }
    if (has_microbatch(type)) {
        const char *digits = end;
        end = number(digits, &microbatch);
        if (end == digits) {
            return wrong_cell(x, from, "it ends with the number of a microbatch");
        }
    }
    if (stage >= UINT16_MAX || (microbatch != OVL_NONE && microbatch >= MOST_NUMBER)) {
        return wrong_cell(x, from, "the number is too large");
    }
    if (microbatch != OVL_NONE) {
        x->microbatches = OVL_MAX(x->microbatches, microbatch + 1);
    }
    x->highest = stage >= x->stages ? x->mark : x->highest;
    x->stages = OVL_MAX(x->stages, stage + 1);
    if (type == ACT_BW && !x->has_bw) {
        x->first_bw = x->mark;
    } else if (type == OVL_ACT_I && !x->has_i) {
        x->first_i = x->mark;
    }
    x->has_bw |= type == ACT_BW;
    x->has_w |= type == OVL_ACT_W;
    x->has_i |= type == OVL_ACT_I;
    *action = (ovl_action){.microbatch = microbatch, .stage = (uint16_t)stage, .type = type};
    *text = end;
    return true;
}

/* "(0F2;3B1)OVERLAP_F_B", perhaps with a stage in front. */
static bool read_pair(reader *x, const char *text)
{
    const char *from = text;
    ovl_action first, second;
    text += strcspn(text, "(") + 1;
    if (!read_action(x, &text, &first)) {
        return false;
    }
    text += strcspn(text, ";),\r\n");
    if (*text++ != ';') {
        return wrong_cell(x, from, "a pair has two actions, with a semicolon between them");
    }
    if (!read_action(x, &text, &second)) {
        return false;
    }
    text += strcspn(text, ";),\r\n");
    if (*text != ')' || strncmp(text + 1, "OVERLAP_F_B", 11) != 0) {
        return wrong_cell(x, from, "a pair of two ends with )OVERLAP_F_B");
    }
    first.joined = true;
    push(x, first);
    push(x, second);
    return true;
}

/* The cell at x->at, up to the next comma or the end of the row. */
static void read_cell(reader *x)
{
    const char *text = x->at, *end = text + strcspn(text, ",\r\n");
    while (text < end && (*text == ' ' || *text == '\t' || *text == '"')) {
        text++;
    }
    x->mark.column += (uint32_t)(text - x->at);
    ovl_action action;
    if (text == end) {
        push(x, (ovl_action){.microbatch = OVL_NONE});
    } else if (text[strspn(text, "0123456789")] == '(') { /* elsewhere it is trailing text */
        read_pair(x, text);
    } else {
        const char *behind = text;
        bool read = read_action(x, &behind, &action);
        if (read && behind[strspn(behind, " \t")] == ';') {
            wrong_cell(x, text, "cells are separated by commas, not by semicolons");
        } else if (read) {
            push(x, action);
        }
    }
    x->mark.column += (uint32_t)(end - text);
    x->at = end;
}

/* --- Rows --- */

static void read_row(reader *x, const char *row, ovl_mark mark)
{
    x->at = row;
    x->mark = mark;
    while (*row) {
        read_cell(x);
        if (*x->at != ',') {
            break;
        }
        x->at++;
        x->mark.column++;
    }
}

static ovl_csv_dialect dialect_of(const reader *x)
{
    return x->has_bw || (x->has_w && !x->has_i) ? OVL_CSV_OLD : OVL_CSV_NEW;
}

/* BW is of the old dialect, I of the new one. */
static void check_dialect(const reader *x)
{
    if (x->has_bw && x->has_i) {
        ovl_error(x->errs, OVL_E_INPUT, x->first_bw,
                  "BW is of the old dialect, and the I of line %" PRIu32 ", column %" PRIu32
                  " of the new one: a schedule is written in one of them",
                  x->first_i.line, x->first_i.column);
    }
}

/* Old names become new ones. */
static void translate(ovl_actions *row, ovl_csv_dialect dialect)
{
    for (uint32_t i = 0; dialect == OVL_CSV_OLD && i < row->count; i++) {
        uint8_t *type = &row->item[i].type;
        *type = *type == OVL_ACT_B ? OVL_ACT_I : *type == ACT_BW ? OVL_ACT_B : *type;
    }
}

/* The rank of a stage is that of its first action; a stage without any is a mistake. */
static void place_stages(reader *x, bool whole, ovl_schedule *s, ovl_arena *arena)
{
    uint32_t *rank_of = OVL_NEW_ARRAY(arena, uint32_t, s->n_stages);
    for (uint32_t k = 0; k < s->n_stages; k++) {
        rank_of[k] = OVL_NONE;
    }
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        for (uint32_t i = 0; i < s->ranks[r].count; i++) {
            const ovl_action *a = &s->ranks[r].item[i];
            if (a->type != OVL_ACT_NONE && rank_of[a->stage] == OVL_NONE) {
                rank_of[a->stage] = r;
            }
        }
    }
    uint32_t missing = 0, first = 0;
    for (uint32_t k = s->n_stages; k-- > 0;) {
        if (rank_of[k] == OVL_NONE) {
            rank_of[k] = 0;
            missing++;
            first = k;
        }
    }
    if (missing && whole) {
        const char *those =
            missing == 1 ? ovl_arena_printf(arena, "stage %" PRIu32 " is", first)
                         : ovl_arena_printf(arena, "%" PRIu32 " stages from %" PRIu32 " on are",
                                            missing, first);
        ovl_error(x->errs, OVL_E_INPUT, x->highest, "%s on no rank, yet this is of stage %" PRIu32,
                  those, s->n_stages - 1);
    }
    s->rank_of = rank_of;
}

/* Two copies of a model that enter at both ends (schedule.h): the second half of the stages mirrors
 * the first, and each half has its own half of the microbatches. With one chain each stage would
 * have all of them, so no such list is mistaken for one. */
static uint32_t count_chains(const ovl_schedule *s)
{
    uint32_t half = s->n_stages / 2, m = s->n_microbatches / 2;
    if (half == 0 || s->n_stages % 2 || s->n_microbatches % 2) {
        return 1;
    }
    for (uint32_t k = 0; k < half; k++) {
        if (s->rank_of[half + k] != s->rank_of[half - 1 - k]) {
            return 1;
        }
    }
    for (uint32_t r = 0; r < s->n_ranks; r++) {
        for (uint32_t i = 0; i < s->ranks[r].count; i++) {
            const ovl_action *a = &s->ranks[r].item[i];
            if (a->microbatch != OVL_NONE && (a->stage < half) != (a->microbatch < m)) {
                return 1;
            }
        }
    }
    return 2;
}

/* The list of a row and where its actions stand. */
static void keep_row(reader *x, ovl_mark mark, ovl_actions *row, ovl_actions_place *place,
                     ovl_arena *arena)
{
    row->count = x->list.len;
    row->item = ovl_vec_freeze(&x->list, arena);
    place->row = mark;
    place->column = ovl_vec_freeze(&x->column, arena);
}

bool ovl_schedule_read_rows(const char *const *rows, const ovl_mark *marks, uint32_t n,
                            ovl_schedule *schedule, ovl_csv_dialect *dialect, ovl_arena *arena,
                            ovl_errs *errs)
{
    reader x = {.errs = errs};
    uint32_t errors = errs->errors;
    ovl_actions_place *places = OVL_NEW_ARRAY(arena, ovl_actions_place, n);
    *schedule = (ovl_schedule){.n_chains = 1, .n_ranks = n, .places = places};
    schedule->ranks = OVL_NEW_ARRAY(arena, ovl_actions, n);
    for (uint32_t r = 0; r < n; r++) {
        read_row(&x, rows[r], marks[r]);
        keep_row(&x, marks[r], &schedule->ranks[r], &places[r], arena);
    }
    check_dialect(&x);
    schedule->old = dialect_of(&x) == OVL_CSV_OLD;
    for (uint32_t r = 0; r < n; r++) {
        translate(&schedule->ranks[r], dialect_of(&x));
    }
    if (x.stages == 0 && errs->errors == errors) {
        ovl_error(errs, OVL_E_INPUT, n ? (ovl_mark){.file = marks[0].file} : (ovl_mark){0},
                  "the schedule has no actions");
    }
    schedule->n_stages = x.stages;
    schedule->n_microbatches = OVL_MAX(x.microbatches, 1);
    place_stages(&x, errs->errors == errors, schedule, arena);
    schedule->n_chains = count_chains(schedule);
    if (dialect) {
        *dialect = dialect_of(&x);
    }
    return errs->errors == errors;
}

size_t ovl_csv_mark(const char *text)
{
    static const char mark[] = "\xef\xbb\xbf";
    return strncmp(text, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0;
}

bool ovl_schedule_read_csv(const char *file, const char *text, ovl_schedule *schedule,
                           ovl_csv_dialect *dialect, ovl_arena *arena, ovl_errs *errs)
{
    OVL_VEC(const char *) rows = {0};
    OVL_VEC(ovl_mark) marks = {0};
    text += ovl_csv_mark(text);
    for (uint32_t line = 1; *text; line++) {
        size_t width = strcspn(text, "\r\n");
        ovl_vec_push(&rows, ovl_arena_strndup(arena, text, width));
        ovl_vec_push(&marks, ((ovl_mark){file, line, 1}));
        text += width;
        text += strspn(text, "\r");
        text += *text == '\n';
    }
    bool ok = rows.len > 0;
    if (ok) {
        ok =
            ovl_schedule_read_rows(rows.data, marks.data, rows.len, schedule, dialect, arena, errs);
    } else {
        *schedule = (ovl_schedule){.n_chains = 1, .n_microbatches = 1};
        ovl_error(errs, OVL_E_INPUT, (ovl_mark){.file = file}, "the schedule has no actions");
    }
    ovl_vec_free(&rows);
    ovl_vec_free(&marks);
    return ok;
}

/* --- Writing --- */

static const char *type_text(const ovl_action *a, ovl_csv_dialect dialect)
{
    if (dialect == OVL_CSV_OLD && a->type == OVL_ACT_I) {
        return "B";
    }
    if (dialect == OVL_CSV_OLD && a->type == OVL_ACT_B) {
        return "BW";
    }
    return ovl_action_name((ovl_action_type)a->type);
}

typedef OVL_VEC(char) text_vec;

static void append(text_vec *text, const char *part)
{
    size_t length = strlen(part);
    ovl_vec_reserve(text, (uint64_t)text->len + length + 1);
    memcpy(text->data + text->len, part, length + 1);
    text->len += (uint32_t)length;
}

static void append_action(text_vec *text, const ovl_action *a, ovl_csv_dialect dialect)
{
    char part[48];
    if (a->type == OVL_ACT_NONE) {
        return;
    }
    if (a->microbatch == OVL_NONE) {
        snprintf(part, sizeof part, "%d%s", a->stage, type_text(a, dialect));
    } else {
        snprintf(part, sizeof part, "%d%s%" PRIu32, a->stage, type_text(a, dialect), a->microbatch);
    }
    append(text, part);
}

static void append_row(text_vec *text, const ovl_actions *row, ovl_csv_dialect dialect)
{
    for (uint32_t i = 0; i < row->count; i++) {
        bool pair = row->item[i].joined && i + 1 < row->count;
        append(text, i ? "," : "");
        append(text, pair ? "(" : "");
        append_action(text, &row->item[i], dialect);
        if (pair) {
            append(text, ";");
            append_action(text, &row->item[++i], dialect);
            append(text, ")OVERLAP_F_B");
        }
    }
    append(text, "\n");
}

char *ovl_schedule_print_csv(const ovl_schedule *schedule, ovl_csv_dialect dialect,
                             ovl_arena *arena)
{
    text_vec text = {0};
    append(&text, "");
    for (uint32_t r = 0; r < schedule->n_ranks; r++) {
        append_row(&text, &schedule->ranks[r], dialect);
    }
    char *copy = ovl_arena_strndup(arena, text.data, text.len);
    ovl_vec_free(&text);
    return copy;
}
