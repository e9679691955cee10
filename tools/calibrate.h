/*
 * calibrate.h - from measured transfers to a hardware profile: what is fitted, and how sure it is.
 *
 * Files are read as `ovl inspect` reads them. Their transfers fall into series, one for each
 * operation and group (and, in a CSV with several, each named column of times); each is fitted by
 * models/fit.h. docs/calibrate.md says what each figure means.
 *
 *     ovl_calibration cal;
 *     ovl_calibrate_begin(&cal, &pattern, &wishes);
 *     ovl_calibrate_add(&cal, "allreduce.log", &errs);     as often as there are files
 *     ovl_calibrate_fit(&cal, &errs);
 *     ovl_calibrate_text(out, &cal);                       or _json; and _profile into a file
 *     ovl_calibrate_free(&cal);
 *
 * Times are nanoseconds.
 */
#ifndef OVL_TOOLS_CALIBRATE_H
#define OVL_TOOLS_CALIBRATE_H

#include "models/fit.h"
#include "models/yaml.h"
#include "tools/inspect.h"
#include "tools/interfere.h"
#include "tools/sha256.h"

/* What the times of a series are. */
typedef enum ovl_cal_times {
    OVL_CAL_IN_PLACE,
    OVL_CAL_OUT_OF_PLACE,
    OVL_CAL_NAMED,    /* a named column of a CSV */
    OVL_CAL_MINIMUM,  /* of each collective the least duration over its ranks */
    OVL_CAL_PARTIAL,  /* the same where some ranks have no file: holds waiting for those */
    OVL_CAL_ONE_RANK, /* of each size the least duration seen by one rank: holds waiting */
} ovl_cal_times;

typedef struct ovl_cal_series {
    const char *op;
    int coll;           /* ovl_coll, or -1: a profile has no such operation */
    const char *group;  /* as the profile will name it; NULL: any */
    const char *column; /* of a CSV; or NULL */
    ovl_cal_times times;
    OVL_VEC(ovl_fit_point) points;
    OVL_VEC(uint32_t) files;         /* indexes */
    uint64_t calls;                  /* durations the points come from */
    int64_t least_ranks, most_ranks; /* that took part; 0: no file tells */
    int64_t here;                    /* of them that have a file, at most; of matched traces */
    ovl_fit fit;
    OVL_VEC(const char *) notes; /* what could not be identified */
    bool written;                /* it has an entry in the profile */
} ovl_cal_series;

/* "--group 0=dp": what stands for a name of the files; from NULL: for every one. */
typedef struct ovl_cal_rename {
    const char *from, *to;
} ovl_cal_rename;

typedef struct ovl_cal_wishes {
    const char *op;         /* of files that name none; or NULL */
    int64_t ranks;          /* of files that do not tell how many took part; 0: not said */
    bool out_of_place;      /* instead of in place */
    const char *pattern;    /* --comm-pattern as it was given; or NULL */
    ovl_cal_rename *groups; /* first that fits */
    uint32_t n_groups;
    ovl_cal_rename *via; /* from: a group of the profile */
    uint32_t n_via;
} ovl_cal_wishes;

typedef struct ovl_cal_file {
    const char *path;
    char sha256[OVL_SHA256_TEXT]; /* "" if it cannot be read twice */
} ovl_cal_file;

typedef struct ovl_calibration {
    ovl_arena arena;
    const ovl_cal_wishes *wishes;
    ovl_inspection in;
    OVL_VEC(ovl_cal_file) files; /* same indexes as in.files */
    OVL_VEC(ovl_cal_series) series;
    uint64_t no_size;          /* collectives without a message size */
    const ovl_node *base;      /* the profile that the new entries go into; or NULL */
    const ovl_interfere *runs; /* three controlled runs; or NULL */
} ovl_calibration;

void ovl_calibrate_begin(ovl_calibration *cal, ovl_comm_pattern *pattern,
                         const ovl_cal_wishes *wishes);

/* Reads a file. False and an error if it is no trace. */
bool ovl_calibrate_add(ovl_calibration *cal, const char *path, ovl_errs *errs);

/* Fits every series. Warnings say what is not to be trusted; an error if nothing can be fitted. */
void ovl_calibrate_fit(ovl_calibration *cal, ovl_errs *errs);

void ovl_calibrate_free(ovl_calibration *cal);

/* The links of a series by the wishes, as texts between commas; NULL: none. */
const char *ovl_calibrate_via(const ovl_calibration *cal, const ovl_cal_series *series);

/* "in-place times" */
const char *ovl_cal_times_text(const ovl_cal_series *series, ovl_arena *arena);

/* Nanoseconds as the time that is printed, rounded to a picosecond, within its range. */
ovl_time ovl_cal_ps(double ns);

void ovl_calibrate_text(ovl_out *out, const ovl_calibration *cal);
void ovl_calibrate_json(ovl_out *out, const ovl_calibration *cal, const ovl_errs *errs);

/* The hardware profile, YAML: the base with the entries for the same things replaced, of which
 * other keys (via, sms, ...) are kept. */
void ovl_calibrate_profile(ovl_out *out, const ovl_calibration *cal);

#endif
