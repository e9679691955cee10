#include "models/schedule.h"

#include <ctype.h>

/* --- Words --- */

const char *ovl_action_name(ovl_action_type type)
{
    static const char *const names[OVL_ACT_COUNT] = {"",       "F",       "I",       "W",
                                                     "B",      "SEND_F",  "RECV_F",  "SEND_B",
                                                     "RECV_B", "UNSHARD", "RESHARD", "REDUCE_GRAD"};
    return names[type];
}

const char *ovl_schedule_word(const ovl_schedule *schedule, ovl_action_type type)
{
    bool other = schedule->old && (type == OVL_ACT_I || type == OVL_ACT_B);
    return !other ? ovl_action_name(type) : type == OVL_ACT_I ? "B" : "BW";
}

void ovl_put(ovl_action_list *list, ovl_action_type type, uint32_t stage, uint32_t microbatch)
{
    ovl_vec_push(
        list,
        (ovl_action){.microbatch = microbatch, .stage = (uint16_t)stage, .type = (uint8_t)type});
}

void ovl_put_joined(ovl_action_list *list, ovl_action_type type, uint32_t stage,
                    uint32_t microbatch)
{
    ovl_put(list, type, stage, microbatch);
    list->data[list->len - 1].joined = true;
}

uint32_t ovl_schedule_chain(const ovl_schedule *schedule)
{
    return schedule->n_stages / schedule->n_chains;
}

bool ovl_schedule_first(const ovl_schedule *schedule, uint32_t stage)
{
    return stage % ovl_schedule_chain(schedule) == 0;
}

bool ovl_schedule_last(const ovl_schedule *schedule, uint32_t stage)
{
    return (stage + 1) % ovl_schedule_chain(schedule) == 0;
}

ovl_mark ovl_schedule_place(const ovl_schedule *schedule, uint32_t rank, uint32_t index,
                            ovl_mark otherwise)
{
    if (!schedule->places) {
        return otherwise;
    }
    ovl_mark place = schedule->places[rank].row;
    if (index < schedule->ranks[rank].count) {
        place.column = schedule->places[rank].column[index];
    }
    return place;
}

/* --- The table --- */

static const ovl_schedule_kind *const kinds[] = {
    &ovl_schedule_gpipe,          &ovl_schedule_1f1b,        &ovl_schedule_1f1b_megatron,
    &ovl_schedule_looped_bfs,     &ovl_schedule_interleaved, &ovl_schedule_interleaved_megatron,
    &ovl_schedule_interleaved_zb, &ovl_schedule_zb_h1,       &ovl_schedule_zb_h2,
    &ovl_schedule_zb_1p,          &ovl_schedule_zb_2p,       &ovl_schedule_zb_v,
    &ovl_schedule_v_half,         &ovl_schedule_v_min,       &ovl_schedule_dualpipe,
    &ovl_schedule_dualpipev,
};

const ovl_schedule_kind *ovl_schedule_at(uint32_t index)
{
    return index < OVL_COUNT(kinds) ? kinds[index] : NULL;
}

/* Compared without capitals and separators: "ZB-H1" is "zb_h1". */
static bool same_name(const char *a, const char *b)
{
    for (;;) {
        while (*a == '-' || *a == '_') {
            a++;
        }
        while (*b == '-' || *b == '_') {
            b++;
        }
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) {
            return false;
        }
        if (!*a) {
            return true;
        }
        a++, b++;
    }
}

static bool is_pytorchs(const char *name, const char *class_name)
{
    return class_name &&
           (same_name(name, class_name) || same_name(name, class_name + strlen("Schedule")));
}

const ovl_schedule_kind *ovl_schedule_find(const char *name)
{
    for (uint32_t i = 0; i < OVL_COUNT(kinds); i++) {
        if (same_name(name, kinds[i]->name) || is_pytorchs(name, kinds[i]->pytorch)) {
            return kinds[i];
        }
    }
    return NULL;
}

/* --- Making --- */

/* "; looped_bfs, interleaved have 2": where another schedule would do. */
static const char *those_with(uint32_t v, ovl_arena *arena)
{
    const char *text = "";
    for (uint32_t i = 0; i < OVL_COUNT(kinds); i++) {
        if (kinds[i]->least_stages <= v && v <= kinds[i]->most_stages) {
            text = ovl_arena_printf(arena, "%s%s%s", text, *text ? ", " : "; ", kinds[i]->name);
        }
    }
    return *text ? ovl_arena_printf(arena, "%s can have %" PRIu32, text, v) : "";
}

bool ovl_schedule_fits(const ovl_schedule_kind *kind, const ovl_schedule_spec *spec, ovl_errs *errs)
{
    uint32_t errors = errs->errors, v = spec->stages_per_rank;
    if (spec->ranks < 1 || spec->microbatches < 1) {
        ovl_error(errs, OVL_E_INPUT, spec->ranks < 1 ? spec->mark : spec->microbatches_mark,
                  "a pipeline needs at least one rank and one microbatch");
    } else if ((uint64_t)spec->ranks * v >= UINT16_MAX) {
        ovl_error(errs, OVL_E_INPUT, spec->stages_mark, "%" PRIu64 " stages are more than %d",
                  (uint64_t)spec->ranks * v, UINT16_MAX - 1);
    } else if (v < kind->least_stages || v > kind->most_stages) {
        if (kind->least_stages == kind->most_stages) {
            ovl_error(errs, OVL_E_INPUT, spec->stages_mark,
                      "%s has %" PRIu32 " stage%s on each rank, not %" PRIu32 "%s", kind->name,
                      kind->least_stages, kind->least_stages == 1 ? "" : "s", v,
                      those_with(v, errs->arena));
        } else {
            ovl_error(errs, OVL_E_INPUT, spec->stages_mark,
                      "%s has at least %" PRIu32 " stages on each rank, not %" PRIu32 "%s",
                      kind->name, kind->least_stages, v, those_with(v, errs->arena));
        }
    } else if (kind->check) {
        kind->check(spec, errs);
    }
    return errs->errors == errors;
}

static uint32_t *place_stages(const ovl_schedule_kind *kind, uint32_t ranks, uint32_t n,
                              ovl_arena *arena)
{
    uint32_t *rank_of = OVL_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t s = 0; s < n; s++) {
        bool back = kind->placement != OVL_PLACE_LOOP && s >= ranks;
        rank_of[s] = back ? 2 * ranks - 1 - s : s % ranks;
    }
    return rank_of;
}

bool ovl_schedule_make(const ovl_schedule_kind *kind, const ovl_schedule_spec *spec,
                       ovl_schedule *schedule, ovl_arena *arena, ovl_errs *errs)
{
    if (!ovl_schedule_fits(kind, spec, errs)) {
        return false;
    }
    bool both = kind->placement == OVL_PLACE_BOTH;
    uint32_t n = spec->ranks * (both ? 2 : spec->stages_per_rank);
    *schedule = (ovl_schedule){.n_ranks = spec->ranks,
                               .n_stages = n,
                               .n_microbatches = spec->microbatches,
                               .n_chains = both ? 2 : 1,
                               .rank_of = place_stages(kind, spec->ranks, n, arena),
                               .ranks = OVL_NEW_ARRAY(arena, ovl_actions, spec->ranks)};
    ovl_arena scratch = {0};
    ovl_action_list *lists = OVL_NEW_ARRAY(&scratch, ovl_action_list, spec->ranks);
    bool ok = !kind->whole || kind->whole(spec, lists, errs);
    for (uint32_t r = 0; r < spec->ranks; r++) {
        if (kind->order) {
            kind->order(spec, r, &lists[r]);
        }
        schedule->ranks[r].count = lists[r].len;
        schedule->ranks[r].item = ovl_vec_freeze(&lists[r], arena);
    }
    ovl_arena_free(&scratch);
    return ok;
}

static bool same_action(const ovl_action *a, const ovl_action *b)
{
    return a->type == b->type && a->stage == b->stage && a->microbatch == b->microbatch &&
           a->joined == b->joined;
}

bool ovl_schedule_same(const ovl_schedule *a, const ovl_schedule *b)
{
    bool same = a->n_ranks == b->n_ranks;
    for (uint32_t r = 0; same && r < a->n_ranks; r++) {
        same = a->ranks[r].count == b->ranks[r].count;
        for (uint32_t i = 0; same && i < a->ranks[r].count; i++) {
            same = same_action(&a->ranks[r].item[i], &b->ranks[r].item[i]);
        }
    }
    return same;
}
