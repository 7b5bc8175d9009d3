# Two commands on a fresh machine with Python >= 3.11:
#   make demo   installs into .venv and compares all methods on the Wisconsin breast cancer data
#   make test   installs what the tests need and runs the test suite: every model, method, solver and verb
PYTHON ?= python3
BIN := .venv/bin
CORE := tests/solvers/test_conformance.py tests/drivers tests/linear tests/search tests/methods tests/data tests/cli
NUMBERS := tests/library tests/models tests/compiler tests/certificates tests/formats tests/drivers tests/linear tests/search tests/methods
KERNELS := Nehalem $(shell grep -qsw avx2 /proc/cpuinfo && echo Haswell) $(shell grep -qsw avx512vl /proc/cpuinfo && echo SkylakeX)
# Each process takes a part of the tests in their order, so that what a module shares is made once, and then from the others.
SPREAD := -n auto --dist worksteal
# Compiled modules are kept: without them each process, and each command that a test starts, compiles all of them anew.
unexport PYTHONDONTWRITEBYTECODE
EXTRAS := scs,ipopt,scip,plot,parquet,excel,report,arrays
TOOLS := "pytest>=8.2" "pytest-xdist>=3.5" "pytest-timeout>=2.3" "hypothesis>=6.100" "array-api-strict>=2.2"
PYTHONS := $(shell for v in 3.12 3.13; do command -v python$$v >/dev/null && python$$v -V >/dev/null 2>&1 && echo python$$v; done)

.PHONY: demo test test-all kernels truth fuzz limits forgeries guide mutants lock sbom audit lowest pythons lint bench limits-page instances reproduce results docs docs-check outputs clean

demo: .venv/installed
	$(BIN)/fsopt compare --data wdbc --folds 3

test: .venv/tested
	$(BIN)/pytest $(SPREAD) -m "not slow" --require-solvers highs,clarabel,scs,ipopt,scip

# Also the tests that take seconds: pages, notebooks, examples, type checkers, killed studies, samples of the campaigns.
test-all: .venv/tested
	$(BIN)/pytest $(SPREAD) --require-solvers highs,clarabel,scs,ipopt,scip

# The tests of numbers with the kinds of BLAS kernel that this processor has beside its own, which is that of `make test`:
# no answer depends on it.
kernels: .venv/tested
	own=$$($(BIN)/python -c "import numpy, threadpoolctl; print(threadpoolctl.threadpool_info()[0]['architecture'])"); \
	for kernel in $(KERNELS); do \
	    test "$$kernel" != "$$own" || continue; \
	    echo "BLAS kernel $$kernel"; \
	    OPENBLAS_CORETYPE=$$kernel $(BIN)/pytest $(SPREAD) -m "not slow" $(NUMBERS) || exit 1; \
	done

# All convex methods over separation, size and units, all units of forms and models, and all changes of small programs with a known
# optimum; `make test` takes a sample of these.
truth: .venv/tested
	FSOPT_TRUTH=1 $(BIN)/pytest $(SPREAD) tests/truth tests/certificates/test_transformations.py $$(grep -oE \
		'`test_\w+' docs/errata.md | tr -d '`' | sort -u | while read name; do \
		echo "$$(grep -rlE --include='*.py' "def $$name\b" tests)::$$name"; done)

# 20 times as many damaged files, answers and calls as `make test-all` takes.
fuzz: .venv/tested
	FSOPT_FUZZ=20 $(BIN)/pytest $(SPREAD) tests/fuzz tests/forgery/test_answers.py

# Every method on 200 random data sets with a limit of 2 seconds, and every parameter through folds and tuning;
# `make test` takes a few of them.
limits: .venv/tested
	FSOPT_LIMITS=1 $(BIN)/pytest $(SPREAD) tests/limits

# 20,000 changed answers and 5,000 changed proofs; `make test-all` takes a tenth of them.
forgeries: .venv/tested
	FSOPT_FORGED=20000 $(BIN)/pytest $(SPREAD) tests/forgery

# 300 changes of certificates, verifiers, algorithms and drivers, each against the tests that run the changed line: an hour.
# Prints each change that no test notices.
mutants: .venv/tested
	$(BIN)/pip install -q "cosmic-ray>=8.7" "pytest-cov>=6"
	$(BIN)/python tests/mutants/run.py 300

# The whole fast suite on a copy of the package with one more model, method, penalty and solver, as CONTRIBUTING.md says.
guide: .venv/tested
	FSOPT_GUIDE=1 $(BIN)/pytest tests/test_contributing.py

# The versions and hashes of the development environment; `pip install --require-hashes -r requirements-dev.txt` has it.
lock: .venv/tested
	{ echo "# The development environment, every package with its version and the hashes of its files; made by 'make lock'."; \
	  $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	      --extra all --extra test --extra lint pyproject.toml | sed 's/ *# via fsopt (.*)/    # via fsopt/'; } > requirements-dev.txt.new
	mv requirements-dev.txt.new requirements-dev.txt

# The list of all packages of the development environment in the format CycloneDX, for a release.
sbom: .venv/tested
	$(BIN)/pip install -q "cyclonedx-bom>=7"
	mkdir -p dist
	$(BIN)/cyclonedx-py requirements requirements-dev.txt --pyproject pyproject.toml -o dist/fsopt.cdx.json

# Known vulnerabilities of these packages; needs the network for its data.
audit: .venv/tested
	$(BIN)/pip install -q "pip-audit>=2.10"
	$(BIN)/pip-audit --require-hashes --disable-pip -r requirements-dev.txt

# The core of the tests, and the demo, at the lowest versions that pyproject.toml allows.
lowest: .lowest/tested
	.lowest/bin/python -m pytest $(SPREAD) -m "not slow" -p no:cacheprovider $(CORE)
	.lowest/bin/fsopt compare --data wdbc

# The core of the tests on the other versions of Python that this machine has.
pythons: .venv/tested
	for python in $(PYTHONS); do \
	    $(BIN)/uv venv -q --clear --python $$python .python && \
	    $(BIN)/uv pip install -q --python .python/bin/python --only-binary :all: --no-binary fsopt -e ".[$(EXTRAS)]" $(TOOLS) && \
	    .python/bin/python -m pytest $(SPREAD) -m "not slow" -p no:cacheprovider $(CORE) || exit 1; \
	done

# A small part of every table and figure of the papers, two minutes on two processors, or of some:
# EXPERIMENTS="sla-table1 gbd-table2"; data sets that are not in the folder FSOPT_DATA have the verdict "no data".
EXPERIMENTS := --all
reproduce: .venv/tested
	$(BIN)/fsopt reproduce $(EXPERIMENTS) --quick > /dev/null

# The committed results: full runs that take less than an hour together, and of each table and figure that takes longer what
# four minutes suffice for, which the next run goes on with; a page that has more than that stays.
RESUMED := gmeb-table3 gmeb-type2 gmeb-table4 gmeb-fig2 gbd-table2 gbd-fig1 gbd-fig2 l0mpm-fig6
results: .venv/tested
	for name in $(RESUMED); do \
	    $(BIN)/fsopt reproduce $$name --time-limit 240 --store results.sqlite -o docs/results > /dev/null || exit 1; \
	done
	$(BIN)/fsopt reproduce $$($(BIN)/python -c "from fsopt.papers.registry import EXPERIMENTS; print(*(n for n in EXPERIMENTS if n not in '$(RESUMED)'.split()))") \
	    -o docs/results > /dev/null

# Style, layout and types.
lint: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The site, docs/_build/html/index.html: warnings are errors, the notebooks are executed (SITE="-D nb_execution_mode=off"
# shows their stored outputs).
docs: .venv/documented
	$(BIN)/sphinx-build -W --keep-going $(SITE) -b html docs docs/_build/html

# What the code of the pages prints, written under it where it differs in more than numbers: make outputs PAGES=docs/start.md
PAGES := docs/outputs.toml $(shell git ls-files 'docs/*.md')
outputs: .venv/tested
	$(BIN)/python docs/outputs.py $(PAGES)

# Every page of the site in a headless Chromium, at the width of a phone and of a desktop; LOOK="--sample 30" a sample.
docs-check: docs
	$(BIN)/python docs/check.py $(LOOK) docs/_build/html

# Timings side by side; the digits where FSOPT_DATA names the folder that has them.
bench: .venv/tested
	$(BIN)/pip install -q -e ".[bench]"
	$(BIN)/python benchmarks/modelling.py
	$(BIN)/python benchmarks/resolve.py
	$(BIN)/python benchmarks/gmeb.py
	$(BIN)/python benchmarks/generation.py
	$(BIN)/python benchmarks/gbd.py
	$(BIN)/python benchmarks/study.py
	test -z "$$FSOPT_DATA" || $(BIN)/python benchmarks/mnist.py

# Every method at three sizes of data and along its growth: measures what docs/results/limits.jsonl does not have of the
# present code, of which the build of the site makes docs/results/limits.md. An hour on a free computer; goes on where it ended.
limits-page: .venv/tested
	$(BIN)/python benchmarks/scale.py || true
	$(BIN)/python benchmarks/scale.py --growth || true

# Writes the instance library models/ and the overloads of build and fit anew, the same bytes on every run on one processor.
instances: .venv/installed
	$(BIN)/python -m tools.signatures
	$(BIN)/python -m tools.tables
	$(BIN)/python -m tools.instances

# Modules are compiled at their first import: pip would compile all of the packages, of which the demo imports a third.
.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --no-compile -e .
	@touch $@

.venv/tested: .venv/installed
	$(BIN)/pip install -q -e ".[test,lint,all]"
	@touch $@

.venv/documented: .venv/installed
	$(BIN)/pip install -q -e ".[docs,all]"
	@touch $@

.lowest/tested: .venv/tested
	$(BIN)/uv venv -q --clear --python $(BIN)/python .lowest
	$(BIN)/uv pip install -q --python .lowest/bin/python --resolution lowest-direct --only-binary :all: --no-binary fsopt \
	    -e ".[$(EXTRAS)]" $(TOOLS)
	@touch $@

clean:
	rm -rf .venv .lowest .python docs/_build
