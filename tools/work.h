/*
 * work.h - from the words of a command line to results: load, decode, lower, analyse, with every
 * mistake collected on the way.
 *
 *     ovl_work s;
 *     ovl_work_begin(&s, shell);
 *     ovl_work_sets(&s, args);                         --set and --interference
 *     ovl_document file;  ovl_prepared base;  ovl_result result;
 *     if (ovl_work_load(&s, "a.yaml", &file) && ovl_work_prepare(&s, &file, NULL, &base) &&
 *         ovl_work_analyse(&s, &base, &ask, &result, NULL)) { ... }
 *     return ovl_work_end(&s, status);                 complaints to stderr, memory given back
 *
 * Warnings and errors are printed once, sorted by their place in the file.
 */
#ifndef OVL_TOOLS_WORK_H
#define OVL_TOOLS_WORK_H

#include "models/lower.h"
#include "sim/result.h"
#include "tools/command.h"
#include "tools/lookout.h"
#include "tools/recorder.h"

typedef struct ovl_work {
    const ovl_shell *shell;
    ovl_arena arena;   /* what lives to the end: documents, scenarios, results, errors */
    ovl_arena scratch; /* programs, until the next one is made */
    ovl_errs errs;
    ovl_files files;
    OVL_VEC(struct ovl_work_texts *) texts; /* of each document, when they are kept */
    bool keeps;
    const ovl_set *sets;
    uint32_t n_sets;
    ovl_lookout lookout;
} ovl_work;

typedef struct ovl_prepared {
    ovl_scenario scenario;
    ovl_lowered lowered; /* lives until the next ovl_work_prepare */
} ovl_prepared;

typedef struct ovl_ask {
    ovl_worth worth;
    const char *worth_name;
    bool gaps;         /* list the gaps of each rank */
    bool no_fold;      /* simulate every rank */
    bool no_skip;      /* simulate every period */
    bool memory_lines; /* ... their memory over time */
    bool stats;        /* say what the run cost */
    bool only_replay;  /* find out how the replay of a trace compares with it, and nothing else */
} ovl_ask;

void ovl_work_begin(ovl_work *work, const ovl_shell *shell);

/* Takes the --set, --interference and --expand values of a command that has them. */
void ovl_work_sets(ovl_work *work, const ovl_args *args);

/* One run, as a word names it. */
typedef struct ovl_side {
    const char *path, *variant; /* variant NULL: none named */
} ovl_side;

/* "FILE" or "FILE:VARIANT"; a file of the whole name comes first. Texts live in `arena` or are the
 * word's. */
ovl_side ovl_side_of(const char *word, ovl_arena *arena);

/* The run a command with one operand and --variant is about. False and an error if both name a
 * variant. */
bool ovl_work_side(ovl_work *work, const ovl_args *args, ovl_side *side);

/* What --worth, --no-fold and --no-skip ask for. */
ovl_ask ovl_work_ask(const ovl_args *args);

/* The file of --store, or NULL without one. From here on the texts of documents are kept. */
const char *ovl_work_store(ovl_work *work, const ovl_args *args);

/* The same; an error without one. */
const char *ovl_work_need_store(ovl_work *work, const ovl_args *args);

/* The files a document was read from. */
const ovl_recorder *ovl_work_recorder(const ovl_work *work, const ovl_document *doc);

/* False and errors if it cannot be read, or if something it names is what --output writes. */
bool ovl_work_load(ovl_work *work, const char *path, ovl_document *doc);

/* Decodes and lowers one variant (NULL: none). A program prepared before is gone. */
bool ovl_work_prepare(ovl_work *work, const ovl_document *doc, const char *variant,
                      ovl_prepared *prepared);

/* Runs and analyses; `kept` as in ovl_analyse. The result lives to the end of the work. */
bool ovl_work_analyse(ovl_work *work, const ovl_prepared *prepared, const ovl_ask *ask,
                      ovl_result *result, ovl_timeline *kept);

/* The two steps above in one. */
bool ovl_work_result(ovl_work *work, const ovl_document *doc, const char *variant,
                     const ovl_ask *ask, ovl_result *result);

/* An error if `output` and `input` are the same file: writing would destroy what was read. */
void ovl_work_spare(const char *output, const char *input, ovl_errs *errs);

/* Where the command writes: `file`, opened for its --output, or else standard output. */
ovl_out *ovl_work_output(const ovl_args *args, const ovl_shell *shell, ovl_out *file);

/* Ends what ovl_work_output began; a file that could not be written is an error. */
void ovl_work_written(ovl_work *work, const ovl_args *args, ovl_out *out);

/* Prints what went wrong and frees everything. Gives the status of the errors, or `status` if there
 * are none. */
int ovl_work_end(ovl_work *work, int status);

/* Prints errors and warnings to `out`, sorted, one a line. */
void ovl_complain(ovl_out *out, ovl_errs *errs);

#endif
