/*
 * docs.h - the committed pages that are printed from tables, for tools/dev/ovl_docs and its test.
 */
#ifndef OVL_TOOLS_DOCS_H
#define OVL_TOOLS_DOCS_H

#include <stdio.h>

/* Prints `what`: man, bash, zsh or reference. Gives the exit status: 2 for anything else. */
int ovl_docs_print(const char *what, FILE *out, FILE *err);

#endif
