/* SPDX-License-Identifier: MIT
 *
 * pmgc: arguments to exit status. All printing of the compiler happens here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "codegen/target.h"
#include "driver/blame.h"
#include "driver/dump.h"
#include "driver/emit.h"
#include "driver/error_page.h"
#include "driver/help.h"
#include "driver/main.h"

enum exit_status {
#define STATUS(name, number, text) EXIT_##name = number,
#include "driver/status.def"
#undef STATUS
};

struct session {
	struct compilation *c;
	struct options options;
	struct dumps dumps;
	const char *blamed;             /* OUT.c:LINE of the command blame, else NULL */
	bool io_failed, is_misused;
};

static int usage_error(const char *problem)
{
	fprintf(stderr, "pmgc: %s\n(pmgc --help lists the options)\n", problem);
	return EXIT_USAGE;
}

static int without_memory(void)
{
	fputs("pmgc: out of memory\n", stderr);
	return EXIT_RESOURCES;
}

/* The last of a text for the standard output. */
static int text_status(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_DONE;
	fprintf(stderr, "pmgc: cannot write to the standard output: %s\n", strerror(errno));
	return EXIT_IO;
}

static bool wants_text(const struct options *options)
{
	return options->emit || (options->output && !strcmp(options->output, "-"));
}

/* The path of an output without its ending: of -o, or of the input's name in this folder. */
static const char *output_base(struct session *s)
{
	const char *path = s->blamed ? s->blamed : s->options.output, *dot;

	if (!s->blamed && (!path || wants_text(&s->options)))
		path = file_name(s->options.input);
	dot = strrchr(file_name(path), '.');
	return arena_copy(&s->c->arena, path, dot ? (size_t) (dot - path) : strlen(path));
}

static bool write_files(struct session *s, struct output_file *files, int n)
{
	const struct output_file *failed = emit_files(files, n);

	if (!failed)
		return true;
	s->c->is_out_of_memory |= errno == ENOMEM;
	fprintf(stderr, "pmgc: cannot write '%s': %s\n", failed->path, strerror(errno));
	s->io_failed = true;
	return false;
}

/* ---- after each pass and each lowering ---- */

static void after_pass(void *user, struct module *module, int pass, double seconds)
{
	struct session *s = user;
	const char *text = dump_text(&s->dumps, &s->c->arena, module, pass);

	if (s->options.time && pass != LOWERED)
		fprintf(stderr, "%-20s %-12s %8.2f ms\n", module->name, passes[pass].name, 1e3 * seconds);
	if (text)
		write_files(s, &(struct output_file) {
				    .path = arena_printf(&s->c->arena, "%s.%02d-%s.ir", module->name, pass + 1,
							 dump_pass_name(pass)), .text = text }, 1);
}

static void after_lowering(void *user, struct module *module, const struct k_program *program, int lowering)
{
	struct session *s = user;
	const char *text = module->choice.items ? NULL : dump_kernel_text(&s->dumps, &s->c->arena, program, lowering);

	if (text)
		write_files(s, &(struct output_file) {
				    .path = arena_printf(&s->c->arena, "%s.%02d-%s.kernel", module->name,
							 n_passes + lowering + 2, dump_lowering_name(lowering)),
				    .text = text }, 1);
}

static void after_step(void *user, const char *pipeline, const char *step, double seconds)
{
	const struct session *s = user;

	if (s->options.time)
		fprintf(stderr, "%-20s %-12s %8.2f ms\n", pipeline ? pipeline : "(all)", step, 1e3 * seconds);
}

/* ---- what was asked ---- */

/* Headers that generated code includes, and what they include: in their place would stand that of the program. */
static bool is_name_of_header(const char *base)
{
	static const char *const names[] = {
		"math", "stdbool", "stddef", "stdint", "string", "stdlib", "stdio", "limits", "float", "features",
		"omp", "cuda", "cuda_runtime", "strings", "endian",
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(base, names[i]))
			return true;
	return !strncmp(base, "pmgrt", strlen("pmgrt"));
}

/* C has no way to say a quote in #include. */
static bool is_includable(struct session *s, const char *base, const char *what_else)
{
	if (is_name_of_header(file_name(base))) {
		usage_error(arena_printf(&s->c->arena, "'%s.h' is the name of a header that generated code includes; "
					 "%s", file_name(base), what_else));
		return !(s->is_misused = true);
	}
	if (!strpbrk(file_name(base), "\"\n"))
		return true;
	usage_error(arena_printf(&s->c->arena, "'%s.h' cannot be included, with a quote or an end of line in its name; "
				 "%s", base, what_else));
	return !(s->is_misused = true);
}

static bool compile_to_text(struct session *s)
{
	const char *stage = s->options.emit ? s->options.emit : "c", *base = output_base(s);
	const char *text = emit_stage(s->c, &s->options, base);
	bool has_include = !strcmp(stage, "c") || !strcmp(stage, "cu");

	if (!text || (has_include && !is_includable(s, base, "give the program another")))
		return false;
	fputs(text, stdout);
	return true;
}

/* As make reads it: blanks and # have a backslash ahead, which those ahead of it have, too; a $ is two. */
static void add_make_name(struct str *text, const char *name)
{
	for (size_t ahead = 0; *name; name++) {
		bool is_special = strchr(" #", *name);

		for (size_t i = 0; is_special && i <= ahead; i++)
			str_add(text, "\\");
		str_add(text, *name == '$' ? "$%c" : "%c", *name);
		ahead = *name == '\\' ? ahead + 1 : 0;
	}
}

/* "base.c: base.pmg included.pmg" */
static const char *dependencies_text(struct session *s, const char *base)
{
	struct str text = str_new(&s->c->arena);

	add_make_name(&text, base);
	str_add(&text, ".c ");
	add_make_name(&text, base);
	str_add(&text, ".h:");
	for (int i = 0; i < s->c->sources.files.n; i++)
		if (s->c->sources.files.items[i]->name) {
			str_add(&text, " ");
			add_make_name(&text, s->c->sources.files.items[i]->name);
		}
	str_add(&text, "\n");
	return str_text(&text);
}

static bool compile(struct session *s, const char *base, const char **c_text, const char **h_text)
{
	return compilation_read(s->c, s->options.input) && compilation_run_passes(s->c) &&
	       compilation_generate(s->c, file_name(base), c_text, h_text);
}

/* One file that is read would be written. */
static bool is_source(const struct session *s, const char *path)
{
	struct stat output, source;

	for (int i = 0; stat(path, &output) == 0 && i < s->c->sources.files.n; i++) {
		const char *name = s->c->sources.files.items[i]->name;

		if (name && stat(name, &source) == 0 && source.st_dev == output.st_dev &&
		    source.st_ino == output.st_ino)
			return true;
	}
	return false;
}

static bool spares_source(struct session *s, const char *path)
{
	if (!is_source(s, path))
		return true;
	usage_error(arena_printf(&s->c->arena, "'%s' is read, and would be written; programs end in .pmg, and -o takes "
				 "another name", path));
	return !(s->is_misused = true);
}

/* A base that ends where a name would begin makes hidden files. */
static bool is_file_base(struct session *s, const char *base)
{
	if (*file_name(base))
		return is_includable(s, base, "-o takes another");
	usage_error(arena_printf(&s->c->arena, "'%s.c' would be a hidden file; -o takes FILE.c", base));
	return !(s->is_misused = true);
}

enum { MOST_OUTPUTS = 4 };

/* How many there are. */
static int list_outputs(struct session *s, const char *base, const char *c_text, const char *h_text,
			struct output_file *files)
{
	struct arena *arena = &s->c->arena;
	int n = 0;

	files[n++] = (struct output_file) { .path = arena_printf(arena, "%s.h", base), .text = h_text };
	files[n++] = (struct output_file) { .path = arena_printf(arena, "%s.c", base), .text = c_text };
	if (s->c->device_text)
		files[n++] = (struct output_file) {
			.path = arena_printf(arena, "%s.%s", base, compilation_device_ending(s->c)),
			.text = s->c->device_text,
		};
	if (s->options.dependencies)
		files[n++] = (struct output_file) { .path = arena_printf(arena, "%s.d", base),
						    .text = dependencies_text(s, base) };
	return n;
}

static bool compile_to_files(struct session *s)
{
	const char *base = output_base(s), *c_text, *h_text;
	struct output_file files[MOST_OUTPUTS];
	int n;

	if (!is_file_base(s, base) || !compile(s, base, &c_text, &h_text))
		return false;
	n = list_outputs(s, base, c_text, h_text, files);
	for (int i = 0; i < n; i++)
		if (!spares_source(s, files[i].path))
			return false;
	return write_files(s, files, n);
}

/* Is the output the standard one, a name without ending, or one that ends in .c? */
static bool is_c_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

	return !strcmp(path, "-") || !dot || dot == path || !strcmp(dot, ".c");
}

/* Could the output be a file, or several of that name? Not a folder and no device, which -o - does not need. */
static bool is_output_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat status;

	if (!is_c_name(path) || (slash && !slash[1]))
		return false;
	return stat(path, &status) || S_ISREG(status.st_mode);
}

static bool blame_error(struct session *s, const char *problem)
{
	s->is_misused = true;
	usage_error(problem);
	return false;
}

static bool blame_line(struct session *s)
{
	struct arena *arena = &s->c->arena;
	const char *c_text, *h_text, *text;
	struct blame blame;
	int line;

	if (!blame_read(&blame, arena, s->blamed))
		return blame_error(s, "blame takes OUT.c:LINE");
	if (!is_c_name(blame.path))
		return blame_error(s, arena_printf(arena, "blame takes the C file, OUT.c:LINE, not '%s'", s->blamed));
	s->blamed = blame.path;
	if (!compile(s, output_base(s), &c_text, &h_text))
		return false;
	line = blame_difference(s->c, &blame);
	if (line < 0)
		return s->io_failed = fprintf(stderr, "pmgc: cannot read '%s': %s\n", blame.path,
						 strerror(errno)) != 0, false;
	if (line)
		return blame_error(s, arena_printf(arena, "line %d of '%s' is not what '%s' is compiled to with these "
						   "options", line, blame.path, s->options.input));
	text = blame_text(s->c, &blame);
	if (!text)
		return blame_error(s, arena_printf(arena, "'%s' has %d lines", blame.path, s->c->generated.lines.n));
	fputs(text, stdout);
	return true;
}

static bool explain_step(struct compilation *c, void *unused)
{
	(void) unused;
	for (int i = 0; i < c->modules.n; i++)
		fputs(explain_text(c, c->modules.items[i]), stderr);
	return true;
}

static bool session_step(struct compilation *c, void *argument)
{
	struct session *s = argument;

	(void) c;
	if (s->blamed)
		return blame_line(s);
	return wants_text(&s->options) ? compile_to_text(s) : compile_to_files(s);
}

static bool has_error(const struct compilation *c, enum diag_code code)
{
	for (int i = 0; i < c->diags.list.n; i++)
		if (c->diags.list.items[i]->code == code)
			return true;
	return false;
}

static int session_run(struct session *s)
{
	bool ok = compilation_guard(s->c, session_step, s);

	fputs(compilation_messages(s->c, s->options.remarks), stderr);
	if (ok && s->options.explain)
		ok = compilation_guard(s->c, explain_step, NULL);
	if (s->c->is_out_of_memory)
		return EXIT_RESOURCES;
	if (ok)
		return text_status();
	if (s->is_misused)
		return EXIT_USAGE;
	if (s->io_failed || has_error(s->c, DIAG_CANNOT_READ))
		return EXIT_IO;
	return has_error(s->c, DIAG_INTERNAL) ? EXIT_INTERNAL : EXIT_PROGRAM;
}

static void dump_problem(struct arena *arena, const char *wanted, char *problem, size_t size)
{
	const char *nearest = dump_nearest(arena, wanted);

	if (nearest)
		snprintf(problem, size, "--dump-after takes all, lower, build, a pass or a lowering, not '%s'; did you "
			 "mean '%s'?", wanted, nearest);
	else
		snprintf(problem, size, "--dump-after takes all, lower, build, a pass or a lowering, not '%s'; pmgc "
			 "--help-passes lists them", wanted);
}

/* What the options say about a compilation; false with a message in `problem`. */
static bool session_open(struct session *s, char *problem, size_t size)
{
	struct options *options = &s->options;
	enum diag_format format;

	if (!options->input)
		return snprintf(problem, size, "no input file"), false;
	if (options->output && !is_output_name(options->output))
		return snprintf(problem, size, "-o takes FILE.c, FILE for FILE.c and FILE.h, or - for the standard "
				"output, not '%s'", options->output), false;
	if (options->emit && !emit_is_known(options->emit))
		return snprintf(problem, size, "--emit takes tokens, ast, ir, deps, schedule, loops, kernel, c, h, cu "
				"or dot, not '%s'", options->emit), false;
	if (options->emit && options->output && strcmp(options->output, "-") != 0)
		return snprintf(problem, size, "--emit prints on the standard output, and -o names '%s'; one of them "
				"is to be left out", options->output), false;
	if (options->dependencies && wants_text(options))
		return snprintf(problem, size, "-MD writes FILE.d beside FILE.c, but the standard output is asked "
				"for"), false;
	if (options->pipeline && !(options->emit && emit_is_by_pipeline(options->emit)))
		return snprintf(problem, size, "--pipeline is for --emit=ir, deps, schedule, loops, kernel or "
				"dot"), false;
	if (options->dump_after && !dump_is_known(options->dump_after))
		return dump_problem(&s->c->arena, options->dump_after, problem, size), false;
	if (!diag_format_from_name(options->message_format, &format))
		return snprintf(problem, size, "--message-format takes human, short or json, not '%s'",
				options->message_format), false;
	if (strcmp(options->isa, "native") && strcmp(options->isa, "all"))
		return snprintf(problem, size, "--isa takes native or all, not '%s'", options->isa), false;
	if (!compilation_choose_target(s->c, options->target))
		return snprintf(problem, size, "there is no target '%s'; there are %s", options->target,
				compilation_targets()), false;
	if (options->emit && !strcmp(options->emit, "cu") && !compilation_device_ending(s->c))
		return snprintf(problem, size, "--emit=cu is for targets with a file of kernels, as cuda, not '%s'",
				options->target), false;
	if (!strcmp(options->isa, "all") && compilation_has_device(s->c))
		return snprintf(problem, size, "--isa=all is for targets without a device, not '%s'",
				options->target), false;
	s->c->messages = format;
	s->c->only = options->pipeline;
	s->c->all_isas = !strcmp(options->isa, "all");
	s->c->verify_each = options->verify_each;
	s->c->line_directives = options->line_directives;
	s->c->watch.after_pass = after_pass;
	s->c->watch.after_lowering = after_lowering;
	s->c->watch.after_step = after_step;
	s->c->watch.user = s;
	s->dumps.wanted = options->dump_after;
	return options_for_passes(options, &s->c->options, problem, size);
}

/* Whether only some text about pmgc was asked for, which was then printed. */
static bool help_printed(const struct options *options)
{
	if (options->help)
		help_text(stdout);
	else if (options->help_passes)
		help_passes(stdout);
	else if (options->help_man)
		help_manual(stdout);
	else if (options->help_markdown)
		help_markdown(stdout);
	else if (options->version)
		puts("pmgc " PMGC_VERSION);
	else
		return false;
	return true;
}

/* pmgc explain [CODE] */
static int explain_code(int n, char **codes)
{
	struct arena arena = { 0 };
	jmp_buf on_failure;
	const char *text;
	int status;

	if (n > 1)
		return usage_error("explain takes one code, such as PMG0201");
	arena.on_failure = &on_failure;
	if (setjmp(on_failure)) {
		arena_release(&arena);
		return without_memory();
	}
	text = n ? error_page_text(&arena, codes[0]) : error_page_list(&arena);
	if (text)
		status = (fputs(text, stdout), text_status());
	else
		status = usage_error(arena_printf(&arena, "there is no code '%s'; pmgc explain lists them", codes[0]));
	arena_release(&arena);
	return status;
}

int pmgc_main(int argc, char **argv, tree_reader *read_tree)
{
	struct session session = { .options = options_default() };
	struct options *options = &session.options;
	char problem[256];
	int status;

	if (argc > 1 && !strcmp(argv[1], "explain"))
		return explain_code(argc - 2, argv + 2);
	if (argc > 1 && !strcmp(argv[1], "blame")) {
		if (argc < 4)
			return usage_error("blame takes OUT.c:LINE and FILE.pmg");
		session.blamed = argv[2];
		argc -= 2;
		argv += 2;
	}
	if (!options_read(options, argc, argv, problem, sizeof problem))
		return usage_error(problem);
	if (help_printed(options))
		return text_status();
	session.c = compilation_new();
	if (!session.c)
		return without_memory();
	session.c->read_tree = read_tree;
	status = session_open(&session, problem, sizeof problem) ? session_run(&session) : usage_error(problem);
	compilation_free(session.c);
	return status;
}
