# Thin front of CMake and its presets. `make` builds and touches nothing outside this folder; `make setup` installs the
# Debian packages the project needs, and so do `make demo` and `make test`, which do everything.

BUILD ?= build
JOBS ?= $(shell nproc)
PACKAGES = gcc cmake make pkg-config libopenblas-openmp-dev liblapacke-dev librandom123-dev zlib1g-dev libjansson-dev \
           node-d3
TEST_PACKAGES = libcmocka-dev
MPI_PACKAGES = openmpi-bin libopenmpi-dev
PYTHON_PACKAGES = python3 python3-venv python3-pip python3-setuptools python3-wheel python3-numpy python3-sklearn \
                  python3-pandas python3-matplotlib python3-pytest python3-onnx mypy
R_PACKAGES = r-base-dev r-cran-testthat r-cran-knitr r-cran-rmarkdown pandoc r-cran-recipes r-cran-ggplot2 r-cran-generics
R_TEST_PACKAGES = devscripts qpdf
DEB_PACKAGES = dpkg-dev fakeroot file lintian
DOCS_PACKAGES = python3-sphinx python3-breathe doxygen python3-myst-parser furo node-normalize.css python3-sphinx-gallery \
                python3-sphinx-copybutton libjs-katex python3-numpy python3-sklearn python3-matplotlib python3-pandas
VENV ?= .venv

.PHONY: all check-packages build-programs setup-programs setup demo test bench paper-quick sanitize clang-test threads coverage torture fuzz python \
        python-test onnx-test r r-test r-torture r-compare docs docs-test abi abi-update deb deb-test release release-test cross-test format tidy install \
        clean

.NOTPARALLEL: # one thing after the other here; the builds are parallel

all: check-packages build-programs

# Compiler warnings and errors are shown, what goes well is not. A folder that is new is set up without the tests.
build-programs:
	@test -f $(BUILD)/cmake_install.cmake || { echo "building stonet in $(BUILD)/" >&2; \
	    cmake --preset release -B $(BUILD) -DSTONET_TESTS=OFF > /dev/null; }
	@cmake --build $(BUILD) -j $(JOBS) --target stonet stonet-paper stonet_shared stonet_static stonet_manuals > /dev/null

check-packages:
	@cmake/setup.sh --check $(PACKAGES)

setup-programs:
	@cmake/setup.sh $(PACKAGES)

setup: setup-programs
	@cmake/setup.sh $(TEST_PACKAGES)

# For several processes under mpirun; without it they are left out of the build, and their tests say so.
.PHONY: setup-mpi
setup-mpi: setup
	@cmake/setup.sh $(MPI_PACKAGES)

demo: setup-programs build-programs
	@$(BUILD)/bin/stonet demo

test: setup
	@cmake --preset release -B $(BUILD) -DSTONET_TESTS=ON > /dev/null
	@cmake --build $(BUILD) -j $(JOBS)
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(JOBS)

# Speed against the machine and against PyTorch; fills in docs/performance.md. `make bench QUICK=1`: a short look.
bench: setup
	@cmake/setup.sh libsleef-dev python3-torch
	@cmake --preset bench -B $(BUILD)-bench > /dev/null
	@cmake --build $(BUILD)-bench -j $(JOBS) --target stonet-bench
	@/usr/bin/python3 bench/run.py --program $(BUILD)-bench/bin/stonet-bench --out $(BUILD)-bench/results \
	    $(if $(QUICK),--quick,--docs docs)

.PHONY: gpu bench-gpu
# The CUDA engine's module (engine=cuda), where CUDA's compiler is: $(BUILD)/lib/libstonet-cuda.so.
gpu: check-packages build-programs
	@cmake -B $(BUILD) > /dev/null
	@if grep -q "^STONET_NVCC:.*NOTFOUND" $(BUILD)/CMakeCache.txt; then \
	    echo "make gpu needs nvcc, CUDA's compiler: put its folder into PATH" >&2; exit 1; fi
	@cmake --build $(BUILD) --target stonet_cuda

# Speed on a GPU against PyTorch on it, to be run where there is one (python3 with torch).
bench-gpu: setup
	@cmake/setup.sh libsleef-dev
	@cmake --preset bench -B $(BUILD)-bench > /dev/null
	@cmake --build $(BUILD)-bench -j $(JOBS) --target stonet-bench-gpu stonet_cuda stonet_gpu_rates
	@STONET_CUDA=$(BUILD)-bench/lib/libstonet-cuda.so python3 bench/gpu.py --programs $(BUILD)-bench/bin

# How often every test of independence rejects what is independent, and finds what is not (docs/sufficiency.md). All of
# it takes hours; LEVEL_TABLES=50 LEVEL_ROWS=100 is a short look.
LEVEL_TABLES ?= 200
LEVEL_ROWS ?= 100 500 2000
.PHONY: levels
levels: setup
	@cmake --preset release -B $(BUILD) -DSTONET_TESTS=ON > /dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target test_stats_levels > /dev/null
	@OMP_WAIT_POLICY=passive $(BUILD)/tests/test_stats_levels $(LEVEL_TABLES) $(LEVEL_ROWS)

# The paper's experiments in small; those without data (STONET_DATA) say that they are skipped.
PAPER_OUT ?= paper-quick
paper-quick: all
	@for experiment in m1 table1 table2 table3 theory; do \
	  OMP_WAIT_POLICY=passive $(BUILD)/bin/stonet-paper $$experiment --quick --out $(PAPER_OUT) || exit 1; \
	done

# The same tests with address and undefined-behaviour sanitizers.
sanitize: setup
	@cmake --preset sanitize -B $(BUILD)-sanitize > /dev/null
	@cmake --build $(BUILD)-sanitize -j $(JOBS)
	@ctest --test-dir $(BUILD)-sanitize --output-on-failure --no-tests=error -j $(JOBS)

# The same tests of a build by clang.
clang-test: setup
	@cmake/setup.sh clang-14 libomp-14-dev
	@cmake --preset clang -B $(BUILD)-clang > /dev/null
	@cmake --build $(BUILD)-clang -j $(JOBS)
	@ctest --test-dir $(BUILD)-clang --output-on-failure --no-tests=error -j $(JOBS)

# Tests of what runs on several threads, with the thread sanitizer.
THREAD_TESTS ?= engine_contract engine_sums stonet_batches data_rows data_text_parts math_tiles
threads: setup
	@cmake/setup.sh clang-14 libclang-rt-14-dev libomp-14-dev llvm-14
	@cmake --preset threads -B $(BUILD)-threads > /dev/null
	@cmake --build $(BUILD)-threads -j $(JOBS) --target $(addprefix test_,$(THREAD_TESTS)) > /dev/null
	@torture/threads.sh $(BUILD)-threads $(THREAD_TESTS)

# Branches of src/ that the tests take, and faults on every path to a call that can fail. Counters are put in before anything is
# inlined, so that the branches are those of the sources; unoptimised, the tests of the engines would take hours.
coverage: setup
	@cmake --preset coverage -B $(BUILD)-coverage > /dev/null
	@cmake --build $(BUILD)-coverage -j $(JOBS)
	@ctest --test-dir $(BUILD)-coverage --output-on-failure --no-tests=error -j $(JOBS)
	@$(BUILD)-coverage/tests/torture $(BUILD)-coverage/tests/stonet-faults $(if $(SAMPLE),--sample $(SAMPLE),--paths)
	@torture/coverage.py $(BUILD)-coverage

# Every path to an allocation or a call to the file system fails, in all commands together; then every such call of every command,
# once and for good: hours. With SAMPLE=N: N of them, drawn at random (SEED=S); under the sanitizers, which also see what leaks. Then every command that writes is
# killed, and loses its power, at each call that changes a file, and is killed KILLS times at random moments. Last, paths of a fit
# on a GPU, emulated as in the tests, the thread sanitizer on whole fits, valgrind on a sample of the commands, and flipped bits.
KILLS ?= 1000
torture: setup build-programs
	@cmake --preset release -B $(BUILD) -DSTONET_TESTS=ON > /dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target torture flips stonet-faults stonet_cuda_emulated > /dev/null
	@cmake -S . -B $(BUILD)-sanitize -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSTONET_SANITIZE=ON > /dev/null
	@cmake --build $(BUILD)-sanitize -j $(JOBS) --target torture stonet-faults
	@for what in $(if $(SAMPLE),,--paths) "" --crashes "--kills $(KILLS)"; do \
	  seq 0 $$(($(JOBS) - 1)) | ASAN_OPTIONS=allocator_may_return_null=1 xargs -P $(JOBS) -I K \
	    $(BUILD)-sanitize/tests/torture $(BUILD)-sanitize/tests/stonet-faults --part K/$(JOBS) $$what \
	    $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED)) || exit 1; \
	done
	@STONET_CUDA=$(abspath $(BUILD))/tests/libstonet_cuda_emulated.so $(BUILD)/tests/torture $(BUILD)/tests/stonet-faults \
	    --paths --only "--set engine="
	@$(MAKE) threads THREAD_TESTS="$(THREAD_TESTS) model_threads select_select engine_cpu"
	@cmake/setup.sh valgrind
	@torture/valgrind.sh $(BUILD)/bin/stonet
	@$(BUILD)/tests/flips

# Bytes made up by libFuzzer for everything that reads files or words, from the corpora in fuzz/: FUZZ_SECONDS in all. What is found
# new stays in $(BUILD)-fuzz/bin/found, what fails in $(BUILD)-fuzz/bin/failed.
FUZZ_SECONDS ?= 14400
fuzz: setup
	@cmake/setup.sh clang-14 libclang-rt-14-dev libomp-14-dev llvm-14
	@cmake --preset fuzz -B $(BUILD)-fuzz > /dev/null
	@cmake --build $(BUILD)-fuzz -j $(JOBS) --target fuzz > /dev/null
	@fuzz/run.sh $(BUILD)-fuzz/bin fuzz/corpus $(FUZZ_SECONDS) $(JOBS)

# The Python package in $(VENV), from Debian's packages alone: no package index is asked.
python: setup
	@cmake/setup.sh $(PYTHON_PACKAGES)
	@test -x $(VENV)/bin/pip || /usr/bin/python3 -m venv --system-site-packages $(VENV)
	@$(VENV)/bin/pip install --quiet --no-index --no-build-isolation --no-deps --force-reinstall ./python

# Its tests, types and examples; some compare with the command line.
python-test: python build-programs
	@cd python && STONET_PROGRAM=$(abspath $(BUILD))/bin/stonet OMP_WAIT_POLICY=passive \
	    $(abspath $(VENV))/bin/python -m pytest
	@cd python && mypy --python-executable $(abspath $(VENV))/bin/python

# Exported models in onnxruntime, which Debian has from 13 on: a Debian 13 is made for it (as root, or where user namespaces
# are allowed).
onnx-test: build-programs
	@cmake/setup.sh mmdebstrap python3-numpy
	@python/tools/onnxruntime.sh $(BUILD)/bin/stonet

# The R package: its source package and the package installed from it, in $(BUILD)-r, from Debian's packages alone.
r: setup
	@cmake/setup.sh $(R_PACKAGES)
	@MAKEFLAGS=-j$(JOBS) r/tools/build.sh $(BUILD)-r

# Its tests, some of which compare with the command line, examples and vignette: R CMD check --as-cran.
r-test: r build-programs
	@cmake/setup.sh $(R_TEST_PACKAGES)
	@STONET_PROGRAM=$(abspath $(BUILD))/bin/stonet OMP_WAIT_POLICY=passive MAKEFLAGS=-j$(JOBS) r/tools/check.sh $(BUILD)-r

# Every routine of its glue with the garbage collector at its worst and under valgrind; memory over a thousand fits.
r-torture: r
	@cmake/setup.sh valgrind
	@r/tools/torture.sh $(BUILD)-r
	@R_LIBS=$(BUILD)-r/library Rscript --vanilla r/tools/leaks.R

# Its numbers beside those of the packages dr and MAVE, where R finds these.
r-compare: r
	@R_LIBS=$(abspath $(BUILD))-r/library:$$R_LIBS Rscript --vanilla r/tools/compare.R

# The site, in $(BUILD)/docs: open index.html, no server needed. Warnings and dead links are errors, and the examples of the
# gallery run.
docs: setup-programs build-programs
	@cmake/setup.sh $(DOCS_PACKAGES)
	@docs/site/build.sh . $(BUILD)

# The code blocks of the pages.
docs-test: setup-programs build-programs
	@cmake/setup.sh $(DOCS_PACKAGES)
	@PATH=$(abspath $(BUILD))/bin:$$PATH STONET_LIBRARY=$(abspath $(BUILD))/lib/libstonet.so PYTHONPATH=$(abspath python/src) \
	    OMP_WAIT_POLICY=passive MPLBACKEND=Agg PYTHONDONTWRITEBYTECODE=1 \
	    /usr/bin/python3 docs/site/run_blocks.py $$(git ls-files 'docs/*.md')

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

tidy: all
	@git ls-files 'src/*.c' 'cli/*.c' 'paper/*.c' | grep -v /test_ | xargs -P $(JOBS) -n 1 clang-tidy --quiet -p $(BUILD)

# The interface of the shared library against the last release's (cmake/abi/), and that record anew at a release.
abi abi-update: setup
	@cmake/setup.sh abigail-tools
	@cmake/abi/abi.sh $(if $(filter abi,$@),check,update) $(BUILD)-abi

# Debian packages of the program, the library, what one needs to build with it and what ranks need, in $(BUILD)-deb.
deb: setup
	@cmake/setup.sh $(DEB_PACKAGES) $(MPI_PACKAGES)
	@cmake/deb/build.sh $(BUILD)-deb

# Installs them in a fresh Debian and tries them there (as root, or where user namespaces are allowed).
deb-test: deb
	@cmake/setup.sh mmdebstrap
	@cmake/deb/try.sh $(BUILD)-deb

# The files of a release, from a tag: make release TAG=v0.2.0. Sources, Debian packages, wheel, checksums, in $(BUILD)-release.
release: setup
	@cmake/setup.sh $(DEB_PACKAGES) $(PYTHON_PACKAGES)
	@cmake/release/release.sh $(TAG) $(BUILD)-release

# Checks them, and tries the wheel and the Python source package in a fresh Debian (deb-test does so with the packages).
release-test:
	@cmake/setup.sh mmdebstrap
	@cmake/release/try.sh $(BUILD)-release

# The tests of the library on 64-bit ARM: cross compiler and qemu.
cross-test: setup
	@cmake/setup.sh gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-s390x-linux-gnu qemu-user mmdebstrap ninja-build
	@cmake/cross/test.sh $(BUILD)-aarch64

install: all
	@cmake --install $(BUILD)

clean:
	@rm -rf $(BUILD) $(BUILD)-sanitize $(BUILD)-clang $(BUILD)-threads $(BUILD)-coverage $(BUILD)-fuzz $(BUILD)-bench $(BUILD)-abi $(BUILD)-deb $(BUILD)-release $(BUILD)-aarch64 $(BUILD)-r
