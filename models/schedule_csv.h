/*
 * schedule_csv.h - PyTorch's text form of a schedule: one row for each rank, one cell an action.
 *
 *     0F0,0F1,,0B0,,0B1
 *     ,1F0,1B0,1F1,1B1,
 *
 * A cell is a stage, a type, a microbatch ("0SEND_F1", "2UNSHARD"), or an overlapped pair
 * ("(0F2;3B1)OVERLAP_F_B"), or blank. Text after a whole action is let be, as PyTorch's reader
 * does. There are two dialects. In the old one B is the backward of the inputs and BW the full one;
 * in the new one these are I and B. A file is old if it has a BW, or a W but no I.
 *
 * (pytorch torch/distributed/pipelining/schedules.py, _Action.from_str, _dump_csv)
 */
#ifndef OVL_MODELS_SCHEDULE_CSV_H
#define OVL_MODELS_SCHEDULE_CSV_H

#include "models/schedule.h"

typedef enum ovl_csv_dialect { OVL_CSV_NEW, OVL_CSV_OLD } ovl_csv_dialect;

/* Reads a schedule, a row for each rank; blank cells become OVL_ACT_NONE. Stages and microbatches
 * are as many as the highest number asks for; the rank of a stage is that of its first action. All
 * mistakes are added, each at its row's mark and its column from there on; false if any: then what
 * could be read is in `schedule`. A blank line is a rank without
 * actions, as for PyTorch's reader, which ovl_schedule_check refuses. `dialect` may be NULL. */
bool ovl_schedule_read_rows(const char *const *rows, const ovl_mark *marks, uint32_t n,
                            ovl_schedule *schedule, ovl_csv_dialect *dialect, ovl_arena *arena,
                            ovl_errs *errs);

/* The bytes of a byte order mark that a text begins with: 3, or 0. */
size_t ovl_csv_mark(const char *text);

/* The same from the text of a file, a line for each rank. Cells may be in quotes. */
bool ovl_schedule_read_csv(const char *file, const char *text, ovl_schedule *schedule,
                           ovl_csv_dialect *dialect, ovl_arena *arena, ovl_errs *errs);

/* The text of a schedule, a line for each rank; owned by `arena`. */
char *ovl_schedule_print_csv(const ovl_schedule *schedule, ovl_csv_dialect dialect,
                             ovl_arena *arena);

#endif
