/* What a run cost: `--stats`. */
#include "tools/report.h"

#include "sim/units.h"

static double per(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void line(ovl_out *out, const char *what, uint64_t n, const char *more)
{
    ovl_out_printf(out, "  %-12s %12" PRIu64 "  %s\n", what, n, more);
}

void ovl_report_stats(ovl_out *out, const ovl_result *result)
{
    const ovl_counters *c = &result->stats.counters;
    char bytes[OVL_UNITS_TEXT], held[OVL_UNITS_TEXT], announced[OVL_UNITS_TEXT];
    if (!result->has_stats) {
        return;
    }
    ovl_out_title(out, "\nWhat the run cost");
    line(out, "operations", result->stats.n_ops, "in all");
    line(out, "skipped", c->skipped, "of them, in periods like those before");
    line(out, "activities", c->activities,
         "kernels, copies, collectives and transfers that took time");
    line(out, "at once", c->activities_at_once, "activities at most");
    line(out, "events", c->events, "ends, latencies, launches, changes of a capacity");
    line(out, "solves", c->solves, "of rates, each on one resource or on coupled ones");
    ovl_out_printf(out, "  %-12s %12.2f  %s\n", "touched", per(c->solved, c->solves),
                   "classes of like activities, a solve");
    line(out, "queue", c->heap_puts, "times an event was put into the queue or moved in it");
    line(out, "delays", c->delays, "events that needed no queue");
    ovl_out_printf(out, "  simulation %s = %.1f B an operation\n", ovl_print_bytes(bytes, c->bytes),
                   per(c->bytes, result->stats.n_ops));
    ovl_out_printf(out, "  memory %s at most, with all that is told; announced: at most %s\n",
                   ovl_print_bytes(held, result->stats.held),
                   ovl_print_bytes(announced, result->stats.announced));
}

void ovl_report_stats_json(ovl_json *json, const ovl_result *result)
{
    const ovl_counters *c = &result->stats.counters;
    if (!result->has_stats) {
        return;
    }
    ovl_json_object(json, "stats", OVL_JSON_BLOCK);
    ovl_json_uint(json, "operations", result->stats.n_ops);
    ovl_json_uint(json, "ranks", result->stats.n_ranks);
    ovl_json_uint(json, "skipped", c->skipped);
    ovl_json_uint(json, "activities", c->activities);
    ovl_json_uint(json, "activities_at_once", c->activities_at_once);
    ovl_json_uint(json, "events", c->events);
    ovl_json_uint(json, "solves", c->solves);
    ovl_json_uint(json, "solved_classes", c->solved);
    ovl_json_double(json, "solved_classes_per_solve", per(c->solved, c->solves));
    ovl_json_uint(json, "queue_puts", c->heap_puts);
    ovl_json_uint(json, "queue_moves", c->heap_moves);
    ovl_json_uint(json, "delays", c->delays);
    ovl_json_uint(json, "memory_bytes", c->bytes);
    ovl_json_double(json, "memory_bytes_per_operation", per(c->bytes, result->stats.n_ops));
    ovl_json_uint(json, "held_bytes", result->stats.held);
    ovl_json_uint(json, "announced_bytes", result->stats.announced);
    ovl_json_close(json);
}
