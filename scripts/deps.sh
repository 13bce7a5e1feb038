#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What the build and its tests need from the system. Each need is tried, not looked up in a package list, so that a
# machine that has it in another way is left alone; only for what fails are packages installed (Debian, Ubuntu).
#
#   scripts/deps.sh check             says what building lacks; changes nothing
#   scripts/deps.sh install [test]    installs what building (and testing) lacks

set -u
cc=${CC:-gcc}
python=${PYTHON:-python3}
missing=()   # packages
lacking=()   # what for

need() # package, description, command that succeeds when it is there
{
	local package=$1 what=$2
	shift 2
	"$@" > /dev/null 2>&1 && return
	missing+=("$package")
	lacking+=("$what")
}

at_least() # tool, version: the last word of the first line of `tool --version`
{
	local have
	have=$("$1" --version 2> /dev/null | sed -n '1s/.* //p')
	[ -n "$have" ] && printf '%s\n' "$2" "$have" | sort -VC
}

includes() # header, pkg-config name, further directory
{
	local flags
	flags=$(pkg-config --cflags "$2" 2> /dev/null) || flags="-I${3:-/usr/include}"
	# shellcheck disable=SC2086
	printf '#include <%s>\n' "$1" | "$cc" $flags -E -x c -
}

build_needs()
{
	need gcc 'a C compiler' command -v "$cc"
	need libc6-dev 'the C library headers' includes stdio.h none
	need pkg-config 'pkg-config' command -v pkg-config
	need bison 'bison 3.6' at_least bison 3.6
	need flex 'flex 2.6' at_least flex 2.6
	need libisl-dev 'isl headers' includes isl/schedule_node.h isl
	need libgmp-dev 'GMP, which isl links to' includes gmp.h gmp
	need libhdf5-dev 'HDF5 headers' includes hdf5.h hdf5-serial /usr/include/hdf5/serial
	need zlib1g-dev 'zlib headers' includes zlib.h zlib
	need libnifti-dev 'libnifti' includes nifti2_io.h none /usr/include/nifti
	need libzip-dev 'libzip' includes zip.h libzip
}

test_needs()
{
	need git 'git' command -v git
	need clang 'clang' command -v clang
	need g++ 'a C++ compiler, for pmgrt.h' command -v g++
	need libomp-dev 'OpenMP for clang' clang_openmp
	need "$(clang_runtime)" 'the sanitizers of clang' clang_sanitizers
	need libopenblas-dev 'OpenBLAS, which generated code may call' links -lopenblas
	need binutils 'objdump' command -v objdump
	need valgrind 'valgrind, to count instructions and to check memory' command -v valgrind
	need gcovr 'gcovr, for \`make coverage\`' command -v gcovr
	need opencl-headers 'the headers of OpenCL' includes CL/cl.h none
	need ocl-icd-opencl-dev 'the loader of OpenCL' links -lOpenCL
	need pocl-opencl-icd 'OpenCL for this processor' has_opencl
	need libopenblas0 'a BLAS, for hand-written kernels' has_library libopenblas.so.0
	need python3 'Python 3' command -v "$python"
	need python3-pip 'pip, for simulators whose numbers are compared' "$python" -m pip --version
	need python3-setuptools 'setuptools, which NEURON asks for' "$python" -c 'import setuptools'
	need python3-packaging 'packaging, which NEURON asks for' "$python" -c 'import packaging'
	need python3-numpy 'NumPy' "$python" -c 'import numpy'
	need python3-scipy 'SciPy' "$python" -c 'import scipy'
	need python3-h5py 'h5py' "$python" -c 'import h5py'
	need python3-nibabel 'nibabel, which dipy reads images with' "$python" -c 'import nibabel'
	need python3-dipy 'dipy, and scans with it' "$python" -c 'import dipy.data'
}

links() # option of the linker
{
	echo 'int main(void) { return 0; }' | "$cc" -x c - "$1" -o /dev/null
}

has_opencl() # a platform of any vendor
{
	ls /etc/OpenCL/vendors/*.icd
}

has_library() # file name
{
	{ ldconfig -p || /sbin/ldconfig -p; } | grep -F "$1"
}

clang_runtime() # the package, which has the version in its name
{
	clang -dumpversion 2> /dev/null | sed 's/\..*//; s/.*/libclang-rt-&-dev/' | grep . || echo clang
}

clang_sanitizers()
{
	[ -n "$(find "$(clang -print-resource-dir)" -name 'libclang_rt.tsan*' -print -quit)" ]
}

clang_openmp()
{
	printf '#include <omp.h>\n' | clang -fopenmp -E -x c -
}

install_packages()
{
	local sudo=
	if ! command -v apt-get > /dev/null; then
		echo "deps: please install: ${lacking[*]} (in Debian's names: ${missing[*]})" >&2
		return 1
	fi
	[ "$(id -u)" = 0 ] || sudo=sudo
	$sudo apt-get update -q &&
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}"
}

report()
{
	local i
	for i in "${!missing[@]}"; do
		echo "deps: ${lacking[i]} missing (package ${missing[i]})" >&2
	done
}

needs()
{
	missing=() lacking=()
	build_needs
	[ "$1" = test ] && test_needs
	[ ${#missing[@]} = 0 ]
}

case ${1:-} in
check)
	needs build && exit 0
	report
	echo "deps: run \`make deps\`" >&2
	exit 1
	;;
install)
	# Twice, because the sanitizers of clang go by the version that the first round brought.
	for _ in 1 2; do
		needs "${2:-build}" && exit 0
		report
		install_packages || exit 1
	done
	needs "${2:-build}" && exit 0
	report
	exit 1
	;;
*)
	echo "usage: $0 check | install [test]" >&2
	exit 2
	;;
esac
