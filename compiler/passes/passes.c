/* SPDX-License-Identifier: MIT
 *
 * The table of passes, from passes.def. A pass that stands before one that it must follow does not compile. */
#include "passes/pass_private.h"

#define AFTER(name, earlier, reason)

enum place {
#define PASS(name, sentence, needs, gives, breaks) PLACE_##name,
#include "passes/passes.def"
#undef PASS
	PLACE_N
};

const struct pass passes[] = {
#define PASS(name, sentence, needs, gives, breaks) { #name, sentence, needs, gives, breaks, pass_##name },
#include "passes/passes.def"
#undef PASS
};

const int n_passes = PLACE_N;

#undef AFTER
#define PASS(name, sentence, needs, gives, breaks)
#define AFTER(name, earlier, reason) \
	_Static_assert(PLACE_##name > PLACE_##earlier, "pass " #name " must follow " #earlier ": " reason);
#include "passes/passes.def"
#undef AFTER
#undef PASS
