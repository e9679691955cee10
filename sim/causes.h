/*
 * causes.h - why something happened when it did, worked out after the run from the program and its
 * timeline.
 *
 * Three things happen to an operation: it is issued, it arrives, it ends; to an eager send a
 * fourth, its bytes are there. Each is a *node*, written OVL_TRAIL(op, kind) as in the trail of a
 * timeline, and each happens at
 *
 *     time(node) = max over its causes of (time(cause) + length)
 *
 * where the lengths are those of this run. Going back over the causes that give the maximum (the
 * binding ones) yields the critical path; going back over all of them yields slack; asking whether
 * one node lies behind another yields what may race.
 *
 * Example: an all-reduce of 20 ms whose input ends at 5 ms on rank 0 and at 7 ms on rank 1: its end
 * at 27 has the causes "arrived on rank 0" (5 + 20) and "arrived on rank 1" (7 + 20, binding); its
 * arrival on rank 1 has the cause "the kernel before it ended" (7 + 0).
 *
 * Ties go by the order of ovl_why, then to the lowest operation; among the members of a collective
 * to the first place.
 */
#ifndef OVL_SIM_CAUSES_H
#define OVL_SIM_CAUSES_H

#include "sim/timeline.h"

typedef enum ovl_why {
    OVL_WHY_OWN,        /* it arrived; a part: its batch arrived; a batch: its parts ended */
    OVL_WHY_STREAM,     /* the operation before it on its stream ended */
    OVL_WHY_AFTER,      /* an operation it waits for ended */
    OVL_WHY_COMM,       /* the operation before it in its communicator ended */
    OVL_WHY_RENDEZVOUS, /* another member arrived */
    OVL_WHY_QUEUE,      /* the operation before it in its hardware queue arrived */
    OVL_WHY_ENGINE,     /* a copy ended and left it the copy engine */
    OVL_WHY_WIRE,       /* the bytes of an eager message are there */
    OVL_WHY_LINE,       /* the bytes before those of an eager message are: they wait in a line */
    OVL_WHY_HOST,       /* the host issued it; or issued what comes before it */
} ovl_why;

typedef struct ovl_cause {
    uint64_t node;
    ovl_time length;
    ovl_why why;
} ovl_cause;

typedef struct ovl_causes {
    const ovl_program *program;
    const ovl_timeline *timeline;
    const uint32_t *rank_of;      /* [n_ops] */
    const uint32_t *first_member; /* [n_collectives + 1] into member_ops */
    const uint32_t *member_ops;   /* the operations of each collective, by place */
    const uint32_t *copies;       /* operations, by (rank, engine, end, op) */
    uint32_t n_copies;
    OVL_VEC(ovl_cause) list; /* of the last ovl_causes_of */
} ovl_causes;

/* Prepares to ask about a run; tables live in `arena`. */
void ovl_causes_init(ovl_causes *c, const ovl_program *program, const ovl_timeline *timeline,
                     ovl_arena *arena);
void ovl_causes_free(ovl_causes *c);

/* When a node happened. */
ovl_time ovl_node_time(const ovl_causes *c, uint64_t node);

/* The description of an operation, its name, and its local index. */
const ovl_op *ovl_causes_op(const ovl_causes *c, uint32_t op);
ovl_id ovl_causes_name(const ovl_causes *c, uint32_t op);
uint32_t ovl_causes_local(const ovl_causes *c, uint32_t op);

/* Which collective (numbered over the whole program) an operation belongs to; its members are
 * member_ops[first_member[k]] .. member_ops[first_member[k + 1] - 1]. */
uint32_t ovl_causes_collective(const ovl_causes *c, uint32_t op);

/* Host time between being free and having issued it; a host call is itself host time. */
ovl_time ovl_causes_launch(const ovl_op *op);

/* When the bytes of an eager send left: it had arrived, and those before them were there. */
ovl_time ovl_wire_start(const ovl_program *program, const ovl_timeline *timeline, uint32_t send);

/* When an operation is through with its buffers: at its end, but an eager send, which is over for
 * its stream at once, when its bytes have arrived. */
ovl_time ovl_buffers_end(const ovl_program *program, const ovl_timeline *timeline, uint32_t op);

/* The operation that carries what held `op` back (timeline.h): of a collective that of the first
 * place, of a receive the send. */
uint32_t ovl_limits_carrier(const ovl_causes *c, uint32_t op);

/* The first limit of an operation, or where it would be. */
uint32_t ovl_limits_first(const ovl_timeline *timeline, uint32_t op);

/* What a limit is called: a resource, "SMs", "measured factor". */
const char *ovl_limit_name(const ovl_program *program, uint32_t bound, ovl_name_room *room);

/* Fills c->list with all causes of a node; none if it could happen at once. */
void ovl_causes_of(ovl_causes *c, uint64_t node);

/* A reason in words, `name` being the operation that is the cause: "stream: after x", "after: x",
 * "communicator: after x", "host"; in `arena`. */
const char *ovl_why_text(ovl_why why, const char *name, ovl_arena *arena);

/* That of a cause. */
const char *ovl_cause_text(const ovl_causes *c, const ovl_cause *cause, ovl_arena *arena);

/* The binding cause of a node; false if nothing held it back (it happened at 0). */
bool ovl_causes_binding(ovl_causes *c, uint64_t node, ovl_cause *binding);

#endif
