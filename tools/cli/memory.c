/* SPDX-License-Identifier: MIT
 *
 * How much memory a command may take: --max-mem=BYTES, and how bytes are told. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"

/* Of "G" or "GiB" 1024³, of "GB" 1000³, of "B" or nothing 1; 0: no such unit. */
static double unit_bytes(const char *unit)
{
	static const char prefixes[] = "KMGT";
	const char *prefix = *unit ? strchr(prefixes, toupper((unsigned char) *unit)) : NULL;
	const char *rest = prefix ? unit + 1 : unit;
	double power = prefix ? (double) (prefix - prefixes + 1) : 0;
	if (strcasecmp(rest, "B") == 0)
		return pow(1000, power);
	return !*rest || (prefix && strcasecmp(rest, "iB") == 0) ? pow(1024, power) : 0;
}

bool take_memory(const char *text, int64_t *bytes, struct failure *failure)
{
	char number[64];
	double value;
	if (!text)
		return true;
	size_t n = strcspn(text, "BKMGTbkmgt");
	snprintf(number, sizeof(number), "%.*s", (int) n, text);
	double unit = unit_bytes(text + n);
	if (unit > 0 && parse_real(number, &value) && value > 0 && value * unit < 1e18) {
		*bytes = (int64_t) (value * unit);
		return true;
	}
	fail(failure, OUTCOME_USAGE, "--max-mem=%s: a number of bytes is needed", text);
	fail_help(failure, "--max-mem=4G is 4 GiB, 4GB is 4e9 bytes; there are K, M, G and T");
	return false;
}

const char *bytes_text(int64_t bytes, char *text, size_t size)
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
	double value = (double) bytes;
	size_t unit = 0;
	for (; value >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		value /= 1000;
	snprintf(text, size, "%.*f %s", unit && value < 100 ? 1 : 0, value, units[unit]);
	return text;
}

bool memory_suffices(int64_t bytes, int64_t most, const char *max_mem, struct failure *failure)
{
	char needed[32];
	return !most || bytes <= most ||
	       fail(failure, OUTCOME_RESOURCES, "%s are needed, --max-mem allows %s",
		    bytes_text(bytes, needed, sizeof(needed)), max_mem);
}
