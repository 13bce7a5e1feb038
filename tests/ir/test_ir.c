/* SPDX-License-Identifier: MIT
 *
 * The module: its expressions, the reference interpreter, its text and its invariants. */
#include "ir/fixture.h"

int main(void)
{
	struct ir_tests tests = { 0 };

	ir_test_expr(&tests);
	ir_test_module(&tests);
	ir_test_programs(&tests);
	ir_test_values(&tests);
	ir_test_recurrences(&tests);
	ir_test_errors(&tests);
	ir_test_text(&tests);
	ir_test_verify(&tests);
	ir_test_storage(&tests);
	printf("%d passed, %d failed\n", tests.passed, tests.failed);
	return tests.failed != 0;
}
