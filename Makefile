# make demo      an animation to open in a browser
# make test      every check of one commit, in minutes
# make test-all  the same and the long ones
# make lint      format, lint and types
# make pictures  run the gallery and write its pages in docs/gallery anew; ARGS="willow pear" for some of them
# make docs      the documentation, as pages in build/site
# make bench     side-by-side measurements against other engines
# Each target creates .venv and installs what it needs; nothing is compiled with a C compiler and no GPU is needed.

VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
PEER_newton := 'newton[sim]>=1.8'
PEER_drake := 'drake>=1.51'
PEER_exudyn := 'exudyn>=1.13'
# The first Python on the path that is new enough; PYTHON=/path/to/python overrides it.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-all lint pictures docs bench peers clean

demo: $(VENV)/.installed
	$(BIN)/linkwork run $(or $(SCENE),pulley-chain) --html linkwork-demo.html
	@echo "Open linkwork-demo.html in a browser; the next scene: $(BIN)/linkwork list"

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m "not slow" $(ARGS)

test-all: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

pictures: $(VENV)/.installed
	$(BIN)/python docs/gallery.py $(ARGS)

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "Open build/site/index.html in a browser"

# Tables for reading and for the README: linkwork bench --from bench.json --into README.md
bench: $(VENV)/.installed-bench peers
	$(BIN)/linkwork bench --save bench.json --markdown bench.md $(ARGS)

# Engines whose needs clash with ours or each other's have an environment each. One that cannot be installed is
# missing from the tables, which say so.
peers: $(PEERS)/newton/.installed $(PEERS)/drake/.installed $(PEERS)/exudyn/.installed

$(PEERS)/%/.installed: pyproject.toml | $(BIN)/python
	@test -x $(@D)/bin/python || $(BIN)/python -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check $(or $(PEER_$*),$*) && \
		$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e . || \
		{ echo "bench: $* could not be installed here" >&2; rm -rf $(@D); mkdir -p $(@D); }
	@touch $@

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "linkwork needs Python 3.11 or newer; none was found. Install one, or say: make PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# A new pyproject.toml installs again.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) -e .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) -e '.[test,dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) -e '.[docs]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) -e '.[bench]' || { \
		echo "bench: not every peer could be installed here; the table will say which are missing" >&2; \
		$(PIP_INSTALL) -e . && for peer in mujoco pin; do $(PIP_INSTALL) $$peer || true; done; }
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) $(PEERS) build bench.json bench.md .pytest_cache .mypy_cache .ruff_cache linkwork-demo.html
