/* SPDX-License-Identifier: MIT
 *
 * Looks for OpenBLAS first, then for whatever offers the interface. */
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

static void *open_library(const char *name)
{
	void (*set_threads)(int);
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (library && find(library, "openblas_set_num_threads", &set_threads))
		set_threads(1);
	return library;
}

bool blas_open(struct blas *blas)
{
	static const char *const names[] = { "libopenblas.so.0", "libopenblas.so", "libcblas.so.3", "libblas.so.3" };
	*blas = (struct blas){ 0 };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !blas->library; i++) {
		blas->library = open_library(names[i]);
		if (blas->library && !(find(blas->library, "cblas_daxpy", &blas->daxpy) &&
				       find(blas->library, "cblas_ddot", &blas->ddot)))
			blas_close(blas);
	}
	return blas->library;
}

void blas_close(struct blas *blas)
{
	if (blas->library)
		dlclose(blas->library);
	blas->library = NULL;
}

bool lapack_open(struct lapack *lapack)
{
	static const char *const names[] = { "libopenblas.so.0", "libopenblas.so", "liblapack.so.3" };
	*lapack = (struct lapack){ 0 };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !lapack->library; i++) {
		lapack->library = open_library(names[i]);
		if (lapack->library && !(find(lapack->library, "dgtsv_", &lapack->dgtsv) &&
					 find(lapack->library, "dptsv_", &lapack->dptsv) &&
					 find(lapack->library, "sgtsv_", &lapack->sgtsv) &&
					 find(lapack->library, "sptsv_", &lapack->sptsv)))
			lapack_close(lapack);
	}
	return lapack->library;
}

void lapack_close(struct lapack *lapack)
{
	if (lapack->library)
		dlclose(lapack->library);
	lapack->library = NULL;
}
