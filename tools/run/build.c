/* SPDX-License-Identifier: MIT
 *
 * From the module to a library: the passes and the generator in this process, then the C compiler as
 * another one, started without a shell, in a folder of its own that goes away on every path unless --keep
 * names it, or the folder around it. For a target with a device, its compiler follows, and links both. */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/streams.h"

enum { LONGEST_ROW = 512 };

extern char **environ;

/* ---- The folder -------------------------------------------------------------------------- */

static char *path_in(struct session *s, const char *folder, const char *name)
{
	return arena_printf(s->arena, "%s/%s", folder, name);
}

static bool make_folder(struct session *s, struct build *build, struct failure *failure)
{
	const char *tmp = getenv("TMPDIR"), *ending = compilation_device_ending(s->c);
	build->is_kept = s->values.keep;
	if (build->is_kept) {
		build->folder = build->number ? path_in(s, s->values.keep, arena_printf(s->arena, "%d", build->number))
					      : arena_string(s->arena, s->values.keep);
		if (mkdir(build->folder, 0777) != 0 && errno != EEXIST)
			return fail_file(failure, build->folder, "cannot make the folder:");
	} else {
		bool is_given = tmp && *tmp;
		build->folder = path_in(s, is_given ? tmp : "/tmp", "pmg-XXXXXX");
		if (!mkdtemp(build->folder)) {
			build->is_kept = true;
			return fail_file(failure, is_given ? tmp : "/tmp", "cannot make a folder in it%s:",
					 is_given ? ", as TMPDIR asks" : "");
		}
		scratch_add(build->folder);
	}
	build->c_file = path_in(s, build->folder, arena_printf(s->arena, "%s.c", s->module->name));
	build->h_file = path_in(s, build->folder, arena_printf(s->arena, "%s.h", s->module->name));
	build->library = path_in(s, build->folder, arena_printf(s->arena, "%s.so", s->module->name));
	build->log = path_in(s, build->folder, "cc.log");
	if (ending) {
		build->device_file =
			path_in(s, build->folder, arena_printf(s->arena, "%s.%s", s->module->name, ending));
		build->object = path_in(s, build->folder, arena_printf(s->arena, "%s.o", s->module->name));
	}
	return true;
}

void build_remove(struct build *build)
{
	char *const files[] = { build->c_file, build->h_file, build->device_file, build->object,
				build->library, build->log, build->folder };
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !build->is_kept; i++)
		if (files[i])
			scratch_remove(files[i]);
}

/* The C compiler writes files that we announce before they exist. */
static void announce(const struct build *build)
{
	char *const files[] = { build->c_file, build->h_file, build->device_file, build->object,
				build->library, build->log };
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !build->is_kept; i++)
		if (files[i])
			scratch_add(files[i]);
}

static bool write_text(const char *path, const char *text, struct failure *failure)
{
	FILE *file = fopen(path, "wbe");
	if (!file)
		return fail_file(failure, path, "cannot write:");
	fputs(text, file);
	bool ok = !ferror(file);
	return (fclose(file) == 0 && ok) || fail_file(failure, path, "cannot write:");
}

/* ---- Generating ------------------------------------------------------------------------------ */

/* The messages go out as they are; the outcome says what kind they are. */
bool program_failed(struct session *s, struct failure *failure)
{
	const struct diags *diags = &s->c->diags;
	enum outcome outcome = OUTCOME_PROGRAM;
	for (int i = 0; i < diags->list.n; i++)
		if (diags->list.items[i]->code == DIAG_INTERNAL &&
		    diags->list.items[i]->severity == SEVERITY_ERROR)
			outcome = OUTCOME_INTERNAL;
	if (s->c->is_out_of_memory)
		outcome = OUTCOME_RESOURCES;
	fputs(compilation_messages(s->c, s->values.remarks), stderr);
	return fail(failure, outcome, "'%s' cannot be compiled", s->module->source_name);
}

/* The lengths of rows, last extents of arrays with several dimensions, are compiled in unless --specialize says
 * otherwise: rows of known length stay in registers. */
bool size_is_compiled_in(const struct session *s, int p)
{
	const struct size *size = &s->sizes.items[p];

	for (int i = 0; !s->values.specialize && i < s->module->arrays.n; i++) {
		const struct array *array = s->module->arrays.items[i];
		const struct expr *hi = array->rank > 1 ? array->hi[array->rank - 1] : NULL;

		if (array_is_argument(array) && hi && hi->kind == EXPR_PARAM && hi->index == p)
			return size->is_known && size->value <= LONGEST_ROW;
	}
	return false;
}

void build_specialize(struct session *s)
{
	for (int p = 0; p < s->sizes.n; p++) {
		struct param *param = &s->module->params.items[p];

		if (!size_is_compiled_in(s, p))
			continue;
		param->value = s->sizes.items[p].value;
		param->is_specialized = true;
	}
}

bool build_generate(struct session *s, struct build *build, struct failure *failure)
{
	*build = (struct build){ 0 };
	build_specialize(s);
	if (!compilation_run_passes(s->c) ||
	    !compilation_generate(s->c, s->module->name, &build->c_text, &build->h_text))
		return program_failed(s, failure);
	build->messages = compilation_messages(s->c, s->values.remarks);
	fputs(build->messages, stderr);
	return true;
}

static bool write_files(struct session *s, const struct build *build, struct failure *failure)
{
	return write_text(build->c_file, build->c_text, failure) && write_text(build->h_file, build->h_text, failure) &&
	       (!build->device_file || write_text(build->device_file, s->c->device_text, failure));
}

/* ---- Where the runtime is ----------------------------------------------------------------------- */

/* The first of the folders that has `file`; NULL: none. */
static const char *find_folder(struct session *s, const char *const *folders, int n, const char *file)
{
	for (int i = 0; i < n; i++)
		if (access(path_in(s, folders[i], file), R_OK) == 0)
			return folders[i];
	return NULL;
}

static const char *folder_of_program(struct session *s)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n <= 0)
		return ".";
	path[n] = '\0';
	char *slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	return arena_string(s->arena, path);
}

bool build_find_runtime(struct session *s, const char **include, const char **lib, struct failure *failure)
{
	const char *home = getenv("PMG_HOME"), *here = folder_of_program(s);
	const char *root = home && *home ? home : path_in(s, here, "..");
	const char *const includes[] = { path_in(s, root, "include"), path_in(s, root, "runtime") };
	const char *const libs[] = { path_in(s, root, "lib"),
				     home && *home ? path_in(s, root, "build") : here, here };
	*include = find_folder(s, includes, 2, "pmgrt.h");
	*lib = find_folder(s, libs, 3, "libpmgrt.so");
	if (*include && *lib)
		return true;
	fail(failure, OUTCOME_RESOURCES, "%s is neither in %s nor in %s",
	     *include ? "libpmgrt.so" : "pmgrt.h", *include ? libs[0] : includes[0],
	     *include ? libs[1] : includes[1]);
	fail_help(failure, "PMG_HOME names the folder where pmgc is installed or built");
	return false;
}

/* ---- The C compiler --------------------------------------------------------------------------------- */

static bool is_clang(const char *command)
{
	const char *slash = strrchr(command, '/');
	return strstr(slash ? slash : command, "clang") != NULL;
}

/* How many of them are before the flags: "gcc" or "ccache gcc". */
static int count_before_flags(const word_list *words)
{
	int n = 0;
	while (n < words->n && (n == 0 || words->items[n][0] != '-'))
		n++;
	return n;
}

static void push_words(struct session *s, word_list *words, const char *text)
{
	char *rest = arena_string(s->arena, text);
	for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " "))
		if (*word)
			vec_push(s->arena, words, word);
}

const char *build_cc(const struct run_values *values)
{
	return values->cc ? values->cc : "gcc";
}

static void list_arguments(struct session *s, const struct build *build, const char *include, const char *lib,
			   word_list *words)
{
	word_list user = { 0 };
	push_words(s, &user, build_cc(&s->values));
	int n = count_before_flags(&user);
	for (int i = 0; i < n; i++)
		vec_push(s->arena, words, user.items[i]);
	push_words(s, words, "-std=c11 -O3 -march=native -ffp-contract=fast -fno-trapping-math -fopenmp -fPIC -fwrapv");
	if (n > 0 && is_clang(user.items[n - 1]))
		push_words(s, words, "-fveclib=libmvec -fno-math-errno");
	for (int i = n; i < user.n; i++)
		vec_push(s->arena, words, user.items[i]);
	vec_push(s->arena, words, arena_printf(s->arena, "-I%s", include));
	vec_push(s->arena, words, arena_printf(s->arena, "-I%s", build->folder));
	vec_push(s->arena, words, build->c_file);
	if (build->object) {
		push_words(s, words, "-c -o");
		vec_push(s->arena, words, build->object);
	} else {
		vec_push(s->arena, words, "-shared");
		vec_push(s->arena, words, "-o");
		vec_push(s->arena, words, build->library);
		vec_push(s->arena, words, arena_printf(s->arena, "-L%s", lib));
		vec_push(s->arena, words, arena_printf(s->arena, "-Wl,-rpath,%s", lib));
		push_words(s, words, arena_printf(s->arena, "-lpmgrt %s -lm", compilation_libraries(s->c)));
	}
	vec_push(s->arena, words, NULL);
}

/* "sm_90" in words for nvcc: machine code, and for the last one what later GPUs translate. */
static const char *arch_words(struct arena *arena, const char *arch, bool is_last, struct failure *failure)
{
	size_t n = strncmp(arch, "sm_", 3) == 0 ? strspn(arch + 3, "0123456789") : 0;
	const char *rest = arch + 3 + n;
	if (n == 0 || (*rest && (!strchr("af", *rest) || rest[1]))) {
		fail(failure, OUTCOME_USAGE, "--arch: '%s' is no GPU as nvcc calls them", arch);
		fail_help(failure, "--arch=sm_80,sm_90 compiles for two, --arch=native for the one that is here");
		return NULL;
	}
	const char *words = arena_printf(arena, " -gencode=arch=compute_%s,code=sm_%s", arch + 3, arch + 3);
	return is_last ? arena_printf(arena, "%s -gencode=arch=compute_%s,code=compute_%s", words, arch + 3, arch + 3)
		       : words;
}

const char *build_nvcc(struct arena *arena, const struct run_values *values, struct failure *failure)
{
	const char *command = values->nvcc ? values->nvcc : "nvcc";
	if (!values->arch && values->nvcc)
		return command;
	if (!values->arch || strcmp(values->arch, "native") == 0)
		return arena_printf(arena, "%s -arch=native", command);
	char *rest = arena_string(arena, values->arch);
	for (char *arch = strsep(&rest, ","); arch; arch = strsep(&rest, ",")) {
		const char *words = arch_words(arena, arch, !rest, failure);
		if (!words)
			return NULL;
		command = arena_printf(arena, "%s%s", command, words);
	}
	return command;
}

static void list_device_arguments(struct session *s, const struct build *build, const char *nvcc, const char *include,
				  const char *lib, word_list *words)
{
	push_words(s, words, nvcc);
	push_words(s, words, "-std=c++17 -O3 -Xcompiler -fPIC,-fwrapv -shared");
	vec_push(s->arena, words, arena_printf(s->arena, "-I%s", include));
	vec_push(s->arena, words, arena_printf(s->arena, "-I%s", build->folder));
	vec_push(s->arena, words, build->device_file);
	vec_push(s->arena, words, build->object);
	vec_push(s->arena, words, "-o");
	vec_push(s->arena, words, build->library);
	vec_push(s->arena, words, arena_printf(s->arena, "-L%s", lib));
	push_words(s, words, "-Xlinker -rpath -Xlinker");
	vec_push(s->arena, words, lib);
	vec_push(s->arena, words, "-lpmgrt");
	vec_push(s->arena, words, NULL);
}

/* Runs a program with its output in a file; its exit status, or -1 and errno. */
static int spawn(const char *const *words, const char *log)
{
	posix_spawn_file_actions_t actions;
	pid_t process;
	int status;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	int error =
		posix_spawnp(&process, words[0], &actions, NULL, (char *const *) (uintptr_t) words, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error) {
		errno = error;
		return -1;
	}
	while (waitpid(process, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* As it is; where all messages are JSON, a note for each line. */
static void print_log(struct session *s, const char *path)
{
	char line[1024];
	FILE *log = fopen(path, "rbe");
	while (log && fgets(line, sizeof(line), log)) {
		if (s->messages != DIAG_JSON) {
			fputs(line, stderr);
			continue;
		}
		line[strcspn(line, "\n")] = '\0';
		messages_note(s, "%s", line);
	}
	if (log)
		fclose(log);
}

static bool log_mentions(const char *path, const char *word)
{
	char line[4096];
	bool mentions = false;
	FILE *log = fopen(path, "rbe");
	while (log && !mentions && fgets(line, sizeof(line), log))
		mentions = strstr(line, word) != NULL;
	if (log)
		fclose(log);
	return mentions;
}

/* Runs one of the two compilers. */
static bool start(struct session *s, const word_list *words, const struct build *build, const char *what,
		  const char *option, struct failure *failure)
{
	int status = spawn(words->items, build->log);
	if (status == 0)
		return true;
	if (status < 0) {
		fail(failure, OUTCOME_C_COMPILER, "cannot start the %s '%s': %s", what, words->items[0],
		     strerror(errno));
		fail_help(failure, "%s COMMAND takes another one", option);
		return false;
	}
	print_log(s, build->log);
	fail(failure, OUTCOME_C_COMPILER, "the %s '%s' fails on the generated code (status %d)", what,
	     words->items[0], status);
	if (log_mentions(build->log, "openblas"))
		fail_help(failure, "it calls the BLAS: install OpenBLAS (libopenblas-dev), or --blas=off");
	return false;
}

static bool compile_files(struct session *s, const struct build *build, struct failure *failure)
{
	const char *include, *lib, *nvcc = build->device_file ? build_nvcc(s->arena, &s->values, failure) : "";
	word_list words = { 0 }, device_words = { 0 };
	if (!nvcc || !build_find_runtime(s, &include, &lib, failure))
		return false;
	list_arguments(s, build, include, lib, &words);
	if (!start(s, &words, build, "C compiler", "--cc", failure))
		return false;
	if (!build->device_file)
		return true;
	list_device_arguments(s, build, nvcc, include, lib, &device_words);
	return start(s, &device_words, build, "CUDA compiler", "--nvcc", failure);
}

bool build_compile(struct session *s, struct build *build, struct failure *failure)
{
	if (!make_folder(s, build, failure))
		return false;
	announce(build);
	return write_files(s, build, failure) && compile_files(s, build, failure);
}

bool build_library(struct session *s, struct build *build, struct failure *failure)
{
	return build_generate(s, build, failure) && build_compile(s, build, failure);
}
