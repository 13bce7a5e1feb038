/* SPDX-License-Identifier: MIT
 *
 * How a command that takes time goes, on the standard error. */
#include "cli/cli.h"

#include <stdarg.h>
#include <time.h>
#include <unistd.h>

double clock_now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

bool progress_is_overwritten(void)
{
	return isatty(STDERR_FILENO);
}

void progress_tell(const char *format, ...)
{
	bool is_overwritten = progress_is_overwritten();
	va_list arguments;
	va_start(arguments, format);
	if (is_overwritten)
		fputc('\r', stderr);
	vfprintf(stderr, format, arguments);
	fputs(is_overwritten ? "\033[K" : "\n", stderr);
	fflush(stderr);
	va_end(arguments);
}

void progress_forget(void)
{
	if (progress_is_overwritten())
		fputs("\r\033[K", stderr);
}
