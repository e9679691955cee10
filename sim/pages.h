/*
 * pages.h - large pieces of memory, straight from the system.
 *
 * What is written once all over and read at random, as the times of a million operations, costs a
 * fault and a place in the processor's table of pages for every 4 KiB of it. Where the system has
 * pages of 2 MiB they are asked for, for the whole ones that lie in a piece: of 5 MiB two are
 * large, and the rest is small, so that no more memory is taken than is written. Where it has none
 * nothing is different but the time.
 *
 * A piece goes back to the system when it is given back: a program that makes one run after another
 * takes no more than the largest of them.
 */
#ifndef OVL_SIM_PAGES_H
#define OVL_SIM_PAGES_H

#include "sim/base.h"

#define OVL_PAGE_LARGE ((size_t)2 << 20)

/* Zeroed memory that is not touched yet and begins where a large page can; NULL if there is none.
 * For pieces of a large page and more: smaller ones are better taken from memory that was used
 * before. */
void *ovl_pages_take(size_t size);

/* Gives back what was taken, with the size that was asked for. */
void ovl_pages_give_back(void *pages, size_t size);

/* The large pages that lie in a piece of any memory are to be such when they are first written. */
void ovl_pages_enlarge(void *data, size_t size);

#endif
