/*
 * page_parts.h - the files of tools/page as texts in the program; tools/page/embed.sh writes them
 * out as bytes when it is built. "" stands for a library that was not there.
 */
#ifndef OVL_TOOLS_PAGE_PARTS_H
#define OVL_TOOLS_PAGE_PARTS_H

extern const unsigned char ovl_page_html[];
extern const unsigned char ovl_page_css[];
extern const unsigned char ovl_page_js[];
extern const unsigned char ovl_page_d3[];

#endif
