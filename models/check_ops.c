#include "models/tables.h"

#include <ctype.h>
#include <string.h>

/* Kinds of entries and the keys each may have besides its own and `ranks`; blanks around each. */
typedef struct entry_kind {
    const char *key, *may;
} entry_kind;

#define ISSUED " stream after launch reads writes resets "
#define COSTS  " bytes duration alpha beta via hbm_factor sms class dtype "

static const entry_kind kinds[] = {
    {"kernel",
     ISSUED " duration flops hbm compute sms blocks class dtype produces packs consumes "},
    {"collective", ISSUED COSTS " op group root average buffer sends receives "},
    {"send", ISSUED COSTS " group to eager buffer "},
    {"recv", ISSUED COSTS " group from eager buffer "},
    {"batch", ISSUED " parts ops "},
    {"copy", ISSUED COSTS " direction hbm "},
    {"host", ISSUED " duration "},
    {"marker", ISSUED " duration produces packs consumes "},
    {"alloc", " "},
    {"free", " "},
    {"repeat", " as ops "},
};

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; length && (at = strstr(at, word)); at += length) {
        if (at > words && at[-1] == ' ' && at[length] == ' ') {
            return true;
        }
    }
    return false;
}

/* --- Keys that are no keys --- */

static bool spelled(const char *word, const char *name)
{
    while (*word && *name) {
        if (*word == '_' || *word == '-') {
            word++;
        } else if (*name == '_') {
            name++;
        } else if (tolower((unsigned char)*word++) != *name++) {
            return false;
        }
    }
    return *word == *name;
}

int ovl_coll_spelled(const char *word)
{
    for (int i = 0; ovl_coll_keys[i]; i++) {
        if (spelled(word, ovl_coll_keys[i])) {
            return i;
        }
    }
    return -1;
}

const char *ovl_op_instead(const char *key, ovl_arena *arena)
{
    static const char *const other[][2] = {
        {"isend", "send"}, {"irecv", "recv"}, {"receive", "recv"}};
    int coll = ovl_coll_spelled(key);
    if (coll == OVL_SEND_RECV) {
        return "`send: NAME` on one rank and `recv: NAME` on the other";
    }
    if (coll >= 0) {
        return ovl_arena_printf(arena, "`collective: NAME` with `op: %s`", ovl_coll_keys[coll]);
    }
    for (size_t i = 0; i < OVL_COUNT(other); i++) {
        if (spelled(key, other[i][0])) {
            return ovl_arena_printf(arena, "`%s: NAME`", other[i][1]);
        }
    }
    return NULL;
}

const char *ovl_collective_instead(const char *key, ovl_arena *arena)
{
    int coll = ovl_coll_spelled(key);
    return coll < 0 ? NULL : ovl_arena_printf(arena, "`op: %s`", ovl_coll_keys[coll]);
}

/* Whether a key that is none says what the entry is: then that is told already. */
static bool is_told(const ovl_node *node, ovl_arena *arena)
{
    for (uint32_t i = 0; i < node->count; i++) {
        if (ovl_op_instead(node->pairs[i].key, arena)) {
            return true;
        }
    }
    return false;
}

/* --- Kinds --- */

/* What an entry is; NULL and an error unless exactly one key says so. */
static const entry_kind *kind_of(const ovl_node *node, ovl_errs *errs)
{
    const entry_kind *kind = NULL;
    for (size_t i = 0; i < OVL_COUNT(kinds); i++) {
        if (!ovl_node_gives(node, kinds[i].key)) {
            continue;
        }
        if (kind) {
            ovl_error(errs, OVL_E_INPUT, node->mark,
                      "an entry is one thing: \"%s\" and \"%s\" exclude each other", kind->key,
                      kinds[i].key);
            return NULL;
        }
        kind = &kinds[i];
    }
    if (!kind && !is_told(node, errs->arena)) {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "an entry says what it is by one of kernel, collective, send, recv, batch, copy, "
                  "host, marker, alloc, free, repeat");
    }
    return kind;
}

static void check_keys(const ovl_node *node, const entry_kind *kind, ovl_errs *errs)
{
    for (uint32_t i = 0; i < node->count; i++) {
        const ovl_pair_node *pair = &node->pairs[i];
        bool known = false;
        for (uint32_t k = 0; k < ovl_op_table.n_fields && !known; k++) {
            known = strcmp(ovl_op_table.fields[k].key, pair->key) == 0;
        }
        if (!known || ovl_node_is_null(pair->value)) {
            continue; /* unknown: told already */
        }
        if (strcmp(pair->key, kind->key) != 0 && strcmp(pair->key, "ranks") != 0 &&
            !has_word(kind->may, pair->key)) {
            ovl_error(errs, OVL_E_INPUT, pair->key_mark, "\"%s\" has no meaning beside \"%s\"",
                      pair->key, kind->key);
        }
    }
}

static void need(const ovl_node *node, const entry_kind *kind, const char *key, ovl_errs *errs)
{
    if (!ovl_node_gives(node, key)) {
        ovl_error(errs, OVL_E_INPUT, node->mark, "%s: \"%s\" is missing", kind->key, key);
    }
}

/* Two keys that say the same in different ways. */
static void exclude(const ovl_node *node, const char *with, const char *const *keys, size_t n,
                    ovl_errs *errs)
{
    for (size_t i = 0; i < n && ovl_node_gives(node, with); i++) {
        if (ovl_node_gives(node, keys[i])) {
            ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, keys[i])->mark,
                      "\"%s\" and \"%s\" both say how long it takes", with, keys[i]);
        }
    }
}

/* "3", "+1" or "-1". */
static void check_peer(const ovl_node *node, const char *key, ovl_errs *errs)
{
    const ovl_node *peer = ovl_node_get(node, key);
    if (!peer || peer->kind != OVL_NODE_SCALAR) {
        return;
    }
    const char *text = peer->text;
    text += *text == '+' || *text == '-';
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 9 || text[digits]) {
        ovl_error(errs, OVL_E_INPUT, peer->mark,
                  "%s is \"%s\": expected a place in the group, such as 3, or +1, -1", key,
                  ovl_shown(peer->text, errs->arena));
    }
}

/* Payload is that of an even exchange of as many bytes: nccl-tests counts a part that each keeps.
 */
static void check_matrix(const ovl_node *node, ovl_xop *op, ovl_errs *errs)
{
    static const char *const said[] = {"bytes", "receives"};
    double travels = 0;
    for (size_t i = 0; i < OVL_COUNT(said); i++) {
        if (ovl_node_gives(node, said[i])) {
            ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, said[i])->mark,
                      "%s follow%s from the matrix of sends", said[i], i ? "" : "s");
        }
    }
    for (uint32_t i = 0; i < op->sends.count; i++) {
        travels += i % (op->sends.rows + 1) ? op->sends.item[i] : 0;
    }
    if (travels <= 0) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, "sends")->mark,
                  "sends: no member gives another anything");
    } else {
        op->bytes = (uint64_t)(travels / (op->sends.rows - 1) + 0.5);
    }
    op->has_bytes = true;
}

static void check_collective(const ovl_node *node, ovl_xop *op, ovl_errs *errs)
{
    if (!ovl_node_gives(node, "op")) {
        return;
    }
    const char *name = ovl_coll_keys[op->op];
    if (op->op == OVL_SEND_RECV) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, "op")->mark,
                  "send_recv is no collective; use entries send: and recv:");
    }
    bool rooted = op->op == OVL_BROADCAST || op->op == OVL_REDUCE;
    if (ovl_node_gives(node, "root") && !rooted) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, "root")->mark, "%s has no root", name);
    }
    if (op->sends.rows && op->op == OVL_ALL_TO_ALL) {
        check_matrix(node, op, errs);
    }
    static const char *const uneven[] = {"sends", "receives"};
    for (size_t i = 0; i < OVL_COUNT(uneven) && op->op != OVL_ALL_TO_ALL; i++) {
        if (ovl_node_gives(node, uneven[i])) {
            ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, uneven[i])->mark,
                      "%s: only an all_to_all has members with bytes of their own", uneven[i]);
        }
    }
    bool sums = op->op == OVL_ALL_REDUCE || op->op == OVL_REDUCE_SCATTER || op->op == OVL_REDUCE;
    if (op->average && !sums) {
        ovl_error(errs, OVL_E_INPUT, ovl_node_get(node, "average")->mark, "%s sums nothing", name);
    }
}

static void check_parts(const ovl_xop *batch, ovl_errs *errs)
{
    for (uint32_t i = 0; i < batch->ops.count; i++) {
        const ovl_xop *part = OVL_ITEM(batch->ops, ovl_xop, i);
        if (!part->send && !part->recv) {
            ovl_error(errs, OVL_E_INPUT, part->mark, "a part of a batch is a send or a recv");
        } else if (part->stream || part->has_launch) {
            ovl_error(errs, OVL_E_INPUT, part->mark,
                      "a part of a batch has no stream or launch of its own");
        }
    }
}

/* An operation may stand where its name belongs. */
static void need_op(const ovl_node *node, const entry_kind *kind, const ovl_xop *op, ovl_errs *errs)
{
    int coll = op->collective ? ovl_coll_spelled(op->collective) : -1;
    if (coll < 0 || ovl_node_gives(node, "op")) {
        need(node, kind, "op", errs);
    } else {
        ovl_error(errs, OVL_E_INPUT, node->mark,
                  "collective: \"op\" is missing; did you mean `op: %s`?", ovl_coll_keys[coll]);
    }
}

void ovl_check_op(const ovl_node *node, void *value, ovl_arena *arena, ovl_errs *errs)
{
    (void)arena;
    static const char *const roofline[] = {"flops"};
    static const char *const own_cost[] = {"alpha", "beta"};
    ovl_xop *op = value;
    const entry_kind *kind = kind_of(node, errs);
    if (!kind) {
        return;
    }
    check_keys(node, kind, errs);
    if (strcmp(kind->key, "kernel") == 0) {
        exclude(node, "duration", roofline, OVL_COUNT(roofline), errs);
    } else {
        exclude(node, "duration", own_cost, OVL_COUNT(own_cost), errs);
    }
    if (strcmp(kind->key, "collective") == 0) {
        need_op(node, kind, op, errs);
        check_collective(node, op, errs);
    } else if (strcmp(kind->key, "send") == 0) {
        need(node, kind, "to", errs);
        check_peer(node, "to", errs);
    } else if (strcmp(kind->key, "recv") == 0) {
        need(node, kind, "from", errs);
        check_peer(node, "from", errs);
    } else if (strcmp(kind->key, "repeat") == 0) {
        need(node, kind, "ops", errs);
    } else if (strcmp(kind->key, "batch") == 0) {
        if (op->ops.count == 0) {
            need(node, kind, "parts", errs);
        }
        check_parts(op, errs);
    }
}
