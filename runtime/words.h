/* SPDX-License-Identifier: MIT
 *
 * What data must be like, in the words in which the runtime and the reference interpreter both refuse others, and the
 * words that PMG_ISA takes, which the runtime reads and pmg asks for ahead. */
#ifndef PMGRT_WORDS_H
#define PMGRT_WORDS_H

#define WORDS_OF_TREE "a parent is -1 or comes before its child"
#define WORDS_OF_LOCAL_TREE "a parent, counted in its own system, is -1 or comes before its child"
#define WORDS_OF_FINITE "only finite values are accepted"
#define WORDS_OF_PIVOTS \
	"elimination exchanges no rows, so that it solves only systems without such pivots, as those are in which " \
	"the diagonal dominates"

/* By number of the instruction set; as a sentence. */
#define NAMES_OF_ISAS "baseline", "avx2", "avx512"
#define WORDS_OF_ISAS "baseline, avx2 or avx512"

#endif
