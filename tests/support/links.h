/*
 * links.h - what links carried in a run, held against figures worked out by hand.
 *
 * Example: check_link(r, "nic", "out", 600, 2400): of all "nic.out" the busiest sent 600 MB, and
 * they sent 2,400 MB together.
 */
#ifndef OVL_TESTS_LINKS_H
#define OVL_TESTS_LINKS_H

#include "sim/result.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

/* The line of a link in one direction, "out" or "in"; NULL: nothing crossed it. */
static inline const ovl_result_resource *link_of(const ovl_result *r, const char *link,
                                                 const char *way)
{
    char name[32];
    snprintf(name, sizeof name, "%s.%s", link, way);
    for (uint32_t i = 0; i < r->n_resources; i++) {
        if (strcmp(r->resources[i].name, name) == 0) {
            return &r->resources[i];
        }
    }
    return NULL;
}

/* The busiest instance and all of them, in MB; of rates that are rounded down to bytes a second. */
static inline void check_link(const ovl_result *r, const char *link, const char *way, double most,
                              double all)
{
    const ovl_result_resource *at = link_of(r, link, way);
    CHECK_NEAR(at ? (double)at->bytes / 1e6 : 0, most, 1e-3);
    CHECK_NEAR(at ? (double)at->total / 1e6 : 0, all, 1e-3);
}

#endif
