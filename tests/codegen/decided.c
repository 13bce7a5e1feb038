/* SPDX-License-Identifier: MIT
 *
 * The text of kernels of programs of tests/decide, which test_decide asks for beside their decisions: of
 * tests/decide/NAME.pmg, compiled as it says, the functions that compute are decided/NAME.kernel, and what a device
 * runs is decided/NAME.device. PMG_UPDATE=1 writes those anew that are there. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/codegen_tests.h"
#include "decide/case.h"
#include "support/folder.h"

#define GOLDENS "tests/codegen/decided"

/* Whether a line begins a function of a kernel, or of a part of one. */
static bool is_head(const char *line)
{
	size_t n = strcspn(line, "\n");
	const char *kernel = strstr(line, "kernel"), *compute = strstr(line, "_compute_");

	return !strncmp(line, "static ", 7) && strcspn(line, ";=") > n && memchr(line, '(', n) &&
	       ((kernel && kernel < line + n) || (compute && compute < line + n));
}

/* Without the numbers of lines of the program, which every expectation that is added to it moves. */
static const char *without_lines(struct arena *arena, const char *text)
{
	struct str kept = str_new(arena);
	const char *place;

	while ((place = strstr(text, ".pmg:"))) {
		str_add_text(&kept, text, (size_t) (place + 4 - text));
		text = place + 5 + strspn(place + 5, "0123456789");
	}
	str_add(&kept, "%s", text);
	return str_text(&kept);
}

static const char *functions_of(struct arena *arena, const char *text)
{
	struct str functions = str_new(arena);
	const char *end;

	for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (!is_head(line) || !(end = strstr(line, "\n}\n")))
			continue;
		str_add(&functions, "%s", functions.length ? "\n" : "");
		str_add_text(&functions, line, (size_t) (end + 3 - line));
		line = end + 1;
	}
	return str_text(&functions);
}

static void check_text(struct tests *tests, struct compilation *c, const char *path, const char *ending,
		       const char *text)
{
	const char *name = folder_name_of(path);
	const char *golden = arena_printf(&c->arena, GOLDENS "/%.*s.%s", (int) strlen(name) - 4, name, ending);

	if (access(golden, R_OK) == 0)
		codegen_check_golden(tests, &c->arena, text ? without_lines(&c->arena, text) : NULL, golden);
}

void codegen_check_decided(struct tests *tests, struct compilation *c, const char *path, const char *c_text)
{
	check_text(tests, c, path, "kernel", functions_of(&c->arena, c_text));
	check_text(tests, c, path, "device", c->device_text ? strstr(c->device_text, "/* ---- ") : NULL);
}

void codegen_test_decision(struct tests *tests, const char *path)
{
	struct compilation *c = compilation_new();
	const char *text, *c_text;

	if (case_compile(c, path, &text, &c_text))
		codegen_check_decided(tests, c, path, c_text);
	else
		codegen_check(tests, false, path, 0, "does not compile");
	compilation_free(c);
}
