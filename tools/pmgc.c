/* SPDX-License-Identifier: MIT
 *
 * pmgc: the compiler with what it takes from the tools, a reader for shapes of neurons. */
#include "driver/main.h"
#include "hines/tree_file.h"

int main(int argc, char **argv)
{
	return pmgc_main(argc, argv, tree_file_read);
}
