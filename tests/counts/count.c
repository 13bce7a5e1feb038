/* SPDX-License-Identifier: MIT
 *
 * Plans and executes a pipeline of a library that is built already, once, on one thread: what callgrind looks at.
 *
 *   count FILE.pmg PIPELINE LIBRARY NAME=VALUE… */
#include "run/run.h"

int main(int argc, char **argv)
{
	struct arena arena = { 0 };
	struct session s = { .arena = &arena, .values = run_values_default() };
	struct results results = { 0 };
	struct execution e = { 0 };
	struct failure failure = { 0 };
	word_list words = { 0 };
	double seconds;
	if (argc < 4)
		return OUTCOME_USAGE;
	s.values.pipeline = argv[2];
	s.values.threads = 1;
	for (int i = 4; i < argc; i++)
		vec_push(&arena, &words, argv[i]);
	bool ok = session_open(&s, argv[1], &failure) && session_bind(&s, &words, 0, &failure) &&
		  results_new(&s, &results, &failure) && library_load(&s, argv[3], &results, &e, &failure) &&
		  library_plan(&e, &failure) && library_execute(&e, &seconds, &failure);
	library_close(&e);
	results_free(&s, &results);
	session_free(&s);
	arena_release(&arena);
	return ok ? OUTCOME_OK : failure_report(&failure, "count");
}
