#include "models/exchange.h"
#include "models/wires.h"

static double factor(const double *of, uint32_t rank)
{
    return of ? of[rank] : 1;
}

double ovl_exchange_bytes(const ovl_exchange *x, uint32_t i, uint32_t j)
{
    if (x->pairs) {
        return x->bytes * x->pairs[(size_t)i * x->n + j];
    }
    return x->bytes * factor(x->sends, x->rank[i]) * factor(x->receives, x->rank[j]) / x->received;
}

/* Where a member is, as a link and as rails see it. */
typedef struct place {
    uint32_t part, rail, instance; /* of the link */
    uint32_t node, cell;           /* of rails: where its node and its rail meet */
    uint32_t next;                 /* member of the same cell, plus 1 */
} place;

typedef struct crossing {
    const ovl_exchange *x;
    const ovl_shape *shape;
    const place *at; /* [n] */
    ovl_uneven_way instance;
    const uint32_t *first; /* by cell: a member in it, plus 1 */
} crossing;

static void fill(const ovl_exchange *x, const ovl_shape *s, place *at, uint32_t *first)
{
    for (uint32_t i = 0; i < x->n; i++) {
        uint32_t rank = x->rank[i];
        at[i] = (place){.part = ovl_shape_block(s, rank), .instance = ovl_shape_instance(s, rank)};
        at[i].rail = s->off_rails ? ovl_rail_of(&s->rails, rank) : 0;
        if (x->pxn) {
            at[i].node = ovl_rail_node(x->pxn, rank);
            at[i].cell = ovl_rail_cell(x->pxn, rank);
            at[i].next = first[at[i].cell];
            first[at[i].cell] = i + 1;
        }
    }
}

static void add(const crossing *c, uint32_t i, uint32_t j, double bytes)
{
    const place *a = &c->at[i], *b = &c->at[j];
    if (c->shape->wire) {
        bool ends = ovl_wire_end(c->shape->wire, c->x->rank[i]) == c->x->rank[j];
        c->instance.out[a->instance] += ends ? bytes : 0;
        return;
    }
    bool near = a->part == b->part || (c->shape->off_rails && a->rail == b->rail);
    if (!near) {
        c->instance.out[a->instance] += bytes;
        c->instance.in[b->instance] += bytes;
    }
}

/* The first of the members that i's bytes for j go by, plus 1; 0: none does. */
static uint32_t between(const crossing *c, uint32_t i, uint32_t j)
{
    const place *a = &c->at[i], *b = &c->at[j];
    const ovl_rails *rails = c->x->pxn;
    if (!rails || a->node == b->node) {
        return 0;
    }
    uint32_t cell = a->node * rails->places + b->cell % rails->places;
    return cell == a->cell ? 0 : c->first[cell];
}

static void cross(const crossing *c, uint32_t i, uint32_t j, double bytes)
{
    uint32_t first = between(c, i, j), n = 0;
    for (uint32_t e = first; e; e = c->at[e - 1].next) {
        n++;
    }
    for (uint32_t e = first; e; e = c->at[e - 1].next) {
        add(c, i, e - 1, bytes / n);
        add(c, e - 1, j, bytes / n);
    }
    if (n == 0) {
        add(c, i, j, bytes);
    }
}

void ovl_exchange_cross(const ovl_exchange *x, const ovl_shape *shape, ovl_uneven_way instance,
                        uint32_t *first)
{
    ovl_arena scratch = {0};
    place *at = OVL_NEW_ARRAY(&scratch, place, x->n);
    const crossing c = {x, shape, at, instance, first};
    fill(x, shape, at, first);
    for (uint32_t i = 0; i < x->n; i++) {
        for (uint32_t j = 0; j < x->n; j++) {
            if (i != j) {
                cross(&c, i, j, ovl_exchange_bytes(x, i, j));
            }
        }
    }
    for (uint32_t i = 0; i < x->n && x->pxn; i++) {
        first[at[i].cell] = 0;
    }
    ovl_arena_free(&scratch);
}
