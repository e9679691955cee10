/*
 * two_point_report.h - `ovl calibrate --two-point`: compute and communication of a step from the
 * times of configurations that hold different amounts of each, with the equations.
 *
 *     ovl calibrate --two-point accumulation --at 1=22.2s --at 4=54.3s
 *     ->  X = (54.3 s - 22.2 s) / (4 - 1) = 10.7 s,  C = 22.2 s - 1 X = 11.5 s
 */
#ifndef OVL_TOOLS_TWO_POINT_REPORT_H
#define OVL_TOOLS_TWO_POINT_REPORT_H

#include "tools/command.h"

/* Reads the options, solves, and prints text or JSON (schema overlapsim.two_point/1). */
void ovl_two_point_command(const ovl_args *args, const ovl_shell *shell, ovl_arena *arena,
                           ovl_errs *errs);

#endif
