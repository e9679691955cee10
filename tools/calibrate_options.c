/* The options of ovl calibrate. */
#include "tools/command.h"

static const char *const two_point_forms[] = {"accumulation", "overlap", NULL};

static const ovl_option calibrate_items[] = {
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .file = true,
     .doc =
         "write the hardware profile to FILE, replaced only once it is whole; the report goes to "
         "standard output"},
    {.name = "base",
     .value = "FILE",
     .file = true,
     .needs = "output",
     .doc = "the hardware profile that the new costs go into: GPU, links and the rest are kept, "
            "costs of the same operation and group are replaced"},
    {.name = "group",
     .value = "[NAME=]GROUP",
     .repeat = true,
     .doc = "the group the costs are for, as scenarios name it; NAME= takes only the process group "
            "of that name in the traces"},
    {.name = "via",
     .value = "[GROUP=]LINK",
     .repeat = true,
     .doc = "the links the costs load, with commas between several; GROUP= takes only the costs of "
            "that group"},
    {.name = "op",
     .value = "NAME",
     .doc = "the operation of files that name none, such as all_reduce"},
    {.name = "ranks", .value = "N", .doc = "how many ranks took part, of tables that do not tell"},
    {.name = "out-of-place",
     .doc = "take the out-of-place times where a table has in-place times too"},
    {.name = "comm-pattern",
     .value = "REGEX",
     .doc = "which kernels of traces are communication, as in ovl inspect"},
    {.name = "compute",
     .value = "FILE",
     .file = true,
     .repeat = true,
     .doc = "interference: the trace in which the kernels run alone; repeated: one a rank"},
    {.name = "comm",
     .value = "FILE",
     .file = true,
     .repeat = true,
     .doc = "interference: the trace in which the collectives run alone; repeated: one a rank"},
    {.name = "overlap",
     .value = "FILE",
     .file = true,
     .repeat = true,
     .doc = "interference: the trace in which the same kernels and collectives overlap; "
            "repeated: one a rank"},
    {.name = "class",
     .needs = "compute|comm|overlap",
     .value = "REGEX=CLASS",
     .repeat = true,
     .doc = "the class of kernels whose name matches; the first that fits counts, without any the "
            "name without its arguments"},
    {.name = "alpha",
     .needs = "compute|comm|overlap",
     .value = "TIME",
     .doc = "interference: latency at the begin of each collective, in which it slows nobody; "
            "without it 0"},
    {.name = "hbm",
     .needs = "compute|comm|overlap",
     .value = "RATE",
     .doc = "bandwidth of the GPU's memory, for hbm_factor; without it what the trace says"},
    {.name = "sms",
     .needs = "compute|comm|overlap",
     .value = "N",
     .doc = "SMs of the GPU, for the SMs a collective holds; without it what the trace says"},
    {.name = "wire",
     .needs = "compute|comm|overlap",
     .value = "RATE",
     .doc =
         "what the collective moves on the wire alone, for hbm_factor; without it from its bytes "
         "and members"},
    {.name = "two-point",
     .value = "accumulation|overlap",
     .choices = two_point_forms,
     .beside = "at json",
     .doc = "solve compute and communication of a step from --at: with so many micro-batches and "
            "communication once a step, or with such a share of the communication hidden"},
    {.name = "at",
     .needs = "two-point",
     .value = "AMOUNT=TIME",
     .repeat = true,
     .doc =
         "a measurement for --two-point: 4=54.3s of 4 micro-batches, 80.1%=544ms with that share "
         "hidden"},
    {.name = "json", .doc = "print the report as JSON"},
    {.name = "help", .letter = 'h', .doc = "print this help and stop"},
};

const ovl_option_table ovl_calibrate_options = {calibrate_items, OVL_COUNT(calibrate_items)};
