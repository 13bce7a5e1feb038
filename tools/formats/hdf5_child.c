/* SPDX-License-Identifier: MIT
 *
 * The parent of a process that reads or writes an HDF5 file: starts it, checks each record it sends, and
 * tells how it ended. Memory is taken for an array only when its size is one that a file of that size can
 * hold. */
#include "formats/hdf5_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FREE_BYTES (64 << 20)
#define EXPANSION 1100 /* deflate makes at most 1032 bytes of one */
#define SECONDS 20
#define BYTES_PER_SECOND (10 << 20)

/* ---- Starting ---------------------------------------------------------------------- */

static void set_limit(int resource, int64_t value)
{
	struct rlimit limit = { .rlim_cur = (rlim_t) value, .rlim_max = (rlim_t) value };
	setrlimit((__rlimit_resource_t) resource, &limit);
}

/* Bytes of address space in use; 0 if the system does not tell. */
static int64_t address_space(void)
{
	long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	if (!file)
		return 0;
	if (fscanf(file, "%lld", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

static void limit_child(const struct hdf5_child *child)
{
	int64_t used = address_space();
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_CPU, SECONDS + child->size / BYTES_PER_SECOND);
	if (used > 0)
		set_limit(RLIMIT_AS, used + FREE_BYTES + 4 * child->size);
}

static void child_main(struct hdf5_child *child)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		signal(numbers[i], SIG_DFL);
	if (child->is_limited)
		limit_child(child);
	child->work(child);
	child_send(child, &(struct record){ .kind = RECORD_END }, NULL);
	_exit(0);
}

/* The process, and the end of the pipe to read from; -1 and errno. */
static pid_t start(struct hdf5_child *child, int *from)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	pid_t process = fork();
	if (process == 0) {
		close(ends[0]);
		child->pipe = ends[1];
		child_main(child);
	}
	close(ends[1]);
	*from = ends[0];
	if (process < 0)
		close(ends[0]);
	return process;
}

/* ---- Receiving -------------------------------------------------------------------------- */

static bool mistrust(const struct hdf5_parent *parent, struct failure *failure)
{
	return fail_file(failure, parent->path, "the process that reads the file sends nonsense");
}

static bool record_is_sound(const struct record *record)
{
	char name[NAME_BYTES];
	return record->magic == HDF5_MAGIC && record->kind <= RECORD_FAILURE && record->rank >= 0 &&
	       record->rank <= PMG_MAX_RANK && record->type >= 0 && record->type <= PMG_BOOL &&
	       memchr(record->name, 0, sizeof(record->name)) &&
	       memchr(record->note, 0, sizeof(record->note)) &&
	       (record->kind != RECORD_ARRAY || strlen(printable(record->name, name, sizeof(name))) > 0);
}

/* False at the end of the pipe, too. */
static bool next_record(struct hdf5_parent *parent, struct record *record, bool *ended,
			struct failure *failure)
{
	*ended = fread(record, sizeof(*record), 1, parent->pipe) != 1;
	if (*ended)
		return false;
	parent->left -= (int64_t) sizeof(*record);
	if (!record_is_sound(record) || parent->left < 0)
		return mistrust(parent, failure);
	return true;
}

/* The child's failure becomes ours. */
static bool receive_failure(struct hdf5_parent *parent, const struct record *record, struct failure *failure)
{
	char text[1024], shown[1024];
	if (record->bytes >= sizeof(text) || fread(text, 1, record->bytes, parent->pipe) != record->bytes)
		return mistrust(parent, failure);
	text[record->bytes] = '\0';
	fail_file(failure, parent->path, "%s", printable(text, shown, sizeof(shown)));
	int64_t outcome = record->shape[0];
	failure->outcome = outcome == OUTCOME_IO || outcome == OUTCOME_RESOURCES || outcome == OUTCOME_USAGE
				   ? (enum outcome) outcome
				   : OUTCOME_DATA;
	return false;
}

static bool receive_pieces(struct hdf5_parent *parent, struct ndarray *array, struct failure *failure)
{
	size_t at = 0, bytes = ndarray_bytes(array);
	while (at < bytes) {
		struct record piece;
		bool ended;
		if (!next_record(parent, &piece, &ended, failure))
			return false;
		if (piece.kind == RECORD_FAILURE)
			return receive_failure(parent, &piece, failure);
		if (piece.kind != RECORD_DATA || piece.bytes > bytes - at || piece.bytes == 0)
			return mistrust(parent, failure);
		if (fread((char *) array->data + at, 1, piece.bytes, parent->pipe) != piece.bytes)
			return false;
		at += piece.bytes;
	}
	return true;
}

bool hdf5_receive(struct hdf5_parent *parent, const struct record *record, struct ndarray *array,
		  struct failure *failure)
{
	size_t bytes;
	char text[200];
	if (!shape_bytes(record->rank, record->shape, pmg_type_size((pmg_type) record->type), &bytes) ||
	    (int64_t) bytes > parent->left)
		return fail_file(failure, parent->path, "shape %s is more than a file of this size holds",
				 extents_text(record->rank, record->shape, text, sizeof(text)));
	parent->left -= (int64_t) bytes;
	return ndarray_new(array, (pmg_type) record->type, record->rank, record->shape, failure) &&
	       receive_pieces(parent, array, failure);
}

/* True when END has come; without a failure set the child has ended too early. */
static bool receive_all(struct hdf5_parent *parent, struct failure *failure)
{
	for (;;) {
		struct record record;
		bool ended;
		if (!next_record(parent, &record, &ended, failure))
			return false;
		if (record.kind == RECORD_END)
			return true;
		if (record.kind == RECORD_FAILURE)
			return receive_failure(parent, &record, failure);
		if (!parent->accept || record.kind == RECORD_DATA)
			return mistrust(parent, failure);
		if (!parent->accept(parent, &record, failure))
			return false;
	}
}

/* ---- Ending ---------------------------------------------------------------------------------- */

static bool tell_end(const struct hdf5_child *child, const char *path, int status, struct failure *failure)
{
	const char *library = child->library ? child->library : "HDF5";
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
		return fail_file(failure, path, "the %s library takes too long over this file", library);
	if (WIFSIGNALED(status))
		return fail_file(failure, path, "the %s library crashes on this file (%s)", library,
				 strsignal(WTERMSIG(status)));
	return fail_file(failure, path, "the %s library gives up on this file (status %d)", library,
			 WEXITSTATUS(status));
}

static int64_t allowance(const struct hdf5_child *child)
{
	int64_t bytes;
	if (__builtin_mul_overflow(child->size, (int64_t) EXPANSION, &bytes))
		return INT64_MAX;
	return bytes < INT64_MAX - FREE_BYTES ? bytes + FREE_BYTES : INT64_MAX;
}

static bool check_file(struct hdf5_child *child, struct failure *failure)
{
	struct stat status;
	if (stat(child->path, &status) != 0)
		return fail_file(failure, child->path, "cannot open:");
	child->size = status.st_size;
	if (S_ISREG(status.st_mode))
		return true;
	fail_file(failure, child->path, "not a regular file");
	failure->outcome = OUTCOME_IO;
	return false;
}

bool hdf5_run(struct hdf5_child *child, struct hdf5_parent *parent, struct failure *failure)
{
	int from, status = 0;
	if (!check_file(child, failure))
		return false;
	pid_t process = start(child, &from);
	if (process < 0)
		return fail(failure, OUTCOME_RESOURCES, "cannot start a process to read %s: %s", child->path,
			    strerror(errno));
	if (!parent->path)
		parent->path = child->path;
	parent->left = allowance(child);
	parent->pipe = fdopen(from, "rb");
	failure->outcome = OUTCOME_OK;
	bool ok = parent->pipe ? receive_all(parent, failure) : fail_memory(failure, "a pipe");
	if (!ok && failure->outcome != OUTCOME_OK)
		kill(process, SIGKILL);
	if (!ok && failure->outcome == OUTCOME_OK && ferror(parent->pipe))
		fail_file(failure, child->path, "cannot read what the HDF5 library sends:");
	if (parent->pipe)
		fclose(parent->pipe);
	while (waitpid(process, &status, 0) < 0 && errno == EINTR)
		;
	return ok || failure->outcome != OUTCOME_OK ? ok : tell_end(child, parent->path, status, failure);
}
