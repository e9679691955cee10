/*
 * files.h - reads the files that scenarios name.
 *
 * The loader itself touches no file (models/scenario.h); this is what it is given. A file of more
 * than OVL_YAML_BYTES, a directory and anything else that is no file is refused with a sentence;
 * pipes are read to their end, "-" is standard input.
 */
#ifndef OVL_TOOLS_FILES_H
#define OVL_TOOLS_FILES_H

#include "models/scenario.h"

ovl_files ovl_real_files(void);

/* Whether something of this name exists. */
bool ovl_file_exists(const char *path);

/* Whether two names lead to one regular file, by links or another spelling too. "-" is none. */
bool ovl_file_same(const char *a, const char *b);

#endif
