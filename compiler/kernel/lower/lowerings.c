/* SPDX-License-Identifier: MIT
 *
 * The table of lowerings, from lowerings.def. One that stands before another that it must follow does not compile. */
#include <string.h>

#include "kernel/lower/lower_private.h"

#define AFTER(name, earlier, reason)

enum place {
#define LOWERING(name, sentence, needs, gives) PLACE_##name,
#include "kernel/lower/lowerings.def"
#undef LOWERING
	PLACE_N
};

const struct k_lowering k_lowerings[] = {
#define LOWERING(name, sentence, needs, gives) { #name, sentence, needs, gives, lower_##name },
#include "kernel/lower/lowerings.def"
#undef LOWERING
};

const int k_n_lowerings = PLACE_N;

#undef AFTER
#define LOWERING(name, sentence, needs, gives)
#define AFTER(name, earlier, reason) \
	_Static_assert(PLACE_##name > PLACE_##earlier, "lowering " #name " must follow " #earlier ": " reason);
#include "kernel/lower/lowerings.def"
#undef AFTER
#undef LOWERING

int k_lowering_find(const char *name)
{
	for (int i = 0; i < k_n_lowerings; i++)
		if (strcmp(k_lowerings[i].name, name) == 0)
			return i;
	return K_BUILT;
}
