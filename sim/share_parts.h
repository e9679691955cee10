/*
 * share_parts.h - what the files of the sharing solver have in common. Private to them.
 */
#ifndef OVL_SIM_SHARE_PARTS_H
#define OVL_SIM_SHARE_PARTS_H

#include "sim/share.h"

/* A resource can only bound anybody if all together ask for more than it has. Integers: no rounding
 * luck. */
bool ovl_share_contended(const ovl_share_resource *r);

/* Those on a resource that is, or was until now, contended may get a new rate. */
void ovl_share_touch(ovl_share *share, uint32_t resource);

/* A member's solved rate; it is listed as changed if it differs. */
void ovl_share_publish(ovl_share *share, uint32_t slot, double rate, uint32_t bound);
uint32_t ovl_share_cap_bound(const ovl_share_member *m);

/* Sorts by key, or by the level at which the cap binds. */
void ovl_share_sort_users(ovl_share_user *list, uint32_t n);
void ovl_share_sort_order(struct ovl_share_filling *list, uint32_t n);

/* The level at which a resource is full, from who is settled and who is not. Summed in key order:
 * it rounds alike whatever was settled first and whoever arrived first. */
double ovl_share_level_of(const ovl_share *share, const ovl_share_resource *r);

/* Solves one resource as if everything else stayed; false if that changes somebody who is bounded
 * elsewhere. */
bool ovl_share_solve_resource(ovl_share *share, uint32_t resource);

/* Solves everybody reachable from a member through contended resources. */
void ovl_share_solve_component(ovl_share *share, uint32_t slot);

#endif
