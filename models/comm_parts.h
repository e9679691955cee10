/*
 * comm_parts.h - what the files share that make costs of what crosses links.
 *
 *     comm_cost.c      collectives, sends and receives
 *     comm_demands.c   what they demand of links and HBM
 *     copy_cost.c      copies between device and host
 */
#ifndef OVL_MODELS_COMM_PARTS_H
#define OVL_MODELS_COMM_PARTS_H

#include "models/draft.h"

/* A communication with the hardware's entry for it (NULL if it has none). */
typedef struct ovl_comm_draft {
    const ovl_comm_spec *spec;
    const ovl_hw_collective *entry;
    const ovl_texts *via;
    ovl_spread spread;
    int algorithm; /* ovl_algorithm: of the formula that makes its time, else NONE */
    double hbm_factor;
    bool has_hbm_factor;
    bool has_sms; /* stated, 0 included: copy engines */
    int64_t sms;
} ovl_comm_draft;

/* A collective wants each of its links twice, and HBM. */
#define OVL_COMM_VIA ((OVL_DRAFT_DEMANDS - 1) / 2)

/* Whether it goes via no more links than that, else an error; whether a link stands before `at`. */
bool ovl_comm_check_via(ovl_lowering *l, const ovl_comm_draft *c);
bool ovl_comm_listed_before(const ovl_texts *via, uint32_t at);

/* Port of a link's outward direction, 0 and an error if there is no such link. */
uint16_t ovl_comm_port(ovl_lowering *l, const ovl_comm_spec *spec, const char *name);

/* Bytes/s, at most what can be counted. */
uint64_t ovl_comm_rate(double rate);

/* Fills in the times of a draft, its phases, and what each demands; the rest of its kind is there.
 */
bool ovl_comm_demands(ovl_lowering *l, const ovl_comm_draft *c, const ovl_comm_time *time,
                      ovl_draft *d);

/* Adds the demands on links; `out` and `in` are the lists that get each direction (NULL: none). */
bool ovl_comm_links(ovl_lowering *l, const ovl_comm_draft *c, ovl_time transfer, ovl_demand *out,
                    uint8_t *n_out, ovl_demand *in, uint8_t *n_in, uint64_t *principal,
                    bool *by_member);

/* Bytes/s of HBM: at most what every member has; hbm_factor times those on the wire. */
uint64_t ovl_comm_clamp_hbm(ovl_lowering *l, const ovl_comm_draft *c, uint64_t rate);
uint64_t ovl_comm_hbm(ovl_lowering *l, const ovl_comm_draft *c, uint64_t wire);

#endif
