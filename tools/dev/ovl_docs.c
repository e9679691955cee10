/* Prints the pages that are written from tables: ovl_docs man|bash|zsh|reference. What it prints is
 * committed under docs/, and a test compares the two. */
#include "tools/docs.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    return ovl_docs_print(argc == 2 ? argv[1] : "", stdout, stderr);
}
