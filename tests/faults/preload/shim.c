/* SPDX-License-Identifier: MIT
 *
 * Preloaded: the call number FAULT_AT (from 1) of one kind fails, as on a full device ("output"), a broken one
 * ("input") or without memory ("memory", calls of pmg, pmgc and libpmgrt alone, not of the libraries below them); its
 * name is put into the file FAULT_LOG. Calls are counted over the whole family of processes, by the bytes of the file
 * FAULT_COUNT. Only in pmg and pmgc themselves, not in what they start. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

int mkstemp64(char *name);

/* ---- counting ---- */

static void log_call(const char *name, const char *path)
{
	const char *log = getenv("FAULT_LOG");
	long fd = log ? syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;

	if (fd < 0)
		return;
	syscall(SYS_write, fd, name, strlen(name));
	syscall(SYS_write, fd, " ", 1);
	syscall(SYS_write, fd, path, strlen(path));
	syscall(SYS_close, fd);
}

/* The number of this call; 0: there is nowhere to count. */
static long count_call(void)
{
	const char *path = getenv("FAULT_COUNT");
	long n = 0, fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_APPEND, 0644) : -1;

	if (fd >= 0 && syscall(SYS_write, fd, ".", 1) == 1)
		n = syscall(SYS_lseek, fd, 0, SEEK_END);
	if (fd >= 0)
		syscall(SYS_close, fd);
	return n;
}

static bool is_wanted(const char *kind)
{
	const char *wanted = getenv("FAULT_KIND"), *program = program_invocation_short_name;

	return wanted && program && !strcmp(wanted, kind) && (!strcmp(program, "pmg") || !strcmp(program, "pmgc"));
}

static bool is_due_at(const char *kind, const char *name, const char *path, int error)
{
	const char *at = getenv("FAULT_AT");

	if (!at || !is_wanted(kind) || count_call() != atol(at))
		return false;
	log_call(name, path);
	errno = error;
	return true;
}

static bool is_due(const char *name)
{
	return is_due_at("output", name, "", ENOSPC);
}

/* What the system tells of itself, and what libraries read of it, is no input. */
static bool is_due_input(const char *name, const char *path)
{
	int error = !strcmp(name, "pipe2") ? EMFILE : !strcmp(name, "fork") ? EAGAIN :
		    !strcmp(name, "fdopen") ? ENOMEM : EIO;

	return strncmp(path, "/proc/", 6) && strncmp(path, "/etc/", 5) && is_due_at("input", name, path, error);
}

/* The function of that name behind this one. */
#define NEXT(name) (*(__typeof__(&name) *) (void *) &(void *) { dlsym(RTLD_NEXT, #name) })

/* ---- streams ---- */

static bool is_output(FILE *file)
{
	return fileno(file) > STDERR_FILENO && (fcntl(fileno(file), F_GETFL) & O_ACCMODE) != O_RDONLY;
}

static bool is_input(FILE *file)
{
	return fileno(file) > STDERR_FILENO && (fcntl(fileno(file), F_GETFL) & O_ACCMODE) == O_RDONLY;
}

static bool is_file(int fd)
{
	return fd > STDERR_FILENO && lseek(fd, 0, SEEK_CUR) >= 0;
}

static bool is_read_only(int fd)
{
	return is_file(fd) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
}

/* The C library's mark of a stream with an error, which ferror reports. */
enum { STREAM_ERROR = 0x20 };

size_t fwrite(const void *data, size_t size, size_t n, FILE *file)
{
	if (!is_output(file) || !is_due("fwrite"))
		return NEXT(fwrite)(data, size, n, file);
	file->_flags |= STREAM_ERROR;
	return 0;
}

size_t fread(void *data, size_t size, size_t n, FILE *file)
{
	if (!is_input(file) || !is_due_input("fread", ""))
		return NEXT(fread)(data, size, n, file);
	file->_flags |= STREAM_ERROR;
	return 0;
}

ssize_t getline(char **row, size_t *capacity, FILE *file)
{
	if (!is_input(file) || !is_due_input("getline", ""))
		return NEXT(getline)(row, capacity, file);
	file->_flags |= STREAM_ERROR;
	return -1;
}

int fseek(FILE *file, long offset, int whence)
{
	return is_input(file) && is_due_input("fseek", "") ? -1 : NEXT(fseek)(file, offset, whence);
}

int fflush(FILE *file)
{
	return file && is_output(file) && is_due("fflush") ? EOF : NEXT(fflush)(file);
}

int fclose(FILE *file)
{
	if (is_output(file) && is_due("fclose"))
		return NEXT(fclose)(file), errno = ENOSPC, EOF;
	return NEXT(fclose)(file);
}

static bool is_due_opening(const char *path, const char *mode)
{
	return mode[0] == 'r' ? is_due_input("fopen", path) : is_due("fopen");
}

FILE *fopen(const char *path, const char *mode)
{
	return is_due_opening(path, mode) ? NULL : NEXT(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return is_due_opening(path, mode) ? NULL : NEXT(fopen64)(path, mode);
}

FILE *fdopen(int fd, const char *mode)
{
	return (mode[0] == 'r' ? is_due_input("fdopen", "") : is_due("fdopen")) ? NULL : NEXT(fdopen)(fd, mode);
}

/* ---- descriptors ---- */

int mkstemp(char *name)
{
	return is_due("mkstemp") ? -1 : NEXT(mkstemp)(name);
}

int mkstemp64(char *name)
{
	return is_due("mkstemp") ? -1 : NEXT(mkstemp64)(name);
}

char *mkdtemp(char *name)
{
	return is_due("mkdtemp") ? NULL : NEXT(mkdtemp)(name);
}

static mode_t mode_of(int flags, va_list args)
{
	return flags & O_CREAT ? va_arg(args, mode_t) : 0;
}

static bool is_due_open(const char *path, int flags)
{
	return (flags & O_ACCMODE) == O_RDONLY ? is_due_input("open", path) : is_due("open");
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return is_due_open(path, flags) ? -1 : NEXT(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return is_due_open(path, flags) ? -1 : NEXT(open64)(path, flags, mode);
}

ssize_t read(int fd, void *data, size_t size)
{
	return is_read_only(fd) && is_due_input("read", "") ? -1 : NEXT(read)(fd, data, size);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
	return is_file(fd) && is_due_input("pread", "") ? -1 : NEXT(pread)(fd, data, size, offset);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t offset)
{
	return is_file(fd) && is_due_input("pread", "") ? -1 : NEXT(pread64)(fd, data, size, offset);
}

int stat(const char *path, struct stat *status)
{
	return is_due_input("stat", path) ? -1 : NEXT(stat)(path, status);
}

int pipe2(int ends[2], int flags)
{
	return is_due_input("pipe2", "") ? -1 : NEXT(pipe2)(ends, flags);
}

pid_t fork(void)
{
	return is_due_input("fork", "") ? -1 : NEXT(fork)();
}

ssize_t write(int fd, const void *data, size_t size)
{
	return is_file(fd) && is_due("write") ? -1 : NEXT(write)(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return is_file(fd) && is_due("pwrite") ? -1 : NEXT(pwrite)(fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	return is_file(fd) && is_due("pwrite") ? -1 : NEXT(pwrite64)(fd, data, size, offset);
}

int fsync(int fd)
{
	return is_due("fsync") ? -1 : NEXT(fsync)(fd);
}

int rename(const char *from, const char *to)
{
	return is_due("rename") ? -1 : NEXT(rename)(from, to);
}

/* The error of a library that does not load stands in the message of dlerror, which is that of a missing file here. */
void *dlopen(const char *path, int flags)
{
	return NEXT(dlopen)(path && is_due_input("dlopen", path) ? "/missing/library.so" : path, flags);
}

/* ---- memory ---- */

/* Where the code of the programs and of the runtime lies. Behind that of a program, from FAULT_ARCHIVES on unless it is
 * 0, is what it has of archives of libraries. */
struct code {
	uintptr_t begin[2], end[2];
	int n;
};

static uintptr_t end_of_code(const struct dl_phdr_info *info, uintptr_t end)
{
	const char *archives = getenv("FAULT_ARCHIVES");
	uintptr_t from = !*info->dlpi_name && archives ? (uintptr_t) strtoull(archives, NULL, 16) : 0;

	return from ? info->dlpi_addr + from : end;
}

static int note_code(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct code *code = argument;

	(void) size;
	if (code->n == 2 || (*info->dlpi_name && !strstr(info->dlpi_name, "libpmgrt")))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			code->begin[code->n] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			code->end[code->n] = end_of_code(info, code->begin[code->n] + info->dlpi_phdr[i].p_memsz);
		}
	code->n++;
	return 0;
}

static bool is_due_memory(const char *name, const void *caller)
{
	static struct code code;
	static bool is_noted;
	uintptr_t at = (uintptr_t) caller;

	/* A sanitizer allocates before the C library knows the program's name. */
	if (!is_noted && *program_invocation_short_name) {
		is_noted = true;
		if (is_wanted("memory"))
			dl_iterate_phdr(note_code, &code);
	}
	for (int i = 0; i < code.n; i++)
		if (code.begin[i] <= at && at < code.end[i])
			return is_due_at("memory", name, "", ENOMEM);
	return false;
}

/* The function of the sanitizer that is loaded, else that of the C library, which dlsym may itself call. */
#define ALLOCATE(name, libc_name, ...) \
	(__interceptor_##name ? __interceptor_##name(__VA_ARGS__) : __libc_##libc_name(__VA_ARGS__))

#pragma weak __interceptor_malloc
#pragma weak __interceptor_calloc
#pragma weak __interceptor_realloc
#pragma weak __interceptor_aligned_alloc
void *__interceptor_malloc(size_t size);
void *__interceptor_calloc(size_t n, size_t size);
void *__interceptor_realloc(void *old, size_t size);
void *__interceptor_aligned_alloc(size_t alignment, size_t size);
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
	return is_due_memory("malloc", __builtin_return_address(0)) ? NULL : ALLOCATE(malloc, malloc, size);
}

void *calloc(size_t n, size_t size)
{
	return is_due_memory("calloc", __builtin_return_address(0)) ? NULL : ALLOCATE(calloc, calloc, n, size);
}

void *realloc(void *old, size_t size)
{
	return is_due_memory("realloc", __builtin_return_address(0)) ? NULL : ALLOCATE(realloc, realloc, old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return is_due_memory("aligned_alloc", __builtin_return_address(0))
		     ? NULL : ALLOCATE(aligned_alloc, memalign, alignment, size);
}
