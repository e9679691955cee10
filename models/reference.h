/*
 * reference.h - the reference page of the scenario format, written by the tables that parse it.
 *
 * One section for each table: its title, what it is (with an example), and its keys with their
 * type, whether they are required or what they default to, and what they mean. Markdown.
 *
 *     ## hardware.host
 *     The host thread of a rank ...
 *     | key | type | default | meaning |
 *     |---|---|---|---|
 *     | `launch` | duration | 0 | Host time to issue one operation. |
 *
 * By the convention of the tables a field's text ends with its default: "... Default 25 MiB." That
 * sentence becomes the column.
 */
#ifndef OVL_MODELS_REFERENCE_H
#define OVL_MODELS_REFERENCE_H

#include "models/fields.h"

/* The page of these tables, in their order; the text is owned by `arena`. */
const char *ovl_reference_page(const ovl_table *const *tables, uint32_t n_tables, ovl_arena *arena);

#endif
