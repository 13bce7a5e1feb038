/* SPDX-License-Identifier: MIT
 *
 * Characters outside ASCII by name: those that cannot be seen, and those that look like others or are what a word
 * processor or a page on the web makes of them. */
#include "syntax/advice.h"

struct character {
	uint32_t code;
	const char *name, *meant;       /* NULL: nothing */
};

static const struct character characters[] = {
	{ 0x00a0, "a no-break space", "a space" }, { 0x00ad, "a soft hyphen", NULL },
	{ 0x00b2, "a superscript two", "pow(x, 2)" }, { 0x00b3, "a superscript three", "pow(x, 3)" },
	{ 0x00b7, "a middle dot", "*" }, { 0x00d7, "a multiplication sign", "*" },
	{ 0x00f7, "a division sign", "/" }, { 0x037e, "a Greek question mark", ";" },
	{ 0x2002, "an en space", "a space" }, { 0x2003, "an em space", "a space" },
	{ 0x2007, "a figure space", "a space" }, { 0x2009, "a thin space", "a space" },
	{ 0x200b, "a zero-width space", NULL }, { 0x200c, "a zero-width non-joiner", NULL },
	{ 0x200d, "a zero-width joiner", NULL }, { 0x200e, "a left-to-right mark", NULL },
	{ 0x200f, "a right-to-left mark", NULL }, { 0x2010, "a hyphen", "-" },
	{ 0x2011, "a no-break hyphen", "-" }, { 0x2013, "an en dash", "-" }, { 0x2014, "an em dash", "-" },
	{ 0x2018, "a curly quote", "\"" }, { 0x2019, "a curly quote", "\"" },
	{ 0x201c, "a curly quote", "\"" }, { 0x201d, "a curly quote", "\"" }, { 0x2026, "an ellipsis", ".." },
	{ 0x2028, "a line separator", "a new line" }, { 0x202f, "a narrow no-break space", "a space" },
	{ 0x2060, "a word joiner", NULL }, { 0x2190, "an arrow", "=" }, { 0x2192, "an arrow", ":" },
	{ 0x2208, "an element sign", "in" }, { 0x2211, "a sum sign", "sum(i in 0..n)" },
	{ 0x2212, "a minus sign", "-" }, { 0x2215, "a division slash", "/" }, { 0x2217, "an asterisk operator", "*" },
	{ 0x221a, "a root sign", "sqrt(x)" }, { 0x22c5, "a dot operator", "*" },
	{ 0x2227, "a logical and", "and" }, { 0x2228, "a logical or", "or" }, { 0x00ac, "a not sign", "not" },
	{ 0x2260, "a not-equal sign", "!=" }, { 0x2264, "a less-or-equal sign", "<=" },
	{ 0x2265, "a greater-or-equal sign", ">=" }, { 0x3000, "an ideographic space", "a space" },
	{ 0xfeff, "a byte-order mark", NULL }, { 0xff08, "a fullwidth parenthesis", "(" },
	{ 0xff09, "a fullwidth parenthesis", ")" }, { 0xff0c, "a fullwidth comma", "," },
	{ 0xff1a, "a fullwidth colon", ":" }, { 0xff1b, "a fullwidth semicolon", ";" },
};

/* The code point of UTF-8 text; 0 where it is none. */
static uint32_t code_point(const char *text)
{
	const unsigned char *c = (const unsigned char *) text;
	int more = c[0] >= 0xf0 ? 3 : c[0] >= 0xe0 ? 2 : c[0] >= 0xc0 ? 1 : 0;
	uint32_t code = c[0] & (0x3fu >> more);

	for (int i = 1; i <= more; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (c[i] & 0x3fu);
	}
	return more ? code : 0;
}

const char *character_meant(struct arena *arena, const char *text)
{
	uint32_t code = code_point(text);

	for (size_t i = 0; i < sizeof characters / sizeof characters[0]; i++) {
		const struct character *c = &characters[i];

		if (c->code == code && c->meant)
			return arena_printf(arena, "U+%04X is %s: write %s", code, c->name, c->meant);
		if (c->code == code)
			return arena_printf(arena, "U+%04X is %s, which cannot be seen: leave it out", code, c->name);
	}
	return code ? arena_printf(arena, "this is U+%04X; names have letters a to z, digits and _", code) : NULL;
}
