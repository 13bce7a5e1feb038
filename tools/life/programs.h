/* SPDX-License-Identifier: MIT
 *
 * Programs of dsl_examples that `pmg life` and `pmg hines` compile and run: their texts are in the tool, which works
 * wherever it is installed. */
#ifndef TOOLS_LIFE_PROGRAMS_H
#define TOOLS_LIFE_PROGRAMS_H

extern const char program_sbbnnls[], program_sbbnnls_l1[], program_sbbnnls_signals[], program_hines[];

#endif
