/*
 * path_rows.h - the pieces of a critical path as rows: what repeats itself is said once.
 *
 * Pieces come last first, as the path is walked back, and follow one another without a gap, so a
 * list of their lengths is all that their times need. Alike are pieces of one name, stream, rank,
 * length and reason. A path of more than OVL_PATH_PLAIN pieces has its runs of equal blocks
 * (repeats.h) told by one block, whose rows say how often they come and how much later each time;
 * among the ways to do so that of fewest rows is chosen. Nothing is lost: the rows, unrolled, are
 * the pieces.
 *
 * Example: k of 1 us 5,000 times on one stream, each "stream: after k" but the first, "start", are
 * two rows: one of [0, 1] us, and one of [1, 2] us that comes 4,998 times more, each 1 us later.
 */
#ifndef OVL_SIM_PATH_ROWS_H
#define OVL_SIM_PATH_ROWS_H

#include "sim/causes.h"
#include "sim/result.h"

#define OVL_PATH_PLAIN 1000

/* What a piece is. An operation, the launch of one, or of so many. */
typedef enum ovl_piece_kind { OVL_PIECE_OP, OVL_PIECE_ISSUE, OVL_PIECE_ISSUES } ovl_piece_kind;

/* Why it started, beside the reasons of causes.h. */
enum { OVL_PIECE_MET = OVL_WHY_HOST + 1, OVL_PIECE_FIRST };

/* All that makes pieces alike, in numbers; unused ones are 0. */
typedef struct ovl_piece {
    ovl_time length;
    uint32_t kind, what;  /* name of the operation, or how many launches */
    ovl_id stream;        /* name; OVL_PIECE_HOST, OVL_PIECE_WIRE */
    uint32_t rank;        /* its number */
    uint32_t why, by, at; /* ovl_why or one of the above; name, and of OVL_PIECE_MET the rank */
} ovl_piece;

#define OVL_PIECE_HOST UINT32_MAX
#define OVL_PIECE_WIRE (UINT32_MAX - 1)

typedef struct ovl_path_pieces {
    OVL_VEC(ovl_piece) kinds; /* each once */
    OVL_VEC(uint32_t) table;  /* kind + 1 by hash, open addressing; its size a power of two */
    OVL_VEC(uint32_t) list;   /* kinds, last first */
} ovl_path_pieces;

void ovl_path_piece(ovl_path_pieces *pieces, const ovl_piece *piece);

/* The rows in time order, from 0 on, and their texts, in `arena`; the pieces are gone. `begin` is
 * what the first is told to have started with. */
const ovl_result_path *ovl_path_rows(ovl_path_pieces *pieces, const ovl_names *names,
                                     const char *begin, ovl_arena *arena, uint32_t *n_rows);

#endif
