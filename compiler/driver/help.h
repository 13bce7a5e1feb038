/* SPDX-License-Identifier: MIT
 *
 * Usage, from the tables of commands, options and exit statuses: for a terminal, for man, and for docs/options.md. */
#ifndef PMGC_DRIVER_HELP_H
#define PMGC_DRIVER_HELP_H

#include <stdio.h>

void help_text(FILE *out);
void help_manual(FILE *out);
void help_markdown(FILE *out);
void help_passes(FILE *out);

#endif
