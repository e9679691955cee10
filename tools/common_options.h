/*
 * common_options.h - options that several subcommands have, each written once, for the tables of
 * commands.c.
 *
 *     static const ovl_option show_items[] = {JSON, OUTPUT, HELP};
 */
#ifndef OVL_TOOLS_COMMON_OPTIONS_H
#define OVL_TOOLS_COMMON_OPTIONS_H

#include "tools/command.h"

#define HELP                                                                                       \
    {                                                                                              \
        .name = "help", .letter = 'h', .doc = "print this help and stop"                           \
    }
#define SET                                                                                        \
    {                                                                                              \
        .name = "set", .value = "PATH=VALUE", .repeat = true,                                      \
        .doc = "set one value of the scenario, after the variant: "                                \
               "overlap.ddp.bucket_cap=50MiB, workload.layers.block[3].backward=5ms; later ones "  \
               "win"                                                                               \
    }
#define INTERFERENCE                                                                               \
    {                                                                                              \
        .name = "interference", .value = "MODEL", .choices = interference_models,                  \
        .doc = "how operations that run at the same time slow each other down: none, shared or "   \
               "measured; short for --set interference=MODEL"                                      \
    }
#define EXPAND                                                                                     \
    {                                                                                              \
        .name = "expand", .value = "N",                                                            \
        .doc = "run collectives of up to N members as the transfers they are made of; short for "  \
               "--set expand=N"                                                                    \
    }
#define VARIANT                                                                                    \
    {                                                                                              \
        .name = "variant", .value = "NAME",                                                        \
        .doc = "the variant of the scenario, as in FILE:NAME; without it the base"                 \
    }
#define WORTH                                                                                      \
    {                                                                                              \
        .name = "worth", .value = "all|none|NAME", .without = "trials",                            \
        .doc =                                                                                     \
            "for which names the step is simulated once more as if all communication of that "     \
            "name were free, on every rank; by default for the most exposed names; all of them, "  \
            "where they are too many those that differ in numbers together"                        \
    }
#define NO_FOLD                                                                                    \
    {                                                                                              \
        .name = "no-fold",                                                                         \
        .doc = "simulate every rank, also those that do the same; the results are equal, this is " \
               "to compare"                                                                        \
    }
#define NO_SKIP                                                                                    \
    {                                                                                              \
        .name = "no-skip",                                                                         \
        .doc =                                                                                     \
            "simulate every period of a run that repeats itself (layers, microbatches, steps); "   \
            "the results are equal, this is to compare"                                            \
    }
#define JSON                                                                                       \
    {                                                                                              \
        .name = "json", .doc = "print JSON instead of text; times are seconds with 12 decimals"    \
    }
#define STORE(what)                                                                                \
    {                                                                                              \
        .name = "store", .value = "FILE", .file = true, .doc = (what)                              \
    }
#define OUTPUT                                                                                     \
    {                                                                                              \
        .name = "output", .letter = 'o', .value = "FILE", .file = true,                            \
        .doc = "write to FILE instead of standard output; the file is replaced only once it is "   \
               "whole"                                                                             \
    }

#define TRIALS                                                                                     \
    {.name = "trials",                                                                             \
     .value = "N",                                                                                 \
     .doc = "simulate so many steps whose durations vary as `variation:` of the scenario says, "   \
            "and print percentiles, means with 95 % intervals, and who is late"},                  \
        {.name = "seed",                                                                           \
         .value = "S",                                                                             \
         .doc = "of the draws of --trials; default 1. The same seed gives the same output, "       \
                "however many threads there are",                                                  \
         .needs = "trials"},                                                                       \
    {                                                                                              \
        .name = "jobs", .letter = 'j', .value = "N",                                               \
        .doc = "threads of --trials; without it one for each core", .needs = "trials"              \
    }

#endif
