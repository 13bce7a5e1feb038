/* SPDX-License-Identifier: MIT
 *
 * Preloaded: the call number FAULT_AT (from 1) of those that bring an output to disk fails, as on a full disk, and
 * its name is put into the file FAULT_LOG. Only in pmg and pmgc themselves, not in what they start. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

int mkstemp64(char *name);

static void log_name(const char *name)
{
	const char *path = getenv("FAULT_LOG");
	long fd = path ? syscall(SYS_open, path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;

	if (fd >= 0) {
		syscall(SYS_write, fd, name, strlen(name));
		syscall(SYS_close, fd);
	}
}

static bool is_due(const char *name)
{
	static int n_calls;
	const char *at = getenv("FAULT_AT"), *program = program_invocation_short_name;

	if (!at || (strcmp(program, "pmg") && strcmp(program, "pmgc")) || ++n_calls != atoi(at))
		return false;
	log_name(name);
	errno = ENOSPC;
	return true;
}

/* The function of that name behind this one. */
#define NEXT(name) (*(__typeof__(&name) *) (void *) &(void *) { dlsym(RTLD_NEXT, #name) })

static bool is_output(FILE *file)
{
	return fileno(file) > STDERR_FILENO && (fcntl(fileno(file), F_GETFL) & O_ACCMODE) != O_RDONLY;
}

static bool is_file(int fd)
{
	return fd > STDERR_FILENO && lseek(fd, 0, SEEK_CUR) >= 0;
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

FILE *fopen(const char *path, const char *mode)
{
	return mode[0] != 'r' && is_due("fopen") ? NULL : NEXT(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return mode[0] != 'r' && is_due("fopen") ? NULL : NEXT(fopen64)(path, mode);
}

FILE *fdopen(int fd, const char *mode)
{
	return mode[0] != 'r' && is_due("fdopen") ? NULL : NEXT(fdopen)(fd, mode);
}

int mkstemp(char *name)
{
	return is_due("mkstemp") ? -1 : NEXT(mkstemp)(name);
}

int mkstemp64(char *name)
{
	return is_due("mkstemp") ? -1 : NEXT(mkstemp64)(name);
}

static mode_t mode_of(int flags, va_list args)
{
	return flags & O_CREAT ? va_arg(args, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return (flags & O_ACCMODE) != O_RDONLY && is_due("open") ? -1 : NEXT(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return (flags & O_ACCMODE) != O_RDONLY && is_due("open") ? -1 : NEXT(open64)(path, flags, mode);
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
