# The GEMM Ladder. `make book` and `make test` are all that a fresh machine needs: Python 3.11-3.13, no GPU.
# Choices: PYTHON=/path/to/python3.12 (which interpreter), CUDA=12 or 13 (which wheels; default: as installed, else 12).

SHELL := /bin/sh
PYTHON ?= python3
BIN := .venv/bin
export PYTHONPATH := $(CURDIR)
export PYTHONUTF8 := 1

.PHONY: help env book test lint unit notebooks html check-html sync check-sync execute bench-emulator clean

help:  ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | awk -F'|' '{printf "  make %-15s %s\n", $$1, $$2}'

env:  ## Create .venv and install the pinned requirements (only when they changed)
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
	  echo "error: '$(PYTHON)' not found: install Python 3.11, 3.12 or 3.13, or pass PYTHON=/path/to/python3.12" >&2; exit 2; }
	@$(PYTHON) tools/env.py $(if $(CUDA),--cuda $(CUDA))

book: env html  ## Set up, run lessons whose outputs are stale, build the book into _build/html
	@echo "open _build/html/index.html"

test: env lint check-sync unit notebooks html check-html  ## Set up, then every check: the same as CI
	@echo "all checks passed"

lint: env  ## ruff over all Python sources
	@$(BIN)/ruff check .

unit: env  ## Unit tests (grader tests included)
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile tests

notebooks: env  ## Run every lesson and solution to its end (nbval)
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile -p gemmlab.nbval_plugin --nbval-lax notebooks solutions

html: env  ## Build the book only
	@$(BIN)/python -m tools.build_book

check-html: env  ## Links, sizes, tracebacks and outside resources of the built book
	@$(BIN)/python -m tools.check_html

sync: env  ## Bring notebooks and exercises in line with their sources
	@$(BIN)/python -m tools.sync

check-sync: env  ## Fail if a notebook is not what its source says
	@$(BIN)/python -m tools.sync --check

execute: env  ## Run lessons and solutions here and keep the outputs in the tracked files (on the GPU of record)
	@$(BIN)/python -m tools.execute --in-place

bench-emulator: env  ## Emulator speed: one JSON line per case (case, cpu_s, limit_s)
	@$(BIN)/python -m tools.bench_emulator

clean:  ## Remove built files; the environment stays
	rm -rf _build .pytest_cache .ruff_cache
