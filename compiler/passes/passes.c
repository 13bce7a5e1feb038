/* SPDX-License-Identifier: MIT
 *
 * The table of passes, from passes.def. */
#include "passes/pass_private.h"

const struct pass passes[] = {
#define PASS(name, sentence, needs, gives, breaks) { #name, sentence, needs, gives, breaks, pass_##name },
#include "passes/passes.def"
#undef PASS
};

const int n_passes = (int) (sizeof passes / sizeof passes[0]);
