#include "models/plan_ops.h"

/* --- Which buffers an operation mentions --- */

static void mention(ovl_ops *o, const char *text, ovl_mark mark, bool read, bool write)
{
    ovl_vec_push(&o->mentions, (ovl_mention){text, mark, read, write});
}

static void mention_all(ovl_ops *o, const ovl_texts *texts, ovl_mark mark, bool read, bool write)
{
    for (uint32_t i = 0; i < texts->count; i++) {
        mention(o, texts->item[i], ovl_ops_mark(texts, i, mark), read, write);
    }
}

static void list_mentions(ovl_ops *o, const ovl_entry *entry)
{
    const ovl_xop *op = entry->op;
    o->mentions.len = 0;
    mention_all(o, &op->reads, op->mark, true, false);
    mention_all(o, &op->writes, op->mark, false, true);
    if (op->buffer) {
        mention(o, op->buffer, op->mark, true, true);
    }
    mention_all(o, &op->resets, op->mark, false, true);
    if (op->has_produces && op->produces.into) {
        mention(o, op->produces.into, op->produces.mark, op->produces.add, true);
    }
    if (op->has_packs) {
        mention_all(o, &op->packs.from, op->packs.mark, true, false);
        if (op->packs.into) {
            mention(o, op->packs.into, op->packs.mark, false, true);
        }
    }
    mention_all(o, &op->consumes, op->mark, true, false);
}

static bool tell(ovl_ops *o)
{
    return ovl_ops_may_report(o);
}

/* The buffer of workload.buffers that a text names; OVL_NONE and an error if there is none. */
static uint32_t find_buffer(ovl_ops *o, const char *text, uint32_t binding, ovl_mark mark)
{
    const char *name = ovl_ops_text(o, text, binding, mark);
    ovl_id id = ovl_names_find(&o->buffer_names, name);
    if (id == OVL_NONE && *name && tell(o)) {
        const char *near = ovl_nearest(name, o->buffer_names.text, o->buffer_names.count);
        ovl_error(o->l->errs, OVL_E_INPUT, mark, "there is no buffer \"%s\"%s%s%s", name,
                  near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    return id;
}

/* --- Declaring --- */

static bool fresh(const ovl_ops *o, const ovl_buffer_use *use)
{
    return use->code != o->code + 1;
}

/* First sight of a buffer in the code: its pool is that of its own stream, or of this operation. */
static void meet(ovl_ops *o, uint32_t at, uint16_t stream)
{
    ovl_buffer_use *use = &o->uses[at];
    const ovl_xbuffer *buffer = &o->workload->buffers[at];
    if (fresh(o, use)) {
        *use = (ovl_buffer_use){.code = o->code + 1, .id = OVL_NONE, .stream = OVL_NO_STREAM};
        if (buffer->stream) {
            use->stream = ovl_add_stream(o->l->b, o->code, buffer->stream);
        }
        ovl_vec_push(&o->met, at);
    }
    if (use->stream == OVL_NO_STREAM) {
        use->stream = stream;
    }
}

static void meet_texts(ovl_ops *o, const ovl_texts *texts, ovl_mark mark, uint32_t binding)
{
    for (uint32_t i = 0; i < texts->count; i++) {
        uint32_t at = find_buffer(o, texts->item[i], binding, ovl_ops_mark(texts, i, mark));
        if (at != OVL_NONE) {
            meet(o, at, OVL_NO_STREAM);
        }
    }
}

static void meet_mentions(ovl_ops *o, const ovl_entry *entry, uint32_t binding, uint16_t stream)
{
    list_mentions(o, entry);
    for (uint32_t i = 0; i < o->mentions.len; i++) {
        ovl_mention m = o->mentions.data[i];
        uint32_t at = find_buffer(o, m.text, binding, m.mark);
        if (at != OVL_NONE) {
            meet(o, at, stream);
        }
    }
}

void ovl_ops_find_buffers(ovl_ops *o, const ovl_instance *instance, uint16_t stream)
{
    const ovl_entry *entry = &o->entries.data[instance->entry];
    if (entry->kind == OVL_ENTRY_MEMORY) {
        meet_texts(o, &entry->op->alloc, entry->op->mark, instance->binding);
        meet_texts(o, &entry->op->free, entry->op->mark, instance->binding);
        return;
    }
    meet_mentions(o, entry, instance->binding, stream);
    for (uint32_t i = 0; entry->kind == OVL_BATCH && i < entry->op->ops.count; i++) {
        meet_mentions(o, &o->entries.data[entry->body + i], instance->binding, stream);
    }
}

static void declare(ovl_ops *o, uint32_t at)
{
    const ovl_xbuffer *buffer = &o->workload->buffers[at];
    ovl_buffer_use *use = &o->uses[at];
    if (use->stream == OVL_NO_STREAM) { /* no operation on a stream uses it */
        use->stream = ovl_add_stream(o->l->b, o->code, "compute");
    }
    use->freed = false;
    ovl_buffer added = {.name = ovl_name(o->l->b, buffer->name),
                        .category = (uint8_t)buffer->category,
                        .dtype = (uint8_t)buffer->dtype,
                        .stream = use->stream,
                        .held = buffer->held,
                        .record_stream = buffer->record_stream,
                        .mark = buffer->mark};
    ovl_plan_size(o->l, buffer->name, buffer->bytes, &added);
    use->id = ovl_add_buffer(o->l->b, o->code, &added);
}

void ovl_ops_declare_buffers(ovl_ops *o)
{
    for (uint32_t i = 0; i < o->met.len; i++) {
        if (!o->workload->buffers[o->met.data[i]].late) {
            declare(o, o->met.data[i]);
        }
    }
}

/* --- alloc and free --- */

static void alloc(ovl_ops *o, uint32_t at, ovl_mark mark)
{
    const ovl_xbuffer *buffer = &o->workload->buffers[at];
    if (o->uses[at].id == OVL_NONE) {
        declare(o, at);
    } else if (tell(o)) {
        ovl_error(o->l->errs, OVL_E_INPUT, mark, "\"%s\" is already allocated here%s", buffer->name,
                  buffer->late ? ""
                               : ", since it is at the start unless the buffer says late: true");
    }
}

static void release(ovl_ops *o, uint32_t at, ovl_mark mark)
{
    ovl_buffer_use *use = &o->uses[at];
    if (use->id == OVL_NONE) {
        if (tell(o)) {
            ovl_error(o->l->errs, OVL_E_INPUT, mark, "\"%s\" is not allocated here%s",
                      o->workload->buffers[at].name, use->freed ? ": it was freed before" : "");
        }
        return;
    }
    ovl_free_buffer(o->l->b, o->code, use->id);
    use->id = OVL_NONE;
    use->freed = true;
}

void ovl_ops_memory(ovl_ops *o, const ovl_entry *entry, uint32_t binding)
{
    const ovl_texts *lists[] = {&entry->op->free, &entry->op->alloc};
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < lists[k]->count; i++) {
            ovl_mark mark = ovl_ops_mark(lists[k], i, entry->op->mark);
            uint32_t at = find_buffer(o, lists[k]->item[i], binding, mark);
            if (at == OVL_NONE) {
                continue;
            }
            if (k == 0) {
                release(o, at, mark);
            } else {
                alloc(o, at, mark);
            }
        }
    }
}

/* --- Accesses and effects --- */

/* The buffer of the code that a text names now; OVL_NONE and an error if it is not allocated. */
static ovl_id live_buffer(ovl_ops *o, const char *text, uint32_t binding, ovl_mark mark)
{
    uint32_t at = find_buffer(o, text, binding, mark);
    if (at == OVL_NONE) {
        return OVL_NONE;
    }
    const ovl_buffer_use *use = &o->uses[at];
    if (use->id == OVL_NONE && tell(o)) {
        ovl_error(o->l->errs, OVL_E_INPUT, mark, "buffer \"%s\" is used %s",
                  o->workload->buffers[at].name,
                  use->freed ? "after it was freed" : "before an alloc entry allocates it");
    }
    return use->id;
}

static void add_effect(ovl_ops *o, ovl_effect effect)
{
    bool sourced = effect.kind == OVL_PACK || effect.kind == OVL_SUM;
    if (effect.buffer != OVL_NONE && (!sourced || effect.source != OVL_NONE)) {
        ovl_add_effect(o->l->b, o->code, &effect);
    }
}

static void add_resets(ovl_ops *o, const ovl_xop *op, uint32_t binding)
{
    for (uint32_t i = 0; i < op->resets.count; i++) {
        ovl_mark mark = ovl_ops_mark(&op->resets, i, op->mark);
        add_effect(o, (ovl_effect){.kind = OVL_RESET,
                                   .buffer = live_buffer(o, op->resets.item[i], binding, mark),
                                   .source = OVL_NONE,
                                   .gradient = OVL_NONE});
    }
}

static void add_produces(ovl_ops *o, const ovl_xop *op, uint32_t binding)
{
    const ovl_xproduce *p = &op->produces;
    if (!op->has_produces || !p->into) {
        return;
    }
    ovl_id buffer = live_buffer(o, p->into, binding, p->mark);
    for (uint32_t i = 0; i < p->gradients.count; i++) {
        ovl_mark mark = ovl_ops_mark(&p->gradients, i, p->mark);
        const char *name = ovl_ops_text(o, p->gradients.item[i], binding, mark);
        add_effect(o, (ovl_effect){.kind = (uint8_t)(p->add ? OVL_ADD : OVL_PRODUCE),
                                   .buffer = buffer,
                                   .source = OVL_NONE,
                                   .gradient = ovl_name(o->l->b, name),
                                   .microbatch = (uint32_t)p->microbatch,
                                   .scale = p->scale});
    }
}

static void add_packs(ovl_ops *o, const ovl_xop *op, uint32_t binding)
{
    const ovl_xpack *p = &op->packs;
    if (!op->has_packs || !p->into) {
        return;
    }
    ovl_id into = live_buffer(o, p->into, binding, p->mark);
    for (uint32_t i = 0; i < p->from.count; i++) {
        ovl_mark mark = ovl_ops_mark(&p->from, i, p->mark);
        add_effect(o, (ovl_effect){.kind = OVL_PACK,
                                   .buffer = into,
                                   .source = live_buffer(o, p->from.item[i], binding, mark),
                                   .gradient = OVL_NONE,
                                   .scale = p->scale});
    }
}

static bool sums(int coll)
{
    return coll == OVL_ALL_REDUCE || coll == OVL_REDUCE_SCATTER || coll == OVL_REDUCE;
}

/* A reduction sums what it reads into what it writes, list item by list item; an all-gather carries
 * what it reads to where it writes. */
static void add_transfer(ovl_ops *o, const ovl_entry *entry, uint32_t binding)
{
    const ovl_xop *op = entry->op;
    if (entry->kind != OVL_COLLECTIVE || !(sums(op->op) || op->op == OVL_ALL_GATHER)) {
        return;
    }
    ovl_effect effect = {
        .kind = sums(op->op) ? OVL_SUM : OVL_PACK, .gradient = OVL_NONE, .scale = 1};
    if (op->buffer) {
        effect.buffer = effect.source = live_buffer(o, op->buffer, binding, op->mark);
        if (effect.kind == OVL_SUM) {
            add_effect(o, effect);
        }
        return;
    }
    if (op->reads.count != op->writes.count) {
        if (sums(op->op) && tell(o)) {
            ovl_error(o->l->errs, OVL_E_INPUT, op->mark,
                      "\"%s\" reads %" PRIu32 " buffers and writes %" PRIu32
                      "; a reduction sums each one it reads into one it writes",
                      entry->name, op->reads.count, op->writes.count);
        }
        return;
    }
    for (uint32_t i = 0; i < op->reads.count; i++) {
        effect.source =
            live_buffer(o, op->reads.item[i], binding, ovl_ops_mark(&op->reads, i, op->mark));
        effect.buffer =
            live_buffer(o, op->writes.item[i], binding, ovl_ops_mark(&op->writes, i, op->mark));
        add_effect(o, effect);
    }
}

static void add_consumes(ovl_ops *o, const ovl_xop *op, uint32_t binding)
{
    for (uint32_t i = 0; i < op->consumes.count; i++) {
        ovl_mark mark = ovl_ops_mark(&op->consumes, i, op->mark);
        add_effect(o, (ovl_effect){.kind = OVL_CONSUME,
                                   .buffer = live_buffer(o, op->consumes.item[i], binding, mark),
                                   .source = OVL_NONE,
                                   .gradient = OVL_NONE});
    }
}

void ovl_ops_access(ovl_ops *o, const ovl_entry *entry, uint32_t binding)
{
    list_mentions(o, entry);
    for (uint32_t i = 0; i < o->mentions.len; i++) {
        ovl_mention m = o->mentions.data[i];
        ovl_id buffer = live_buffer(o, m.text, binding, m.mark);
        if (buffer == OVL_NONE) {
            continue;
        }
        if (m.read) {
            ovl_add_access(o->l->b, o->code, buffer, false);
        }
        if (m.write) {
            ovl_add_access(o->l->b, o->code, buffer, true);
        }
    }
    add_resets(o, entry->op, binding);
    add_produces(o, entry->op, binding);
    add_packs(o, entry->op, binding);
    add_transfer(o, entry, binding);
    add_consumes(o, entry->op, binding);
}
