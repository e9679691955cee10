#include "sim/idle_charge.h"

#include "sim/exposure.h"

__extension__ typedef __int128 wide;

/* --- Trials --- */

/* `of_run`: the run that the suspects make longer, replayed with the same options. */
static void make_trial(ovl_idle_charger *x, ovl_idle_trial *t, ovl_peel of_run)
{
    ovl_replay_options options = *ovl_idle_taken(of_run);
    t->made = true;
    t->with = &x->run[of_run];
    if (t->suspects.n && x->ordered[of_run]) {
        ovl_idle_run_replay(x->lab, &options, &t->own);
        t->with = &t->own;
    }
    options.of = t->suspects.of;
    for (uint32_t i = 0; i < t->suspects.n; i++) {
        options.harmless = (uint8_t)i;
        ovl_idle_run_replay(x->lab, &options, &t->run[i]);
    }
}

static const ovl_idle_trial *try_stages(ovl_idle_charger *x)
{
    if (!x->stages.made) {
        ovl_suspects_stages(x->lab->causes, x->lab->classes, x->lab->means, x->lab->arena,
                            &x->stages.suspects);
        make_trial(x, &x->stages, OVL_PEEL_IMBALANCE);
    }
    return &x->stages;
}

static const ovl_idle_trial *try_transfers(ovl_idle_charger *x)
{
    if (!x->transfers.made) {
        ovl_suspects_transfers(x->lab->causes, x->lab->arena, &x->transfers.suspects);
        make_trial(x, &x->transfers, OVL_PEEL_DEPENDENCY);
    }
    return &x->transfers;
}

static const ovl_idle_trial *try_batches(ovl_idle_charger *x)
{
    if (!x->batches.made) {
        ovl_suspects_batches(x->lab->causes, x->lab->arena, &x->batches.suspects);
        make_trial(x, &x->batches, OVL_PEEL_DEPENDENCY);
    }
    return &x->batches;
}

/* One more replay of a trial, with all transfers harmless, or all batches. */
static void make_joint(ovl_idle_charger *x, ovl_idle_trial *t, bool batches)
{
    ovl_replay_options options = *ovl_idle_taken(OVL_PEEL_DEPENDENCY);
    uint8_t *of = OVL_NEW_ARRAY(x->lab->arena, uint8_t, x->lab->causes->program->n_ops);
    for (uint32_t op = 0; op < x->lab->causes->program->n_ops; op++) {
        const ovl_op *o = ovl_causes_op(x->lab->causes, op);
        bool moves = o->kind != OVL_BATCH && (ovl_is_communication(o) || o->kind == OVL_COPY);
        of[op] = (batches ? o->kind == OVL_BATCH : moves) ? 0 : OVL_NO_SUSPECT;
    }
    options.of = of;
    t->has_joint = true;
    ovl_idle_run_replay(x->lab, &options, &t->joint);
}

static void free_trial(ovl_idle_trial *t)
{
    ovl_idle_run_free(&t->joint);
    ovl_idle_run_free(&t->own);
    for (uint32_t i = 0; i < t->suspects.n; i++) {
        ovl_idle_run_free(&t->run[i]);
    }
}

/* How much shorter a gap is with each of some suspects harmless. */
static void add_gains(ovl_idle_charger *x, const ovl_idle_trial *t, uint32_t class_id,
                      const ovl_idle_gap *g)
{
    ovl_time wait = ovl_idle_waits_in(t->with, class_id, g->op);
    for (uint32_t i = 0; i < t->suspects.n; i++) {
        ovl_time gain = wait - ovl_idle_waits_in(&t->run[i], class_id, g->op);
        uint32_t op = ovl_suspect_op(&t->suspects.list[i], x->lab->causes->timeline, g->to);
        ovl_vec_push(&x->share, (ovl_blame_share){op, OVL_MAX(0, gain)});
    }
}

/* To suspects by that. */
static bool charge_by_trial(ovl_idle_charger *x, const ovl_idle_trial *t, ovl_idle_kind kind,
                            uint32_t class_id, const ovl_idle_gap *g, ovl_time time,
                            ovl_charges *list)
{
    x->share.len = 0;
    add_gains(x, t, class_id, g);
    return ovl_blame_split(x->blamer, kind, x->share.data, x->share.len, time, list);
}

static void charge_by_weight(ovl_idle_charger *x, const ovl_idle_trial *t, ovl_idle_kind kind,
                             const ovl_idle_gap *g, ovl_time time, ovl_charges *list)
{
    x->share.len = 0;
    for (uint32_t i = 0; i < t->suspects.n; i++) {
        uint32_t op = ovl_suspect_op(&t->suspects.list[i], x->lab->causes->timeline, g->to);
        ovl_vec_push(&x->share, (ovl_blame_share){op, t->suspects.list[i].weight});
    }
    ovl_blame_split(x->blamer, kind, x->share.data, x->share.len, time, list);
}

/* To what the gap was spent on; where that is before it, to the nearest. False: there is none. */
static bool charge_by_way(ovl_idle_charger *x, const ovl_idle_gap *g, ovl_wait wait,
                          ovl_idle_kind kind, ovl_time time, ovl_charges *list)
{
    const ovl_waited *w = &g->waited;
    x->share.len = 0;
    for (uint32_t i = 0; i < g->n_parts; i++) {
        const ovl_wait_part *part = &x->waits->parts.data[g->first_part + i];
        if (part->kind == wait) {
            ovl_vec_push(&x->share, (ovl_blame_share){part->op, part->time});
        }
    }
    if (ovl_blame_split(x->blamer, kind, x->share.data, x->share.len, time, list)) {
        return true;
    }
    if (w->by[wait] != OVL_NONE) {
        ovl_blame(x->blamer, kind, w->by[wait], time, list);
    }
    return w->by[wait] != OVL_NONE;
}

static void charge_imbalance(ovl_idle_charger *x, uint32_t class_id, const ovl_idle_gap *g,
                             ovl_time time, ovl_charges *list)
{
    const ovl_idle_trial *t = try_stages(x);
    if (!charge_by_trial(x, t, OVL_IDLE_IMBALANCE, class_id, g, time, list)) {
        charge_by_weight(x, t, OVL_IDLE_IMBALANCE, g, time, list);
    }
}

static void charge_transfers(ovl_idle_charger *x, uint32_t class_id, const ovl_idle_gap *g,
                             ovl_time time, ovl_charges *list)
{
    const ovl_idle_trial *t = try_transfers(x);
    if (!charge_by_trial(x, t, OVL_IDLE_DEPENDENCY, class_id, g, time, list) &&
        !charge_by_way(x, g, OVL_WAIT_DEPENDENCY, OVL_IDLE_DEPENDENCY, time, list)) {
        charge_by_weight(x, t, OVL_IDLE_DEPENDENCY, g, time, list);
    }
}

static ovl_time joint_gain(const ovl_idle_trial *t, uint32_t class_id, const ovl_idle_gap *g)
{
    return OVL_MAX(0, ovl_idle_waits_in(t->with, class_id, g->op) -
                          ovl_idle_waits_in(&t->joint, class_id, g->op));
}

/* How much of `time` batches are to blame for. One batch less changes little where others hold up
 * as much: all of them against all transfers say it. */
static ovl_time due_to_batches(ovl_idle_charger *x, uint32_t class_id, const ovl_idle_gap *g,
                               ovl_time time)
{
    try_transfers(x);
    try_batches(x);
    if (x->batches.suspects.n == 0) {
        return 0;
    }
    if (!x->batches.has_joint) {
        make_joint(x, &x->transfers, false);
        make_joint(x, &x->batches, true);
    }
    wide held = joint_gain(&x->batches, class_id, g);
    wide sum = held + joint_gain(&x->transfers, class_id, g);
    return sum > 0 ? (ovl_time)(time * held / sum) : 0;
}

/* What moved during the gap is charged itself; that what was waited for was late already, to the
 * transfers and batches that make it so. */
static void charge_dependency(ovl_idle_charger *x, uint32_t class_id, const ovl_idle_gap *g,
                              ovl_time time, ovl_charges *list)
{
    ovl_time own = OVL_MIN(time, g->waited.time[OVL_WAIT_DEPENDENCY]), late = time - own;
    if (own > 0) {
        charge_by_way(x, g, OVL_WAIT_DEPENDENCY, OVL_IDLE_DEPENDENCY, own, list);
    }
    if (late == 0) {
        return;
    }
    const ovl_idle_trial *b = &x->batches;
    ovl_time held = due_to_batches(x, class_id, g, late);
    if (held > 0 && !charge_by_trial(x, b, OVL_IDLE_DEPENDENCY, class_id, g, held, list)) {
        charge_by_weight(x, b, OVL_IDLE_DEPENDENCY, g, held, list);
    }
    if (late > held) {
        charge_transfers(x, class_id, g, late - held, list);
    }
}

void ovl_idle_charge(ovl_idle_charger *x, uint32_t class_id, const ovl_idle_gap *g,
                     ovl_charges *list)
{
    const ovl_time *piece = g->piece;
    if (piece[OVL_IDLE_IMBALANCE] > 0) {
        charge_imbalance(x, class_id, g, piece[OVL_IDLE_IMBALANCE], list);
    }
    if (piece[OVL_IDLE_DEPENDENCY] > 0) {
        charge_dependency(x, class_id, g, piece[OVL_IDLE_DEPENDENCY], list);
    }
    if (piece[OVL_IDLE_SCHEDULE] > 0) {
        charge_by_way(x, g, OVL_WAIT_SCHEDULE, OVL_IDLE_SCHEDULE, piece[OVL_IDLE_SCHEDULE], list);
    }
    if (piece[OVL_IDLE_HOST] > 0) {
        charge_by_way(x, g, OVL_WAIT_HOST, OVL_IDLE_HOST, piece[OVL_IDLE_HOST], list);
    }
    if (piece[OVL_IDLE_PAUSE] > 0) {
        charge_by_way(x, g, OVL_WAIT_PAUSE, OVL_IDLE_PAUSE, piece[OVL_IDLE_PAUSE], list);
    }
}

const char *ovl_idle_because(const ovl_idle_charger *x, const ovl_idle_gap *gap,
                             const ovl_charges *list, uint32_t first)
{
    int largest = OVL_IDLE_IMBALANCE; /* nobody is to blame for the others */
    for (int k = OVL_IDLE_DEPENDENCY; k < OVL_IDLE_COUNT; k++) {
        largest = gap->piece[k] > gap->piece[largest] ? k : largest;
    }
    const ovl_charge *most = NULL;
    for (uint32_t i = first; i < list->len; i++) {
        const ovl_charge *c = &list->data[i];
        most = c->kind == largest && (!most || c->time > most->time) ? c : most;
    }
    return most ? ovl_blame_text(x->blamer, (ovl_idle_kind)largest, most->op) : NULL;
}

void ovl_idle_charger_free(ovl_idle_charger *x)
{
    free_trial(&x->stages);
    free_trial(&x->transfers);
    free_trial(&x->batches);
    ovl_vec_free(&x->share);
}
