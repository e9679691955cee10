#include "sim/build.h"

void ovl_builder_init(ovl_builder *b, ovl_arena *arena)
{
    *b = (ovl_builder){.arena = arena, .n_ports = 1};
    b->names = OVL_NEW(arena, ovl_names);
    *b->names = (ovl_names){.arena = arena, .made = true};
    ovl_costs_init(b);
}

void ovl_builder_free(ovl_builder *b)
{
    for (uint32_t i = 0; i < b->codes.len; i++) {
        struct ovl_code_build *c = b->codes.data[i];
        ovl_vec_free(&c->which);
        ovl_vec_free(&c->name);
        ovl_vec_free(&c->microbatch);
        ovl_vec_free(&c->streams);
        ovl_vec_free(&c->buffers);
        ovl_vec_free(&c->after);
        ovl_vec_free(&c->after_of);
        ovl_vec_free(&c->access);
        ovl_vec_free(&c->access_at);
        ovl_vec_free(&c->effect);
        ovl_vec_free(&c->effect_at);
    }
    ovl_vec_free(&b->codes);
    ovl_vec_free(&b->distinct);
    ovl_stored_forget(&b->stored_ops);
    ovl_tying_free(&b->tying);
    ovl_vec_free(&b->ranks);
    ovl_vec_free(&b->gpus);
    ovl_vec_free(&b->comms);
    ovl_vec_free(&b->members);
    ovl_vec_free(&b->rank_comms);
    ovl_vec_free(&b->rank_ports);
    ovl_vec_free(&b->resources);
    ovl_vec_free(&b->changes);
    ovl_vec_free(&b->sizes);
    ovl_costs_free(b);
    ovl_vec_free(&b->kernel_classes);
    ovl_vec_free(&b->coll_classes);
    ovl_vec_free(&b->pairs);
}

ovl_id ovl_name(ovl_builder *b, const char *text)
{
    return ovl_names_add(b->names, text);
}

ovl_id ovl_add_resource(ovl_builder *b, const ovl_resource *resource)
{
    ovl_vec_push(&b->resources, *resource);
    return b->resources.len - 1;
}

/* Kept by time; of one time in order of the calls. */
void ovl_change_capacity(ovl_builder *b, ovl_id resource, ovl_time time, uint64_t capacity)
{
    assert(resource < b->resources.len && time >= 0 && capacity > 0);
    ovl_vec_push(&b->changes, (ovl_capacity_change){0});
    uint32_t at = b->changes.len - 1;
    for (; at > 0 && b->changes.data[at - 1].time > time; at--) {
        b->changes.data[at] = b->changes.data[at - 1];
    }
    b->changes.data[at] = (ovl_capacity_change){time, resource, capacity};
}

ovl_id ovl_add_code(ovl_builder *b)
{
    ovl_vec_push(&b->codes, OVL_NEW(b->arena, struct ovl_code_build));
    return b->codes.len - 1;
}

uint16_t ovl_add_stream(ovl_builder *b, ovl_id code, const char *name)
{
    struct ovl_code_build *c = b->codes.data[code];
    ovl_id id = ovl_name(b, name);
    for (uint32_t i = 0; i < c->streams.len; i++) {
        if (c->streams.data[i] == id) {
            return (uint16_t)i;
        }
    }
    assert(c->streams.len < OVL_NO_STREAM);
    ovl_vec_push(&c->streams, id);
    return (uint16_t)(c->streams.len - 1);
}

uint16_t ovl_add_slot(ovl_builder *b, ovl_id code)
{
    struct ovl_code_build *c = b->codes.data[code];
    assert(c->n_slots < OVL_NO_COMM);
    return (uint16_t)c->n_slots++;
}

uint32_t ovl_add_sizes(ovl_builder *b, const uint64_t *bytes, uint32_t n)
{
    uint32_t first = b->sizes.len;
    for (uint32_t i = 0; i < n; i++) {
        ovl_vec_push(&b->sizes, bytes[i]);
    }
    return first + 1;
}

ovl_id ovl_add_buffer(ovl_builder *b, ovl_id code, const ovl_buffer *buffer)
{
    struct ovl_code_build *c = b->codes.data[code];
    ovl_buffer added = *buffer;
    added.alloc = c->which.len;
    added.freed = OVL_NONE;
    ovl_vec_push(&c->buffers, added);
    return c->buffers.len - 1;
}

void ovl_free_buffer(ovl_builder *b, ovl_id code, ovl_id buffer)
{
    struct ovl_code_build *c = b->codes.data[code];
    assert(buffer < c->buffers.len && c->buffers.data[buffer].freed == OVL_NONE);
    c->buffers.data[buffer].freed = c->which.len;
}

/* Until something is in a list of a code, nothing is said of where its parts begin. */
#define NEXT_LIST(c, list)                                                                         \
    do {                                                                                           \
        if ((c)->list.len) {                                                                       \
            ovl_vec_push(&(c)->list##_at, (c)->list.len);                                          \
        }                                                                                          \
    } while (0)
#define ADD_TO_LIST(c, list, ...)                                                                  \
    do {                                                                                           \
        while ((c)->list##_at.len < (c)->which.len) {                                              \
            ovl_vec_push(&(c)->list##_at, 0);                                                      \
        }                                                                                          \
        ovl_vec_push(&(c)->list, __VA_ARGS__);                                                     \
    } while (0)

static bool same_ops(const void *owner, uint32_t x, uint32_t y, uint32_t n)
{
    const ovl_builder *b = owner;
    (void)n;
    return ovl_same_op(&b->distinct.data[x], &b->distinct.data[y]);
}

static uint64_t hash_op(const ovl_op *op)
{
    uint64_t words[sizeof *op / sizeof(uint64_t)], hash = 0;
    memcpy(words, op, sizeof words);
    for (size_t i = 0; i < OVL_COUNT(words); i++) {
        hash = ovl_stored_mix(hash, words[i]);
    }
    return hash;
}

static uint32_t store_op(ovl_builder *b, const ovl_op *op)
{
    uint32_t last = b->distinct.len;
    ovl_vec_push(&b->distinct, *op);
    uint32_t at = ovl_stored_once(b, &b->stored_ops, hash_op(op), last, 1, same_ops);
    b->distinct.len = at < last ? last : b->distinct.len;
    return at;
}

void ovl_store_after(ovl_builder *b, struct ovl_code_build *c)
{
    if (c->after.len) {
        while (c->after_of.len + 1 < c->which.len) {
            ovl_vec_push(&c->after_of, 0);
        }
        ovl_vec_push(&c->after_of, ovl_tie_list(&b->tying, c->after.data, c->after.len));
        c->after.len = 0;
    }
}

uint32_t ovl_add_op(ovl_builder *b, ovl_id code, const ovl_op *op)
{
    struct ovl_code_build *c = b->codes.data[code];
    ovl_op stored = *op;
    assert(op->batch == OVL_NONE || op->batch < c->which.len);
    stored.behind = op->batch == OVL_NONE ? 0 : c->which.len - op->batch;
    stored.name = stored.batch = OVL_NONE;
    ovl_store_after(b, c);
    ovl_vec_push(&c->which, store_op(b, &stored));
    ovl_vec_push(&c->name, op->name);
    NEXT_LIST(c, access);
    NEXT_LIST(c, effect);
    return c->which.len - 1;
}

void ovl_set_microbatch(ovl_builder *b, ovl_id code, uint32_t microbatch)
{
    struct ovl_code_build *c = b->codes.data[code];
    assert(c->which.len > 0 && c->microbatch.len < c->which.len);
    while (microbatch && c->microbatch.len + 1 < c->which.len) {
        ovl_vec_push(&c->microbatch, 0);
    }
    if (microbatch) {
        ovl_vec_push(&c->microbatch, microbatch);
    }
}

void ovl_add_after(ovl_builder *b, ovl_id code, uint32_t before)
{
    struct ovl_code_build *c = b->codes.data[code];
    assert(c->which.len > 0 && before < c->which.len - 1);
    ovl_vec_push(&c->after, before - (c->which.len - 1));
}

void ovl_add_access(ovl_builder *b, ovl_id code, ovl_id buffer, bool write)
{
    struct ovl_code_build *c = b->codes.data[code];
    assert(c->which.len > 0 && buffer < c->buffers.len);
    ADD_TO_LIST(c, access, (ovl_access){buffer, write});
}

void ovl_add_effect(ovl_builder *b, ovl_id code, const ovl_effect *effect)
{
    struct ovl_code_build *c = b->codes.data[code];
    assert(c->which.len > 0 && effect->buffer < c->buffers.len);
    ADD_TO_LIST(c, effect, *effect);
}

ovl_id ovl_add_comm(ovl_builder *b, ovl_id name, const uint32_t *ranks, uint32_t n)
{
    ovl_vec_push(
        &b->comms,
        (ovl_comm){.name = name, .first_member = b->members.len, .n_members = n, .size = n});
    for (uint32_t i = 0; i < n; i++) {
        ovl_vec_push(&b->members, ranks[i]);
    }
    return b->comms.len - 1;
}

void ovl_set_gpu(ovl_builder *b, uint32_t gpu)
{
    assert(gpu < b->gpus.len && b->ranks.len > 0);
    b->ranks.data[b->ranks.len - 1].gpu = gpu;
}

ovl_id ovl_add_rank(ovl_builder *b, ovl_id code, uint32_t variant, const ovl_id *comms,
                    const ovl_id *ports)
{
    assert(code < b->codes.len);
    ovl_vec_push(&b->ranks, (ovl_rank){.code = code,
                                       .variant = variant,
                                       .first_comm = b->rank_comms.len,
                                       .first_place = b->rank_comms.len,
                                       .first_port = b->rank_ports.len});
    for (uint32_t i = 0; i < b->codes.data[code]->n_slots; i++) {
        for (uint32_t k = 0; k < i; k++) {
            assert(comms[k] != comms[i]);
        }
        ovl_vec_push(&b->rank_comms, comms[i]);
    }
    for (uint32_t i = 0; i < b->n_ports; i++) {
        ovl_vec_push(&b->rank_ports, ports[i]);
    }
    return b->ranks.len - 1;
}
