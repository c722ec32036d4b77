# Everything happens in .venv; Python 3.11 or newer and make are all it takes.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
RUN := .venv/.installed
DEV := .venv/.installed-dev
WORKERS ?= 4
SECONDS ?= 120
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# With their bytecode kept, the many processes that tests start do not compile the crawler again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo crawl test test-long fuzz lint types format bench clean
help:            ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ \t/'

demo: $(RUN)     ## crawl a bundled site on this machine and print the report
	@$(BIN)/crawler demo

crawl: $(RUN)    ## crawl a real site: make crawl URL=https://example.org
	@test -n "$(URL)" || { echo "usage: make crawl URL=https://example.org" >&2; exit 2; }
	@$(BIN)/crawler crawl "$(URL)" $(ARGS)

# The type checker uses one core: it runs beside the tests. In a fresh clone one process compiles
# the tests first, so that the workers, which start together, do not each compile them all.
test: lint       ## lint, type-check, and run the tests; only some: make test ARGS=tests/feed
	@$(BIN)/mypy & types=$$!; \
		test -d tests/__pycache__ || $(BIN)/python -m pytest -q --collect-only $(ARGS) > /dev/null; \
		$(PYTEST) -m "not long and not fuzz" $(ARGS); tests=$$?; \
		wait $$types && exit $$tests

test-long: $(DEV) ## run soak and stress tests, and draw more examples for property tests
	$(PYTEST) -m "(long or hypothesis) and not fuzz" --hypothesis-profile long --timeout 1800 $(ARGS)

fuzz: $(DEV)     ## look for inputs that break a parser, 2 minutes each: make fuzz SECONDS=10 ARGS="-k robots"
	$(INSTALL) -e '.[fuzz]'
	FUZZ_SECONDS=$(SECONDS) $(BIN)/python -m pytest -m fuzz tests/fuzz -rA $(ARGS)

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV)
	$(BIN)/mypy

format: $(DEV)   ## let ruff repair what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(DEV)    ## what a crawl and its parts cost, side by side: make bench ARGS=--quick
	@for part in crawl fetch links pool frontier; do $(BIN)/crawler bench $$part $(ARGS) || [ $$? = 5 ] || exit; echo; done

clean:           ## remove .venv and every cache
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A download that was damaged on its way is tried once more.
$(RUN): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, not " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(INSTALL) -e . || $(INSTALL) -e .
	@touch $@

$(DEV): $(RUN) pyproject.toml
	$(INSTALL) -e '.[dev]' || $(INSTALL) -e '.[dev]'
	@$(INSTALL) -e '.[mmap]' 2>/dev/null \
		|| echo "no C compiler: the tests of the mapped filter are left out"
	@touch $@
