/* Runs a fuzz target once over every file of a directory: replay DIRECTORY. Prints how many there
 * were; none is a failure. */
#include "tests/fuzz/target.h"

#include <dirent.h>
#include <stdio.h>

/* The contents of a file, or NULL; *size is their length. */
static uint8_t *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long end = -1;
    if (file && fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0 &&
        fseek(file, 0, SEEK_SET) == 0) {
        data = malloc((size_t)end + 1);
    }
    if (data && fread(data, 1, (size_t)end, file) != (size_t)end) {
        free(data);
        data = NULL;
    }
    if (file) {
        fclose(file);
    }
    *size = data ? (size_t)end : 0;
    return data;
}

static int replay(const char *directory, const char *name)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path) {
        return 1;
    }
    size_t size;
    uint8_t *data = read_whole(path, &size);
    if (!data) {
        perror(path);
        return 1;
    }
    /* Said before, so that a crash names its file. */
    printf("%s\n", name);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

static int no_dot(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    struct dirent **entries = NULL;
    int count = argc == 2 ? scandir(argv[1], &entries, no_dot, alphasort) : -1;
    if (count <= 0) {
        fprintf(stderr, "usage: replay DIRECTORY (with files in it)\n");
        return 2;
    }
    int failed = 0;
    for (int i = 0; i < count; i++) {
        failed += replay(argv[1], entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    printf("%d files\n", count);
    return failed != 0;
}
