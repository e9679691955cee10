#include "tools/common_options.h"

static const char *const schedule_formats[] = {"csv", NULL};
static const char *const dialects[] = {"new", "old", NULL};
static const char *const only_choices[] = {"compute", "comm", "both", NULL};
static const char *const what_if_choices[] = {"all", "none", NULL};
static const char *const interference_models[] = {"none", "shared", "measured", NULL};

static const ovl_option run_items[] = {
    VARIANT,
    SET,
    INTERFERENCE,
    EXPAND,
    WORTH,
    NO_FOLD,
    NO_SKIP,
    {.name = "gaps",
     .without = "trials",
     .doc = "list when each rank runs no kernel, what that time is made of, and why"},
    {.name = "memory",
     .without = "trials",
     .doc = "list what each rank holds over time: live bytes (of the GPU), allocated and reserved "
            "ones (of the host)"},
    {.name = "only",
     .value = "compute|comm|both",
     .choices = only_choices,
     .doc = "a controlled run: communication (compute) or kernels (comm) take no time and hold "
            "nothing, but keep their order; both: these two runs and the step side by side, with "
            "what overlap saves"},
    {.name = "what-if",
     .value = "all|none",
     .without = "trials",
     .choices = what_if_choices,
     .doc = "simulate what would help against each kind of idle time; by default where ranks idle "
            "for more than communication, up to 200,000 operations"},
    {.name = "stats",
     .without = "trials",
     .doc = "say what the run itself cost: events, solves of rates, memory, beside the memory that "
            "was announced"},
    TRIALS,
    JSON,
    OUTPUT,
    STORE("keep the run in this SQLite file, made if it is not there"),
    HELP,
};

static const ovl_option report_items[] = {
    OUTPUT,
    {.name = "ranks",
     .value = "LIST",
     .doc = "whose timelines to show: 0-7, or 0,8,16-23; without it the first 64, and the deciding "
            "rank"},
    SET,
    INTERFERENCE,
    WORTH,
    NO_FOLD,
    NO_SKIP,
    HELP,
};

static const ovl_option compare_items[] = {
    SET,
    INTERFERENCE,
    EXPAND,
    WORTH,
    NO_FOLD,
    NO_SKIP,
    TRIALS,
    JSON,
    OUTPUT,
    {.name = "fail-if-worse", .doc = "exit with 1 if B, or any of the variants, is worse"},
    STORE("keep the runs in this SQLite file; or, with two numbers, compare two of its runs"),
    HELP,
};

static const ovl_option check_items[] = {
    {.name = "variant",
     .value = "NAME",
     .doc = "look at this variant alone, as in FILE:NAME; without it the base is shown and every "
            "variant is checked"},
    SET,
    INTERFERENCE,
    JSON,
    HELP,
};

static const ovl_option export_items[] = {
    {.name = "trace", .doc = "write the run as a trace for ui.perfetto.dev or chrome://tracing"},
    {.name = "schedule",
     .value = "csv",
     .choices = schedule_formats,
     .doc = "write the schedule of a pipeline as PyTorch does: a row for each rank"},
    {.name = "lowered",
     .doc = "after PyTorch's passes, instead of compute alone: UNSHARD, RESHARD and REDUCE_GRAD "
            "where data is parallel, I right before its W merged to B and blanks dropped, sends "
            "and receives",
     .needs = "schedule"},
    {.name = "no-merge",
     .doc = "with --lowered: I and W stay apart, and blanks count when sends are placed",
     .needs = "lowered"},
    {.name = "dialect",
     .value = "new|old",
     .choices = dialects,
     .doc = "of the schedule: I and B, or in old files B and BW; without it new",
     .needs = "schedule"},
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .file = true,
     .doc = "the file to write, replaced only once it is whole; compressed if it ends in .gz; "
            "without it standard output"},
    {.name = "ranks",
     .value = "LIST",
     .doc = "which ranks to write: 0-7, or 0,8,16-23; without it the first 64",
     .needs = "trace"},
    {.name = "store",
     .value = "FILE",
     .file = true,
     .doc = "write a run of this store, named by its number, as JSON",
     .beside = "csv output"},
    {.name = "csv", .doc = "with --store: its metrics as CSV instead", .needs = "store"},
    VARIANT,
    SET,
    INTERFERENCE,
    NO_FOLD,
    NO_SKIP,
    HELP,
};

static const ovl_option explain_items[] = {
    {.name = "solve",
     .value = "KEY",
     .doc = "no list, but a question: which value of this key gives the figure of --for?",
     .beside = "for between variant set interference json output"},
    {.name = "for",
     .value = "FIGURE",
     .needs = "solve",
     .doc = "with --solve: what was measured, such as 'step=544 ms'"},
    {.name = "between",
     .value = "RANGE",
     .needs = "solve",
     .doc =
         "with --solve: where to look, such as '1 GB/s..100 GB/s'; without it from a hundredth to "
         "a hundredfold of the present value"},
    {.name = "limits",
     .doc = "say what limits the step: how much shorter it gets if each class of kernels, each "
            "collective, link, HBM or the host is 10 % faster, or free; with NAME of its "
            "operations alone",
     .beside = "jobs variant set interference json output"},
    {.name = "resource",
     .value = "NAME[:N]",
     .doc = "show this resource over time instead: nic.out:3 is that of rank, node, block or rail "
            "3, SMs:3 are those of rank 3; without a number the first",
     .beside = "variant set interference json output"},
    {.name = "rank", .value = "RANK", .doc = "explain operations of this rank alone"},
    {.name = "jobs",
     .letter = 'j',
     .value = "N",
     .doc = "threads of --limits; without it one for each core",
     .needs = "limits"},
    VARIANT,
    SET,
    INTERFERENCE,
    JSON,
    OUTPUT,
    HELP,
};

static const ovl_option inspect_items[] = {
    {.name = "comm-pattern",
     .value = "REGEX",
     .doc = "which kernels are communication: an extended regular expression, matched anywhere in "
            "the name and in any case; without it nccl|rccl"},
    {.name = "json", .doc = "print JSON instead of text; times are integer nanoseconds"},
    OUTPUT,
    HELP,
};

static const char *const row_choices[] = {"all", "front", NULL};

static const ovl_option sweep_items[] = {
    {.name = "over",
     .value = "KEY=VALUES",
     .repeat = true,
     .doc = "try these values of a key, in all combinations with other keys: "
            "overlap.ddp.bucket_cap=1MiB,25MiB or =1MiB..64MiB*4, workload.microbatches=4..16+4, "
            "variant=all; it replaces what the file says of this key"},
    {.name = "zip",
     .value = "KEY=VALUES",
     .repeat = true,
     .doc = "keys given like this change together, row by row"},
    {.name = "sample",
     .value = "KEY=RANGE",
     .repeat = true,
     .doc = "draw values of a key evenly from a range (by ratio if it multiplies: 1ms..100ms*10), "
            "or from a list"},
    {.name = "samples",
     .value = "N",
     .doc = "how many rows --sample draws; without it 100",
     .needs = "sample"},
    {.name = "seed",
     .value = "N",
     .doc = "what they are drawn from; without it 1",
     .needs = "sample"},
    {.name = "pareto",
     .value = "METRICS",
     .doc = "mark the points that no other beats in all of these; without it the objective and "
            "peak"},
    {.name = "objective",
     .value = "METRIC",
     .doc = "what the best point has least of; without it step, or what a unit of work takes where "
            "the points do different work"},
    {.name = "where",
     .value = "CONDITION",
     .repeat = true,
     .doc = "what the best point must satisfy, such as 'peak<=80GiB' or 'uncovered<2 ms'"},
    {.name = "solve",
     .value = "KEY",
     .doc = "no table, but a question: which value of this key gives the figure of --for?",
     .beside = "for between variant set interference no-fold no-skip json output"},
    {.name = "for",
     .value = "FIGURE",
     .needs = "solve",
     .doc = "with --solve: what was measured, such as 'step=544 ms'"},
    {.name = "between",
     .value = "RANGE",
     .needs = "solve",
     .doc =
         "with --solve: where to look, such as '1 GB/s..100 GB/s'; without it from a hundredth to "
         "a hundredfold of the present value"},
    {.name = "rows",
     .value = "all|front",
     .choices = row_choices,
     .doc = "which points the text shows; without it all up to 60, beyond that the front",
     .without = "json|csv"},
    STORE("keep each point in this SQLite file as soon as it is simulated"),
    {.name = "resume", .doc = "take the points the store has, and simulate the others"},
    {.name = "shard",
     .value = "I/N",
     .doc = "simulate the I-th of N parts, into a store that all parts share, or that --merge puts "
            "together"},
    {.name = "merge",
     .value = "FILE",
     .file = true,
     .repeat = true,
     .doc = "take the points of this sweep from another store, too"},
    {.name = "jobs", .letter = 'j', .value = "N", .doc = "threads; without it one for each core"},
    VARIANT,
    SET,
    INTERFERENCE,
    NO_FOLD,
    NO_SKIP,
    JSON,
    {.name = "csv", .doc = "print CSV instead of text, a row for each point", .without = "json"},
    OUTPUT,
    HELP,
};

static const ovl_option import_items[] = {
    {.name = "step",
     .value = "STEP",
     .doc =
         "traces: the number of a step, the name of a range, or all; without it the last step, or "
         "all of a trace that marks none"},
    {.name = "self-contained",
     .doc = "traces: write the step as an explicit program instead of naming the files"},
    OUTPUT,
    HELP,
};
static const ovl_option history_items[] = {
    STORE("the SQLite file that runs were stored in"),
    {.name = "limit",
     .value = "N",
     .doc = "the newest N runs; without it 40 in text, all in JSON and CSV"},
    {.name = "points", .doc = "the points of sweeps, too"},
    JSON,
    {.name = "csv", .doc = "print CSV instead of text", .without = "json"},
    OUTPUT,
    HELP,
};

static const ovl_option show_items[] = {
    STORE("the SQLite file the run was stored in"),
    JSON,
    OUTPUT,
    HELP,
};

static const ovl_option optimize_items[] = {
    {.name = "over",
     .value = "KEY=VALUES",
     .repeat = true,
     .doc = "values to choose from, as for ovl sweep; without it the sweep section of the file"},
    {.name = "zip", .value = "KEY=VALUES", .repeat = true, .doc = "keys that change together"},
    {.name = "sample", .value = "KEY=RANGE", .repeat = true, .doc = "values to draw"},
    {.name = "samples",
     .value = "N",
     .doc = "how many rows --sample draws; without it 100",
     .needs = "sample"},
    {.name = "buckets",
     .doc = "also which gradients share a bucket of overlap.ddp, and in which order"},
    {.name = "stages", .doc = "also how many layers each stage of a pipeline has"},
    {.name = "tries",
     .value = "N",
     .doc =
         "simulations at most, all counted; what would be exact with more is not; without it 6000"},
    {.name = "seed", .value = "N", .doc = "what is drawn depends on it; without it 1"},
    {.name = "objective", .value = "METRIC", .doc = "what to have least of; without it step"},
    {.name = "where",
     .value = "CONDITION",
     .repeat = true,
     .doc = "what the answer must satisfy, such as 'peak<=80GiB'"},
    {.name = "jobs", .letter = 'j', .value = "N", .doc = "threads; without it one for each core"},
    VARIANT,
    SET,
    INTERFERENCE,
    JSON,
    OUTPUT,
    HELP,
};

static const ovl_option help_items[] = {HELP};

static const ovl_option program_items[] = {
    HELP,
    {.name = "version", .doc = "print the version and stop"},
};

#define TABLE(items)                                                                               \
    {                                                                                              \
        (items), OVL_COUNT(items)                                                                  \
    }
static const ovl_option_table report_options = TABLE(report_items);
static const ovl_option_table run_options = TABLE(run_items);
static const ovl_option_table compare_options = TABLE(compare_items);
static const ovl_option_table check_options = TABLE(check_items);
static const ovl_option_table export_options = TABLE(export_items);
static const ovl_option_table explain_options = TABLE(explain_items);
static const ovl_option_table inspect_options = TABLE(inspect_items);
static const ovl_option_table sweep_options = TABLE(sweep_items);
static const ovl_option_table history_options = TABLE(history_items);
static const ovl_option_table show_options = TABLE(show_items);
static const ovl_option_table optimize_options = TABLE(optimize_items);
static const ovl_option_table import_options = TABLE(import_items);
static const ovl_option_table help_options = TABLE(help_items);
const ovl_option_table ovl_program_options = TABLE(program_items);

const ovl_command ovl_commands[] = {
    {
        .name = "calibrate",
        .summary = "fit costs of the hardware to measurements",
        .operands = "[FILE ...]",
        .min_operands = 0,
        .max_operands = UINT32_MAX,
        .operand = OVL_OPERAND_FILE,
        .about =
            "Fits what collectives cost to the output of nccl-tests, to CSV files of sizes and "
            "times, and to the collectives of traces. For each operation and group it gives one "
            "alpha and beta with their intervals, and the model that predicts unseen sizes best: "
            "that pair, a pair for each range of sizes, or a table. Errors are those on sizes that "
            "were held out. What the data cannot tell is said.\n\n"
            "Of traces of all ranks the least duration of each collective is its transfer. With "
            "--output a hardware profile is written that scenarios can name; it keeps from which "
            "files each number comes.\n\n"
            "With --compute, --comm and --overlap it tells from three controlled runs how much "
            "kernels and collectives slow each other; the factors go into the same profile. With "
            "--two-point it solves compute and communication of a step from the times of two "
            "configurations.",
        .examples =
            "ovl calibrate all_reduce_perf.log -o node.yaml\n"
            "ovl calibrate allreduce.csv --group dp --via nvlink --json\n"
            "ovl calibrate rank*.json.gz --group 0=dp -o measured.yaml\n"
            "ovl calibrate --compute a.json --comm b.json --overlap both.json -o node.yaml\n"
            "ovl calibrate --two-point accumulation --at 1=22.2s --at 4=54.3s",
        .options = &ovl_calibrate_options,
        .run = ovl_cmd_calibrate,
    },
    {
        .name = "check",
        .summary = "say what is wrong with a scenario, or what it will run",
        .operands = "FILE",
        .min_operands = 1,
        .max_operands = 1,
        .operand = OVL_OPERAND_FILE,
        .about =
            "Reports every mistake of the scenario and of all its variants, each with its place. "
            "Without mistakes it prints what will run: ranks, streams, operations, groups, buckets "
            "with their members and bytes, buffers, links, and what is not modelled. Each schedule "
            "of up to 20 million operations is run once without interference: one that cannot "
            "finish exits with 4 and says who waits for what. Hazards are looked for by ovl run.",
        .examples = "ovl check last_bucket.yaml\n"
                    "ovl check last_bucket.yaml --variant split_80_16 --json",
        .options = &check_options,
        .run = ovl_cmd_check,
    },
    {
        .name = "compare",
        .summary = "set two runs side by side: what changed, and is it better",
        .operands = "FILE [[A] B]",
        .min_operands = 1,
        .max_operands = 3,
        .operand = OVL_OPERAND_FILE,
        .about =
            "FILE alone compares the base with every variant, names the best and shows it in full. "
            "FILE B compares the base with variant B, FILE A B compares two variants. Two files "
            "are compared as they are; FILE:VARIANT names a variant of one of them. The best is "
            "chosen among the variants with the interference model of the base.\n\n"
            "The equations of both steps stand side by side, the differences of the terms sum to "
            "the difference of the steps, and the last sentence is the verdict. Exits with 1 if a "
            "run has hazards.",
        .examples = "ovl compare last_bucket.yaml\n"
                    "ovl compare last_bucket.yaml split_48 split_80_16\n"
                    "ovl compare old.yaml new.yaml:split --json\n"
                    "ovl compare --store runs.db 3 7\n"
                    "ovl compare small_buckets.yaml resnet50_1MB --trials 1000",
        .options = &compare_options,
        .run = ovl_cmd_compare,
    },
    {
        .name = "explain",
        .summary = "say what held operations below their isolated speed, and for how long",
        .operands = "FILE [NAME]",
        .min_operands = 1,
        .max_operands = 2,
        .operand = OVL_OPERAND_FILE,
        .about =
            "FILE alone lists every operation that ran below its isolated speed, most lost first: "
            "what it took, what it takes alone, and what was lost to whom. FILE NAME tells of each "
            "operation of that name why it began when it did, and cuts the time it took into "
            "latency, work, and what was lost to each resource, to SMs held by others, or to a "
            "measured factor (all of it, where one meets a lack of SMs); the pieces sum to it "
            "exactly. Of what a degraded link cost "
            "(hardware.faults) it says how much is due to the fault and how much to those beside; "
            "where several resources bind alike the loss is told of one, and the others are named "
            "as full, too.\n\n"
            "With --resource one resource is shown over time: how much it moved, for whom, at "
            "which rate.\n\n"
            "With --limits the step is simulated again for each thing that could be faster: every "
            "class of kernels, collective of a group, copies, the host, HBM and every link. It "
            "prints what the step would gain, most first; how far it could go with perfect "
            "overlap, without interference, host time or imbalance; how much later each "
            "collective could end; and what each part of the step is lost to.\n\n"
            "With --solve it answers the inverse question: which value of a key explains a "
            "measured figure. Exits with 1 if none does.",
        .examples =
            "ovl explain last_bucket.yaml\n"
            "ovl explain last_bucket.yaml --limits\n"
            "ovl explain step.yaml --solve hardware.links.nic.bandwidth --for 'step=544 ms'\n"
            "ovl explain last_bucket.yaml:split_48 'bucket 1' --rank 0\n"
            "ovl explain nic_sharing.yaml:earlier --resource nic.out",
        .options = &explain_options,
        .run = ovl_cmd_explain,
    },
    {
        .name = "export",
        .summary = "write a run in the format of another tool",
        .operands = "--trace FILE | --schedule csv FILE | --store FILE RUN",
        .min_operands = 1,
        .max_operands = 1,
        .operand = OVL_OPERAND_FILE,
        .about =
            "Writes the run as Chrome trace JSON: a process for each rank, a lane for each stream, "
            "the host's launches, arrows for dependencies between streams, and counters for live "
            "bytes, memory and link traffic with what is missing to isolated speed and how many "
            "share it, and SMs. Slices carry exact picoseconds in their arguments, since the "
            "format "
            "rounds to nanoseconds. The stages of a pipeline are rows of a process of their own; "
            "an overlapped pair is on the rows of both its stages.\n\n"
            "A schedule is written in PyTorch's text form; ovl import reads it back. Of DualPipe "
            "stages P .. 2P-1 are the second copy of the model: PyTorch has no such schedule.\n\n"
            "With --store it writes a stored run as JSON, as ovl run --json did, or its metrics as "
            "CSV.",
        .examples = "ovl export --trace last_bucket.yaml -o step.json.gz\n"
                    "ovl export --trace pipeline.yaml --ranks 0-3 -o stages.json\n"
                    "ovl export --schedule csv --lowered pipeline.yaml -o schedule.csv\n"
                    "ovl export --store runs.db 3 -o run.json",
        .options = &export_options,
        .run = ovl_cmd_export,
    },
    {
        .name = "help",
        .summary = "explain a command",
        .operands = "[COMMAND]",
        .min_operands = 0,
        .max_operands = 1,
        .operand = OVL_OPERAND_COMMAND,
        .about = "The same as ovl COMMAND --help, or as ovl --help.",
        .examples = "ovl help run",
        .options = &help_options,
        .run = ovl_cmd_help,
    },
    {
        .name = "history",
        .summary = "list the runs of a store",
        .operands = "--store FILE [SCENARIO]",
        .min_operands = 0,
        .max_operands = 1,
        .operand = OVL_OPERAND_FILE,
        .about =
            "Lists what ovl run, compare and sweep stored with --store: number, time, scenario, "
            "what was changed, interference model, step, peak memory, hazards. SCENARIO is a name, "
            "a path, or the first digits of the digest of the texts it was read from. The file is "
            "an SQLite database; docs/store.md has its tables.",
        .examples = "ovl history --store runs.db\n"
                    "ovl history --store runs.db --points --csv -o runs.csv",
        .options = &history_options,
        .run = ovl_cmd_history,
    },
    {
        .name = "import",
        .summary = "make a scenario of a schedule, or of measured traces",
        .operands = "FILE ...",
        .min_operands = 1,
        .max_operands = UINT32_MAX,
        .operand = OVL_OPERAND_FILE,
        .about =
            "Reads a pipeline schedule in PyTorch's text form (CSV: a row for each rank, a "
            "cell for "
            "each action, with or without sends and receives, in both dialects) and writes a "
            "scenario that runs it. What the file does not say has to be filled in: each pass "
            "takes "
            "1 ms.\n\n"
            "Of traces (PyTorch profiler, Nsight Systems export; one file, or one for each rank) "
            "it writes a scenario that replays a step, and prints how well that predicts what "
            "was measured: on standard output, or on standard error where the scenario goes "
            "there.",
        .examples = "ovl import schedule.csv -o scenario.yaml\n"
                    "ovl import rank*.json.gz --step 12 -o step.yaml",
        .options = &import_options,
        .run = ovl_cmd_import,
    },
    {
        .name = "inspect",
        .summary = "say where the time goes in measured traces",
        .operands = "FILE ...",
        .min_operands = 1,
        .max_operands = UINT32_MAX,
        .operand = OVL_OPERAND_FILE,
        .about =
            "Reads PyTorch profiler traces (JSON, also compressed by gzip), PyTorch memory "
            "timelines, Nsight Systems exports (SQLite), the output of nccl-tests, and CSV files "
            "of "
            "intervals; what a file is, is told by its contents. Prints for each device how long "
            "it computed, communicated, copied and was idle, and why; how much communication was "
            "hidden; the steps; each collective with bytes and bandwidth; and peak memory.\n\n"
            "Several files are the ranks of one job: their collectives are matched, and waiting "
            "for "
            "others is told apart from the transfer. Damaged files are read as far as they are "
            "whole, with a warning.",
        .examples = "ovl inspect trace.json.gz\n"
                    "ovl inspect rank*.json.gz --json -o ranks.json\n"
                    "ovl inspect report.sqlite --comm-pattern 'nccl|deep_ep'",
        .options = &inspect_options,
        .run = ovl_cmd_inspect,
    },
    {
        .name = "optimize",
        .summary = "find the change of a scenario with the shortest step",
        .operands = "FILE",
        .min_operands = 1,
        .max_operands = 1,
        .operand = OVL_OPERAND_FILE,
        .about =
            "Looks through the values of --over (or of the sweep section), the ways to put "
            "gradients "
            "into buckets (--buckets; of itself for a data-parallel step) and layers on stages "
            "(--stages; of itself for a pipeline). Every candidate is simulated in full; one with "
            "hazards, or that does not fit the memory of its GPU, is no answer.\n\n"
            "Prints what was tried and whether that was exact, a bound no split can beat, the "
            "answer as a variant to put into the file, how far it stays the best when compute "
            "times or the last gradient differ, and the comparison with the start. Where nothing "
            "is better it says no gain, and why. Exits with 1 if nothing that was tried is an "
            "answer.",
        .examples = "ovl optimize last_bucket.yaml\n"
                    "ovl optimize step.yaml --over overlap.ddp.bucket_cap=1MiB..64MiB*2 --where "
                    "'peak<=80GiB'\n"
                    "ovl optimize step.yaml --buckets --tries 50000 --json",
        .options = &optimize_options,
        .run = ovl_cmd_optimize,
    },
    {
        .name = "report",
        .summary = "write a run, or several beside each other, as a page for a browser",
        .operands = "FILE[:VARIANT] ...",
        .min_operands = 1,
        .max_operands = UINT32_MAX,
        .operand = OVL_OPERAND_FILE,
        .about =
            "Writes one HTML file that needs no network and no other file: the timeline of each "
            "rank and stream, to zoom, pan and search, with the critical path marked and "
            "interference shaded; where the time goes; collectives; why ranks idle; memory over "
            "time and who holds it; links and who met on them; hazards; the inputs, and what is "
            "not modelled. All of it can be used by keyboard and read by a screen reader.\n\n"
            "With several runs the first is compared with each of the others. The figures are "
            "those of ovl run --json, which the page contains. Exits with 1 if a run has hazards.",
        .examples = "ovl report last_bucket.yaml -o report.html\n"
                    "ovl report last_bucket.yaml last_bucket.yaml:split_48 -o report.html\n"
                    "ovl report pipeline.yaml --ranks 0-7 -o stages.html",
        .options = &report_options,
        .run = ovl_cmd_report,
    },
    {
        .name = "run",
        .summary = "simulate one step and say where its time goes",
        .operands = "FILE",
        .min_operands = 1,
        .max_operands = 1,
        .operand = OVL_OPERAND_FILE,
        .about =
            "Prints the step time with the equation that explains it, where the wall time of the "
            "deciding rank goes, every collective with its exposed time, why the ranks of a "
            "pipeline "
            "idle, the critical path, peak memory, hazards, and what is not modelled. Exits with 1 "
            "if there are hazards.\n\n"
            "Ctrl-C stops the run, says how far it got and exits with 130. A run that may need "
            "more "
            "memory than the machine has, or than OVL_MEMORY in the environment allows "
            "(OVL_MEMORY=8GiB), is an error before it begins; so is a program of more than "
            "20,000,000 "
            "operations. All limits: LIMITS in man ovl, or docs/scenario.md.\n\n"
            "The schedule of a pipeline is drawn if it fits the width of the terminal; where the "
            "output is none, COLUMNS in the environment says how wide it may be (default 100).",
        .examples =
            "ovl run last_bucket.yaml\n"
            "ovl run last_bucket.yaml --variant split_80_16 --interference none\n"
            "ovl run last_bucket.yaml --only both\n"
            "ovl run last_bucket.yaml --set overlap.ddp.bucket_cap=50MiB --json -o run.json\n"
            "ovl run pauses.yaml --trials 1060 --seed 1",
        .options = &run_options,
        .run = ovl_cmd_run,
    },
    {
        .name = "show",
        .summary = "print a stored run as it was reported",
        .operands = "--store FILE RUN",
        .min_operands = 1,
        .max_operands = 1,
        .operand = OVL_OPERAND_WORD,
        .about = "RUN is a number of ovl history. A point of a sweep is simulated again from the "
                 "texts in the store; if this version of the program gives another step, a warning "
                 "says so.",
        .examples = "ovl show --store runs.db 3\n"
                    "ovl show --store runs.db 3 --json -o run.json",
        .options = &show_options,
        .run = ovl_cmd_show,
    },
    {
        .name = "sweep",
        .summary = "simulate one step at many points and choose",
        .operands = "FILE",
        .min_operands = 1,
        .max_operands = 1,
        .operand = OVL_OPERAND_FILE,
        .about =
            "Simulates the scenario with every combination of the values in its sweep section and "
            "of --over, on all cores, and prints a row for each: step, uncovered communication "
            "(with no kernel beside it), price of interference, idle time, memory (live, "
            "allocated, "
            "and as peak what is reserved from the GPU), retries of the allocator, startups, "
            "hazards. Marks the Pareto front and the best point that fits, says which keys have no "
            "effect, and for a key whose values grow what each step of it costs and buys.\n\n"
            "A point with an error is a row of its own; the exit status is the lowest of the "
            "errors, or 1 if there are hazards or no point satisfies every --where (the closest is "
            "told). Ctrl-C prints what is done and exits with 130; "
            "with --store it is kept, and "
            "--resume goes on.\n\n"
            "Under mpirun the processes share the points, and the first prints and stores them "
            "all. "
            "For the jobs of an array there is --shard.\n\n"
            "Metrics: step, uncovered, price (of interference), idle (a term of the step of the "
            "deciding rank), live, allocated, peak "
            "(reserved), retries, startups, hazards, over, active (allocated, or freed and still "
            "in "
            "use), exposed (what the equation of a run says), "
            "comm, hidden, compute, compute_stretch, comm_latency, comm_transfer, "
            "comm_stretch, copy, wait_late_rank; idle time of all ranks by reason: fill, drain, "
            "imbalance, dependency, schedule, host, pause; the step over its work, that of all "
            "ranks: per_microbatch, per_million_tokens, per_pflop (of FLOPs that the model "
            "needs).",
        .examples = "ovl sweep last_bucket.yaml --over variant=all\n"
                    "ovl sweep step.yaml --over overlap.ddp.bucket_cap=1MiB..64MiB*2 --where "
                    "'peak<=80GiB'\n"
                    "ovl sweep step.yaml --csv -o points.csv\n"
                    "ovl sweep step.yaml --solve hardware.links.nic.bandwidth --for 'step=544 ms'",
        .options = &sweep_options,
        .run = ovl_cmd_sweep,
    },
};
const uint32_t ovl_n_commands = OVL_COUNT(ovl_commands);

const ovl_exit_meaning ovl_exit_meanings[] = {
    {OVL_EXIT_DONE, "done"},
    {OVL_EXIT_FAILED, "a threshold, a comparison or the check for hazards failed"},
    {OVL_E_USAGE, "the command line is wrong, or what it asks to write cannot be written"},
    {OVL_E_INPUT, "an input is wrong"},
    {OVL_E_STUCK, "the schedule cannot finish"},
    {OVL_E_STOPPED, "interrupted by Ctrl-C; by another signal it is 128 and its number"},
};
const uint32_t ovl_n_exit_meanings = OVL_COUNT(ovl_exit_meanings);
