/* SPDX-License-Identifier: MIT
 *
 * The number of threads of a BLAS belongs to the process, and so does what is remembered of it here: how many kernels
 * are inside that want it to be one, and what it was before the first of them. The last one sets it back. While kernels
 * that call one library run, those of another take it as it is. */
#include "plan/plan.h"

#include <pthread.h>

static struct {
	pthread_mutex_t lock;
	const pmg_blas *of;
	int64_t inside;
	int before;
} library = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_same(const pmg_blas *one, const pmg_blas *other)
{
	return one && other && one->set_threads == other->set_threads;
}

void blas_enter(const pmg_blas *blas)
{
	if (!blas || !blas->get_threads || !blas->set_threads)
		return;
	pthread_mutex_lock(&library.lock);
	if (!library.inside) {
		library.of = blas;
		library.before = blas->get_threads();
		if (library.before != 1)
			blas->set_threads(1);
	}
	library.inside += is_same(library.of, blas);
	pthread_mutex_unlock(&library.lock);
}

void blas_leave(const pmg_blas *blas)
{
	if (!blas || !blas->get_threads || !blas->set_threads)
		return;
	pthread_mutex_lock(&library.lock);
	if (is_same(library.of, blas) && library.inside && !--library.inside && library.before != 1)
		blas->set_threads(library.before);
	pthread_mutex_unlock(&library.lock);
}
