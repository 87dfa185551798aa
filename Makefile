# Everything that is done with this checkout. Each target first makes the virtual environment .venv and installs what
# it needs into it, once; it does so again when pyproject.toml has changed. Written for GNU make 3.81 and newer (macOS).

PYTHON ?= python3
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest-spark
comma := ,

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Spark's workers would take the python3 of PATH, which has none of the packages.
export PYSPARK_PYTHON := $(CURDIR)/$(BIN)/python

.DEFAULT_GOAL := help
# Two installations into one environment must not run side by side.
.NOTPARALLEL:
.PHONY: help demo test test-all test-oldest-spark check bench format clean java

help: ## show this list
	@echo "make TARGET [ARGS='...'] [PYTHON=python3.12]"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-17s %s\n", $$1, $$2 }' Makefile

demo: java $(VENV)/installed-demo ## stream events of every kind past subscriptions on Spark, on data it makes
	@JAVA_HOME="$$(tools/java)" && export JAVA_HOME && $(BIN)/python -m tidings demo $(ARGS)

test: java $(VENV)/installed-dev ## run the tests but the slow ones; ARGS='-k like' picks some
	@JAVA_HOME="$$(tools/java)" && export JAVA_HOME && $(BIN)/python -m pytest -n 2 -m "not slow" $(ARGS)

test-all: java $(VENV)/installed-dev test-oldest-spark ## run all tests, the slow ones too, and those of Spark on the oldest pyspark
	@JAVA_HOME="$$(tools/java)" && export JAVA_HOME && $(BIN)/python -m pytest -n 2 $(ARGS)

test-oldest-spark: java $(OLDEST)/installed ## run the tests of Spark on the oldest pyspark that is supported
	@JAVA_HOME="$$(tools/java)" && export JAVA_HOME && PYSPARK_PYTHON="$(CURDIR)/$(OLDEST)/bin/python" \
		$(OLDEST)/bin/python -m pytest -n 2 -m "not slow" tests/spark $(ARGS)

check: $(VENV)/installed-dev ## lint, formatting, types, and which part imports what
	@$(BIN)/python -m ruff check
	@$(BIN)/python -m ruff format --check
	@$(BIN)/python -m mypy
	@$(BIN)/python tools/check_imports.py

bench: java $(VENV)/installed-dev ## run the benchmarks; ARGS names some of them
	@JAVA_HOME="$$(tools/java)" && export JAVA_HOME && $(BIN)/python -m benchmarks $(ARGS)

format: $(VENV)/installed-dev ## format the code, and repair what the linter can repair
	@$(BIN)/python -m ruff check --fix --exit-zero
	@$(BIN)/python -m ruff format

clean: ## remove caches and builds; the environment stays (rm -r .venv removes it)
	@rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find src tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# --- the environment ----------------------------------------------------------------------------------------------

# $(call install,extras,stamps): installs this checkout with these extras; a larger set leaves the smaller sets' stamps.
define install
@echo "installing tidings$(1) into $(VENV) …"
@$(BIN)/python -m pip install --quiet --editable '.$(1)' >$(VENV)/install.log 2>&1 || { cat $(VENV)/install.log; \
	echo "pip could not install tidings$(1); what it said is above. rm -r $(VENV) starts anew." >&2; exit 1; }
@touch $(addprefix $(VENV)/installed-,$(2))
endef

$(VENV)/installed-demo: pyproject.toml $(VENV)/pyvenv.cfg
	$(call install,[spark$(comma)lab],demo)

# With Spark: the tests use it, and mypy reads its types.
$(VENV)/installed-dev: pyproject.toml $(VENV)/pyvenv.cfg
	$(call install,[dev$(comma)spark],demo dev)

# An environment of its own: the same packages, but for pyspark.
$(OLDEST)/installed: pyproject.toml $(VENV)/pyvenv.cfg
	@echo "installing tidings[dev,spark] with pyspark 4.1 into $(OLDEST) …"
	@$(BIN)/python -m venv $(OLDEST)
	@$(OLDEST)/bin/python -m pip install --quiet --editable '.[dev,spark]' 'pyspark[connect]<4.2'
	@touch $@

# A prerequisite before the environment: where Java is missing, that is said before Spark is downloaded.
java:
	@tools/java >/dev/null

# An environment that was left half made, or whose Python is gone since, is made again. By the shell: $(wildcard) takes
# a link to a Python that is gone for a file.
ifeq ($(shell test -x $(BIN)/python && ls $(VENV)/lib/python*/site-packages/pip/__main__.py 2>/dev/null),)
.PHONY: $(VENV)/pyvenv.cfg
endif

$(VENV)/pyvenv.cfg:
	@command -v $(PYTHON) >/dev/null || { printf '%s\n' "$(PYTHON) is not in PATH." $(python_advice) >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		printf '%s\n' "$(PYTHON) is $$($(PYTHON) --version 2>&1)." $(python_advice) >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
		printf '%s\n' "$(PYTHON) has no module venv or ensurepip. Install it, and run make again:" \
		'  Debian, Ubuntu   sudo apt-get install python3-venv    (for another version: python3.12-venv)' >&2; exit 1; }
	@echo "creating $(VENV) with $$($(PYTHON) --version) …"
	@$(PYTHON) -m venv $(if $(shell test -x $(BIN)/python && echo runs),,--clear) $(VENV)

python_advice = 'tidings needs Python 3.11 or newer. Install it, and run make again:' \
	'  Debian 12, Ubuntu 24.04   sudo apt-get install python3 python3-venv' \
	'  Fedora                    sudo dnf install python3' \
	'  macOS                     brew install python' \
	'Where a newer one is installed under another name, give it: make PYTHON=python3.12 …'
