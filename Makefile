# SPDX-License-Identifier: MIT
#
# The only build system. `make help` lists the goals. Sources are found by their place:
#   compiler/**/*.c, lexer.l, parser.y -> libpmgc.a and pmgc       runtime/**/*.c -> libpmgrt.a, libpmgrt.so
#   tools/*.c, tools/*/*.c             -> pmg, main of pmgc        tests/*/test_*.c -> tests/*/test_*
#   bench/*.c, bench/*/*.c             -> pmg, too; bench/handtuned/kernels/*.c once for each instruction set
# Each compiler and SAN=1 (address, undefined behaviour, leaks) has a folder of its own:
# build, build-clang, build-san, build-clang-san.

MAKEFLAGS += -rR -j$(shell nproc)
.DELETE_ON_ERROR:
.SUFFIXES:

ifneq ($(filter default undefined,$(origin CC)),)
CC := gcc
endif
ifneq ($(filter default undefined,$(origin AR)),)
AR := ar
endif
FLEX ?= flex
BISON ?= bison
PREFIX ?= /usr/local
export PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
export CC

family := $(if $(findstring clang,$(CC)),clang,gcc)
BUILD := build$(if $(filter clang,$(family)),-clang)$(if $(SAN),-san)
OBJ := $(BUILD)/obj

# ---- Flags ------------------------------------------------------------------------------------------------------

# Conversions lose values silently; shadowed names and missing prototypes hide mistakes between files; a switch over
# an enumeration names every case, so that a new kind is found by the compiler.
warnings := -Wall -Wextra -Wconversion -Wshadow -Wswitch-enum -Wstrict-prototypes -Wmissing-prototypes
# Errors for the compilers that the tests run with; a newer one's new warnings shall not stop a user's build.
version = $(family)-$(firstword $(subst ., ,$(shell $(CC) -dumpversion)))
WERROR = $(if $(filter gcc-11 gcc-12 clang-14,$(version)),-Werror)
# What flex and bison write is not ours to mend.
generated_warnings := -Wno-conversion -Wno-sign-compare -Wno-switch-enum -Wno-unused-function \
	-Wno-missing-prototypes -Wno-unused-but-set-variable

# Lines, for who looks at a backtrace or counts instructions, but no variables.
CFLAGS ?= $(if $(SAN),-O0,-O2) -g1
# A comma in an argument of a function.
, := ,
language := -std=c11 -D_GNU_SOURCE
sanitizers := $(if $(SAN),-fsanitize=address$(,)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -DSANITIZED)
# Of clang, too, the allocator is one that what is loaded before it takes the place of (tests/faults).
shared_sanitizers := $(if $(and $(SAN),$(filter clang,$(family))),\
	-shared-libasan -Wl$(,)-rpath$(,)$(shell $(CC) -print-runtime-dir))
openmp := -fopenmp
includes := -Icompiler -Iruntime -Itools -Ibench -Itests -I$(BUILD)
# Asked when first used, which is after `deps`; then known.
ask = $(eval $(1) := $$(shell pkg-config $(2) $(3) $(if $(4),|| pkg-config $(2) $(4))))$($(1))
isl_cflags = $(call ask,isl_cflags,--cflags,isl)
# isl and GMP as archives, where these are installed: a call within a shared library goes by its tables, which makes
# compiling a third slower.
linked = $(or $(wildcard $(shell pkg-config --variable=libdir $(1))/lib$(1).a),-l$(1))
isl_libs = $(eval isl_libs := $$(shell pkg-config --libs-only-L isl) $$(call linked,isl) $$(call linked,gmp))$(isl_libs)
hdf5_cflags = $(call ask,hdf5_cflags,--cflags,hdf5-serial,hdf5)
hdf5_libs = $(call ask,hdf5_libs,--libs,hdf5-serial,hdf5)
zip_cflags = $(call ask,zip_cflags,--cflags,libzip)
zip_libs = $(call ask,zip_libs,--libs,libzip)
# libnifti has no pkg-config file.
nifti_cflags := -isystem /usr/include/nifti
nifti_libs := -lnifti2 -lznz

# Recipes say what they make; V=1 shows the commands, -s nothing.
quiet = $(if $(V),,@$(if $(findstring s,$(firstword -$(MAKEFLAGS))),:,echo) "  $(1)  $@";)
compile = $(call quiet,CC  )$(CC) $(language) $(CFLAGS) $(sanitizers) $(warnings) $(WERROR) -MMD -MP $(includes) \
	$(part_flags)
link = $(call quiet,LINK)$(CC) $(CFLAGS) $(sanitizers) $(shared_sanitizers) $(openmp) $(LDFLAGS)

# ---- Files ------------------------------------------------------------------------------------------------------

object = $(patsubst %.c,$(OBJ)/%.o,$(1))

parser := $(if $(wildcard compiler/syntax/parser.y),$(BUILD)/syntax/parser.c)
lexer := $(if $(wildcard compiler/syntax/lexer.l),$(BUILD)/syntax/lexer.c)
error_pages := $(BUILD)/driver/error_pages.c
# Programs whose text the tools carry.
programs := $(BUILD)/life/programs.c
carried := dsl_examples/sbbnnls.pmg dsl_examples/life/sbbnnls_l1.pmg dsl_examples/life/sbbnnls_signals.pmg \
	dsl_examples/hines.pmg
compiler_main := $(wildcard compiler/driver/main.c tools/pmgc.c)
compiler := $(call object,$(filter-out $(compiler_main),$(wildcard compiler/*/*.c compiler/*/*/*.c))) \
	$(patsubst $(BUILD)/%.c,$(OBJ)/generated/%.o,$(parser) $(lexer) $(error_pages))
# What the runtime carries as a string.
opencl_text := $(BUILD)/opencl/text.c
opencl_parts := $(addprefix runtime/,pmgrt_opencl.cl pmgrt_storage.h pmgrt_arithmetic.h pmgrt_opencl_shared.h)
runtime := $(call object,$(wildcard runtime/*.c runtime/*/*.c)) $(opencl_text:$(BUILD)/%.c=$(OBJ)/generated/%.o)
tools_main := $(wildcard tools/pmg.c)
tools := $(call object,$(wildcard tools/*/*.c bench/*.c bench/*/*.c))
tools += $(patsubst $(BUILD)/%.c,$(OBJ)/generated/%.o,$(programs))
# Levels of the x86-64 psABI; elsewhere one build, called v1.
isas := v1 $(if $(filter x86_64,$(shell uname -m)),v3 v4)
tools += $(foreach isa,$(isas),$(patsubst %.c,$(OBJ)/%.$(isa).o,$(wildcard bench/handtuned/kernels/*.c)))
test_mains := $(wildcard tests/*/test_*.c)
# A program that a test runs.
test_helper := tests/counts/count.c
test_parts := $(call object,$(filter-out $(test_mains) $(test_helper),$(wildcard tests/*/*.c)))
tests := $(patsubst %.c,$(BUILD)/%,$(test_mains))
helper := $(patsubst %.c,$(BUILD)/%,$(test_helper))
objects := $(compiler) $(runtime) $(tools) $(test_parts) \
	$(call object,$(compiler_main) $(tools_main) $(test_mains) $(test_helper))
emulated := $(BUILD)/tests/cuda/emulated/cuda_runtime.h.gch
quick := $(BUILD)/tests/quick/pmgrt_generated.h.gch
examples := $(wildcard dsl_examples/*.pmg)

libpmgc := $(BUILD)/libpmgc.a
libpmgrt := $(BUILD)/libpmgrt.a
libpmgrt_so := $(BUILD)/libpmgrt.so
soname := libpmgrt.so.1
pmgc := $(if $(compiler_main),$(BUILD)/pmgc)
pmg := $(if $(tools_main),$(BUILD)/pmg)

# ---- Goals ------------------------------------------------------------------------------------------------------

.PHONY: all help deps demo demo-real test test-long test-gpu coverage unit-programs count-program fuzz objects bench \
	install generated bench-gpu counts lint format clean

all: $(pmgc) $(pmg) $(libpmgrt) $(libpmgrt_so)    ## pmgc, pmg and the runtime (default)

help:               ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12
	@echo 'Variables: CC=clang, SAN=1, V=1, CFLAGS, PREFIX, DESTDIR.'

# Goals that promise to run on a fresh machine install what is missing; the others only say what it is.
installing := $(filter deps demo demo-real test test-long coverage,$(MAKECMDGOALS))
deps:               ## install what is missing (apt-get, with sudo if need be); nothing if all is there
	@scripts/deps.sh $(if $(installing),install \
		$(if $(filter deps demo-real test% coverage,$(installing)),test),check)

demo: all           ## both LiFE products on a phantom: compile, run, check, explain; then a fit of its weights
	@BUILD=$(BUILD) scripts/demo.sh

demo-real: all      ## a real scan that dipy brings: streamlines encoded, fitted, evaluated and pruned
	@BUILD=$(BUILD) scripts/demo_real.sh

# The lanes run side by side and find everything built.
test: all unit-programs count-program   ## every lane of tests/lanes (18 minutes at most); SAN=1: unit, with sanitizers
	@BUILD=$(BUILD) tests/run $(if $(SAN),unit)

test-long: all unit-programs count-program  ## the same with more and larger cases
	@BUILD=$(BUILD) tests/run --long

# On a machine with a GPU; one program after another in each of several processes.
nvcc_arch ?= native
test-gpu: all unit-programs ## every program's kernels on the GPU, against the interpreter; nvcc_arch=sm_90
	@nvidia-smi -L >/dev/null || { echo 'test-gpu: there is no GPU, or no driver for it' >&2; exit 1; }
	@printf '%s\n' dsl_examples/*.pmg dsl_examples/life/*.pmg tests/programs/*.pmg tests/random/*.pmg \
		tests/random/scheduled/*.pmg tests/cuda/*.pmg tests/codegen/cases/*.pmg | \
		PMG_NVCC="nvcc -arch=$(nvcc_arch)" BUILD=$(BUILD) \
		xargs -P $$(nproc) -n 1 $(BUILD)/tests/cuda/test_emulated
	@PMG_NVCC="nvcc -arch=$(nvcc_arch)" BUILD=$(BUILD) $(BUILD)/tests/runtime/test_device
	@PMG_NVCC="nvcc -arch=$(nvcc_arch)" BUILD=$(BUILD) $(PYTHON) tests/cuda/test_buffers.py
	@PMG_NVCC="nvcc -arch=$(nvcc_arch)" BUILD=$(BUILD) $(PYTHON) tests/cuda/test_quotients.py
	@BUILD=$(BUILD) tests/cuda/sanitize "nvcc -arch=$(nvcc_arch)"

# Optimised code has no line to count; the counts of threads are added up.
coverage:           ## lines of compiler and runtime that tests reach; build-cov/uncovered lists the others
	@$(MAKE) BUILD=build-cov CC=gcc CFLAGS='-O0 -g --coverage -fprofile-update=atomic' LDFLAGS=--coverage \
		all unit-programs
	@$(PYTHON) scripts/coverage.py build-cov

fuzz:               ## libFuzzer targets of the front end and of the readers of files, into build-fuzz/fuzz
	@$(PYTHON) tests/fuzz/fuzz.py build

unit-programs: $(tests) $(emulated) $(quick) all

objects: $(objects)

bench: all          ## generated beside hand-written code for LiFE, small (minutes); docs/bench.md
	@BUILD=$(BUILD) bench/run

bench-gpu: all      ## the same on a GPU, with DS1's size, writes JSON; nvcc_arch=sm_90, shapes=1, systems=1 or blocks
	@BUILD=$(BUILD) NVCC_ARCH=$(nvcc_arch) SHAPES=$(or $(shapes),0) SYSTEMS=$(or $(systems),0) PYTHON=$(PYTHON) \
		bench/run-gpu

GENERATED ?= generated
generated: $(pmgc)  ## what pmgc emits for dsl_examples, into generated/ (kernels for CUDA: generated/cuda)
	@mkdir -p $(GENERATED)/cuda
	@set -e; for example in $(examples); do \
		name=$$(basename $$example .pmg); \
		$(pmgc) $$example --target=openmp -o $(GENERATED)/$$name.c; \
		$(pmgc) $$example --target=cuda --emit=cu -o - > $(GENERATED)/cuda/$$name.cu; done

counts: all $(helper)       ## instructions of the examples' kernels as they are now, into tests/counts/counts.tsv
	@$(PYTHON) tests/counts/counts.py $(BUILD) --update

count-program: $(helper)

lint: all           ## the rules of docs/STYLE.md that a script can check
	@BUILD=$(BUILD) $(PYTHON) tests/lint/lint.py

format:             ## clang-format over our C files, in place
	clang-format -i $$(git ls-files '*.c' '*.h' ':!generated')

install: all        ## into PREFIX (/usr/local), below DESTDIR
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin lib/pkgconfig include/tune share/doc/pmgc share/man/man1)
	install -m 755 $(pmgc) $(pmg) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(addprefix runtime/,pmgrt.h pmgrt_description.h pmgrt_generated.h \
		pmgrt_each_real.h pmgrt_block.h pmgrt_block_real.h pmgrt_isa_begin.h pmgrt_isa_end.h pmgrt_lanes.h \
		pmgrt_arithmetic.h pmgrt_openmp.h \
		pmgrt_math.h pmgrt_pipeline.h pmgrt_pivot.h pmgrt_ragged.h pmgrt_ragged_real.h pmgrt_row.h \
		pmgrt_square.h pmgrt_square_real.h pmgrt_storage.h pmgrt_thread.h \
		pmgrt_blas.h pmgrt_blas_real.h pmgrt_cuda.h pmgrt_cuda_row.h pmgrt_cuda_plan.h pmgrt_cuda_graph.h \
		pmgrt_cuda_block.h pmgrt_cuda_loop.h pmgrt_cuda_inspect.h pmgrt_cuda_live.h pmgrt_live.h \
		pmgrt_opencl.h pmgrt_opencl_plan.h pmgrt_opencl_shared.h) $(DESTDIR)$(PREFIX)/include
	install -m 644 runtime/tune/memory_policy.h $(DESTDIR)$(PREFIX)/include/tune
	install -m 644 $(libpmgrt) $(DESTDIR)$(PREFIX)/lib
	install -m 755 $(BUILD)/$(soname) $(DESTDIR)$(PREFIX)/lib
	ln -sf $(soname) $(DESTDIR)$(PREFIX)/lib/libpmgrt.so
	sed 's|@PREFIX@|$(PREFIX)|' scripts/pmgrt.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/pmgrt.pc
	install -m 644 LICENSE README.md $(DESTDIR)$(PREFIX)/share/doc/pmgc
	install -m 644 docs/pmgc.1 $(DESTDIR)$(PREFIX)/share/man/man1

clean:
	rm -rf build build-clang build-san build-clang-san build-fuzz build-cov

# ---- Rules ------------------------------------------------------------------------------------------------------

$(objects) $(parser) $(lexer) $(programs) $(opencl_text): | deps

$(OBJ)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(compile) -c $< -o $@

# As fast as generated code may be made: its flags, for processors of each level. Sanitizers in code of such loops take
# long to optimise; without optimisation, gcc says that it unrolls none.
kernels_level := $(if $(SAN),0,3)
isa_flags = -O$(kernels_level) $(if $(SAN),$(if $(filter gcc,$(family)),-w)) \
	-ffp-contract=fast -fno-math-errno -fwrapv \
	-DISA=$(1) $(if $(filter v1,$(1)),,-march=x86-64-$(1)) \
	$(if $(filter clang,$(family)),-Wno-pass-failed,-Wno-psabi)
define kernels_rule
$(OBJ)/bench/handtuned/kernels/%.$(1).o: bench/handtuned/kernels/%.c Makefile
	@mkdir -p $$(@D)
	$$(compile) $$(call isa_flags,$(1)) -c $$< -o $$@
endef
$(foreach isa,$(isas),$(eval $(call kernels_rule,$(isa))))

$(OBJ)/generated/%.o: $(BUILD)/%.c Makefile
	@mkdir -p $(@D)
	$(compile) -c $< -o $@

# Sanitizers' checks take longer to optimise than to run, but for those of the runtime, whose tests have much data; of
# that, copies of blocks, which are read for each type, take longer, too.
$(OBJ)/runtime/%.o: CFLAGS += $(if $(SAN),-O1)
$(call object,$(wildcard runtime/layout/block_copy*.c)): CFLAGS += $(if $(SAN),-O0)
# Where locals outlive their functions to be watched, gcc 12 aligns none to 64 bytes, and moves vectors as if it did
# (its bug 110027).
%_avx512.o: sanitizers += $(if $(SAN),$(if $(filter gcc,$(family)),--param=asan-use-after-return=0))

$(OBJ)/compiler/%.o $(OBJ)/generated/%.o: part_flags = $(isl_cflags) -fvisibility=hidden
$(OBJ)/generated/%.o: part_flags += -Icompiler/syntax $(generated_warnings)
$(OBJ)/runtime/%.o $(OBJ)/generated/opencl/%.o: part_flags = -fPIC -fvisibility=hidden $(openmp)
$(OBJ)/tools/%.o $(OBJ)/bench/%.o $(OBJ)/tests/%.o: part_flags = $(openmp) $(isl_cflags) $(hdf5_cflags) $(zip_cflags) \
	$(nifti_cflags)

# $(call at_least,TOOL,VERSION)
at_least = @printf '%s\n' $(2) "$$($(1) --version | sed -n '1s/.* //p')" | sort -VC || \
	{ echo "$(1) $(2) or newer is needed" >&2; exit 1; }

$(BUILD)/syntax/%.c $(BUILD)/syntax/%.h: compiler/syntax/%.y
	$(call at_least,$(BISON),3.6)
	@mkdir -p $(@D)
	$(call quiet,GEN )$(BISON) -Wall -Werror --defines=$(BUILD)/syntax/$*.h -o $(BUILD)/syntax/$*.c $<

$(BUILD)/syntax/%.c $(BUILD)/syntax/%.h: compiler/syntax/%.l
	$(call at_least,$(FLEX),2.6.0)
	@mkdir -p $(@D)
	$(call quiet,GEN )$(FLEX) --header-file=$(BUILD)/syntax/$*.h -o $(BUILD)/syntax/$*.c $<

$(error_pages): scripts/error_pages.sh $(wildcard docs/errors/*.md)
	@mkdir -p $(@D)
	$(call quiet,GEN )scripts/error_pages.sh $(wildcard docs/errors/*.md) > $@

$(programs): scripts/embed.sh $(carried) Makefile
	@mkdir -p $(@D)
	$(call quiet,GEN )scripts/embed.sh life/programs.h $(carried) > $@

$(opencl_text): scripts/opencl_text.sh $(opencl_parts) Makefile
	@mkdir -p $(@D)
	$(call quiet,GEN )scripts/opencl_text.sh $(opencl_parts) > $@

# Both headers exist before anything that may include them is compiled.
$(compiler) $(test_parts) $(call object,$(compiler_main) $(test_mains) $(test_helper)): | $(parser) $(lexer)

$(libpmgc): $(compiler)
$(libpmgrt): $(runtime)
$(BUILD)/libpmgtools.a: $(tools)
# What the tests of one folder share, which a test sees first, and all that tests share.
$(BUILD)/libpmgtest.a: $(test_parts)
$(foreach folder,$(sort $(dir $(tests) $(helper))),\
	$(eval $(folder)libparts.a: $(filter $(folder:$(BUILD)/%=$(OBJ)/%)%,$(test_parts))))
%.a:
	@rm -f $@
	@mkdir -p $(@D)
	$(call quiet,AR  )$(AR) qcs $@ $^

# What every .cu file reads first that tests/cuda/emulated/nvcc compiles. A header beside it, for who includes it again.
$(emulated): tests/cuda/emulated/cuda_runtime.h tests/cuda/emulated/nvcc
	@mkdir -p $(@D)
	@cp $< $(@D)
	$(call quiet,CXX )tests/cuda/emulated/nvcc --header $@

# What programs include that tests/quick/gcc compiles, likewise.
$(quick): runtime/pmgrt_generated.h tests/quick/gcc $(wildcard runtime/*.h runtime/*/*.h)
	@mkdir -p $(@D)
	@cp $< $(@D)
	$(call quiet,CC  )tests/quick/gcc --header $@

$(BUILD)/$(soname): $(runtime)
	$(link) -shared -Wl,-soname,$(soname) $^ -o $@ -lm
$(libpmgrt_so): $(BUILD)/$(soname)
	@ln -sf $(soname) $@

tool_libs = -L$(BUILD) -lpmgrt $(isl_libs) $(hdf5_libs) $(zip_libs) $(nifti_libs) -lz -ldl -lm

$(BUILD)/pmgc: $(call object,$(compiler_main)) $(BUILD)/libpmgtools.a $(libpmgc)
	$(link) $^ $(isl_libs) -lz -lm -o $@

$(BUILD)/pmg: $(call object,$(tools_main)) $(BUILD)/libpmgtools.a $(libpmgc) | $(libpmgrt_so)
	$(link) $^ -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../lib' $(tool_libs) -o $@

# What the runtime's shared library hides, tests of it find in its archive.
.SECONDEXPANSION:
$(tests) $(helper): $(BUILD)/%: $(OBJ)/%.o $$(@D)/libparts.a $(BUILD)/libpmgtest.a $(BUILD)/libpmgtools.a $(libpmgc) \
		| $(libpmgrt_so) $(libpmgrt)
	@mkdir -p $(@D)
	$(link) $^ -Wl,-rpath,'$$ORIGIN/../..' $(tool_libs) -Wl,--as-needed -lopenblas $(libpmgrt) -o $@

.SECONDARY:
-include $(objects:.o=.d)
