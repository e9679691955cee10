/*
 * The process groups that distributedInfo lists: names, sizes, ranks. Arguments of collectives cut
 * lists of more than 30 ranks short; this one is whole.
 *
 *     "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "pg_size": 2, "ranks": [0, 1]}]
 *
 * On-demand traces write the ranks as one quoted text, "[0, 1]".
 */
#include "sim/vec.h"
#include "tools/kineto.h"

#include <string.h>

#define MOST_GROUPS 4096
#define MOST_RANKS  (1 << 16)

typedef OVL_VEC(int64_t) numbers;

static void read_ranks(ovl_slice list, numbers *to)
{
    ovl_scan_value value;
    int64_t rank;
    if (list.length == 0 || *list.text != '[') {
        return;
    }
    ovl_cursor c = {list.text + 1, list.text + list.length, false};
    while (to->len < MOST_RANKS && ovl_scan_value_next(&c, &value) == OVL_SCAN_DONE) {
        if (ovl_scan_integer(&value, 0, &rank) && rank >= 0) {
            ovl_vec_push(to, rank);
        }
    }
}

static const char *text_of(const ovl_scan_value *value, ovl_arena *arena)
{
    char buffer[256];
    return ovl_arena_strdup(arena, ovl_scan_unescape(value->slice, buffer, sizeof buffer));
}

static ovl_read_group group_of(ovl_slice object, ovl_arena *arena)
{
    ovl_cursor c = {object.text + 1, object.text + object.length, false};
    ovl_slice key;
    ovl_scan_value value;
    ovl_read_group group = {.name = "", .description = "", .size = -1};
    numbers ranks = {0};
    while (ovl_scan_member(&c, &key, &value) == OVL_SCAN_DONE) {
        if (ovl_slice_is(key, "pg_name")) {
            group.name = text_of(&value, arena);
        } else if (ovl_slice_is(key, "pg_desc")) {
            group.description = text_of(&value, arena);
        } else if (ovl_slice_is(key, "pg_size")) {
            ovl_scan_integer(&value, 0, &group.size);
        } else if (ovl_slice_is(key, "ranks")) {
            ranks.len = 0;
            read_ranks(value.slice, &ranks);
        }
    }
    group.size = group.size < 1 ? (ranks.len ? (int64_t)ranks.len : -1) : group.size;
    group.n_ranks = ranks.len;
    group.ranks = ovl_vec_freeze(&ranks, arena);
    return group;
}

void ovl_kineto_groups(const ovl_scan_value *list, ovl_read_about *about)
{
    OVL_VEC(ovl_read_group) groups = {0};
    ovl_scan_value value;
    if (!about->arena || list->kind != OVL_SCAN_ARRAY) {
        return;
    }
    ovl_cursor c = {list->slice.text + 1, list->slice.text + list->slice.length, false};
    while (groups.len < MOST_GROUPS && ovl_scan_value_next(&c, &value) == OVL_SCAN_DONE) {
        if (value.kind == OVL_SCAN_OBJECT) {
            ovl_read_group group = group_of(value.slice, about->arena);
            ovl_vec_push(&groups, group);
        }
    }
    about->n_groups = groups.len;
    about->groups = ovl_vec_freeze(&groups, about->arena);
}

int64_t ovl_read_group_size(const ovl_read_about *about, const char *name, size_t length)
{
    for (uint32_t i = 0; i < about->n_groups; i++) {
        const char *is = about->groups[i].name;
        if (length && strlen(is) == length && memcmp(is, name, length) == 0) {
            return about->groups[i].size;
        }
    }
    return -1;
}
