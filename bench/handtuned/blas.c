/* SPDX-License-Identifier: MIT
 *
 * Looks for OpenBLAS first, then for whatever offers the C interface. */
#include "blas.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* A function of the library as what `function` points to; false: it has none of the name. */
static bool find(void *library, const char *name, void *function)
{
	void *symbol = dlsym(library, name);
	memcpy(function, &symbol, sizeof(symbol));
	return symbol;
}

bool blas_open(struct blas *blas)
{
	static const char *const names[] = { "libopenblas.so.0", "libopenblas.so", "libcblas.so.3", "libblas.so.3" };
	void (*set_threads)(int);
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	*blas = (struct blas){ 0 };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !blas->library; i++) {
		blas->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
		if (blas->library && !(find(blas->library, "cblas_daxpy", &blas->daxpy) &&
				       find(blas->library, "cblas_ddot", &blas->ddot)))
			blas_close(blas);
	}
	if (blas->library && find(blas->library, "openblas_set_num_threads", &set_threads))
		set_threads(1);
	return blas->library;
}

void blas_close(struct blas *blas)
{
	if (blas->library)
		dlclose(blas->library);
	blas->library = NULL;
}
