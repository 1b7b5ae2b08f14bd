# Thin front of CMake and its presets. `make` builds and touches nothing outside this folder; `make setup` installs the
# Debian packages the project needs (tools/packages), and so do the targets below. `make check-NAME` runs a check of
# tools/check.sh, which says what there is; .ci/run runs all that must hold. `rm -rf build*` cleans.

export BUILD ?= build
export JOBS ?= $(shell nproc)
export VENV ?= .venv

.PHONY: all setup demo test install gpu bench docs python r deb build-programs
.NOTPARALLEL: # one thing after the other here; the builds are parallel

all:
	@tools/setup.sh --check build
	@$(MAKE) --no-print-directory build-programs

# Compiler warnings and errors are shown, what goes well is not. A folder that is new is set up without the tests.
build-programs:
	@test -f $(BUILD)/cmake_install.cmake || { echo "building stonet in $(BUILD)/" >&2; \
	    cmake --preset release -B $(BUILD) -DSTONET_TESTS=OFF > /dev/null; }
	@cmake --build $(BUILD) -j $(JOBS) --target stonet stonet-paper stonet_shared stonet_static stonet_manuals > /dev/null

setup:
	@tools/setup.sh build test

demo: setup build-programs
	@$(BUILD)/bin/stonet demo

test: setup
	@cmake --preset release -B $(BUILD) -DSTONET_TESTS=ON > /dev/null
	@cmake --build $(BUILD) -j $(JOBS)
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(JOBS)

install: all
	@cmake --install $(BUILD)

# The CUDA engine's module (engine=cuda), where CUDA's compiler is: $(BUILD)/lib/libstonet-cuda.so.
gpu: all
	@cmake -B $(BUILD) > /dev/null
	@if grep -q "^STONET_NVCC:.*NOTFOUND" $(BUILD)/CMakeCache.txt; then \
	    echo "make gpu needs nvcc, CUDA's compiler: put its folder into PATH" >&2; exit 1; fi
	@cmake --build $(BUILD) --target stonet_cuda

# Speed against the machine and against PyTorch; fills in docs/performance.md. `make bench QUICK=1`: a short look;
# `make bench GPU=1`: on a GPU, with the PyTorch of the python3 that is there.
bench: setup
	@tools/setup.sh bench $(if $(GPU),,torch)
	@cmake --preset bench -B $(BUILD)-bench > /dev/null
	@cmake --build $(BUILD)-bench -j $(JOBS) --target $(if $(GPU),stonet-bench-gpu stonet_cuda stonet_gpu_rates,stonet-bench)
	@$(if $(GPU),STONET_CUDA=$(BUILD)-bench/lib/libstonet-cuda.so python3 bench/gpu.py --programs $(BUILD)-bench/bin,\
	    /usr/bin/python3 bench/run.py --program $(BUILD)-bench/bin/stonet-bench --out $(BUILD)-bench/results \
	    $(if $(QUICK),--quick,--docs docs))

# The site, in $(BUILD)/docs: open index.html, no server needed.
docs: setup build-programs
	@tools/setup.sh docs
	@docs/site/build.sh . $(BUILD)

# The Python package in $(VENV), from Debian's packages alone: no package index is asked.
python: setup
	@tools/setup.sh python
	@test -x $(VENV)/bin/pip || /usr/bin/python3 -m venv --system-site-packages $(VENV)
	@$(VENV)/bin/pip install --quiet --no-index --no-build-isolation --no-deps --force-reinstall ./python

# The R package: its source package and the package installed from it, in $(BUILD)-r, from Debian's packages alone.
r: setup
	@tools/setup.sh r
	@MAKEFLAGS=-j$(JOBS) r/tools/build.sh $(BUILD)-r

# Debian packages of the program, the library, what one needs to build with it and what ranks need, in $(BUILD)-deb.
deb: setup
	@tools/setup.sh deb
	@tools/deb/build.sh $(BUILD)-deb

check-%:
	@tools/check.sh $*
