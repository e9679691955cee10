#include "tests/support/check.h"
#include "tools/sha256.h"

#include <string.h>

static const char *digest_of(const char *text, size_t length, size_t step, char out[])
{
    ovl_sha256 sha;
    ovl_sha256_begin(&sha);
    for (size_t at = 0; at < length; at += step) {
        ovl_sha256_add(&sha, text + at, OVL_MIN(step, length - at));
    }
    ovl_sha256_end(&sha, out);
    return out;
}

/* The examples of FIPS 180-2, appendix B, and the digest of nothing. */
static void examples_of_the_standard(void)
{
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    char out[OVL_SHA256_TEXT], million[1000];
    CHECK_TEXT(digest_of("", 0, 1, out),
               "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK_TEXT(digest_of("abc", 3, 3, out),
               "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK_TEXT(digest_of(two, strlen(two), 5, out),
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(million, 'a', sizeof million);
    ovl_sha256 sha;
    ovl_sha256_begin(&sha);
    for (int i = 0; i < 1000; i++) {
        ovl_sha256_add(&sha, million, sizeof million);
    }
    ovl_sha256_end(&sha, out);
    CHECK_TEXT(out, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void what_is_no_file_has_no_digest(void)
{
    char out[OVL_SHA256_TEXT];
    CHECK(!ovl_sha256_file("/", out));
    CHECK(!ovl_sha256_file("-", out));
    CHECK(!ovl_sha256_file("/dev/null", out));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"examples of the standard", examples_of_the_standard},
        {"what is no file has no digest", what_is_no_file_has_no_digest},
        CU_TEST_INFO_NULL,
    };
    return check_main("sha256", tests);
}
