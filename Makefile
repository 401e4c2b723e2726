# make demo   set up, plan a survey end to end, save its pictures in surepick-demo/
# make test   set up, then lint, types, layers and all quick tests (what CI runs)
# make slow   the statistical runs of minutes
# make bench  the benchmarks, figures as ratios within one run
# make samples  how many samples certificates cost: 200 runs an instance, some ten minutes
# make errors   wrong certificates in millions of runs on hard instances, written to docs/errors.md; about an hour on 2 cores
# make soak   durable studies under load, kills and on a full disk, written to docs/studies.md; about a quarter of an hour
# make peers  surepick against other packages, which it installs into benchmarks/peers/.venv; some seven minutes
# make lock   bring requirements*.txt up to date

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test slow bench samples errors soak peers lock clean

demo: .venv/run.stamp
	$(BIN)/surepick demo

test: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q -n 2 --dist worksteal --durations=10

slow: .venv/test.stamp
	$(BIN)/pytest -q -n 2 --dist worksteal -m slow --durations=10

bench: .venv/test.stamp
	$(BIN)/python benchmarks/run.py --write

samples: .venv/test.stamp
	$(BIN)/python benchmarks/samples.py --write docs/how-sure.md --costs docs/costs.md
	$(BIN)/python benchmarks/real_data.py --write docs/real-data.md
	$(BIN)/python benchmarks/pool.py

errors: .venv/test.stamp
	$(BIN)/python benchmarks/errors.py --write docs/errors.md

soak: .venv/test.stamp
	$(BIN)/python benchmarks/soak.py --write

peers: .venv/test.stamp
	$(BIN)/python benchmarks/peers/compare.py --write docs/peers.md

.venv/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'surepick needs Python 3.11 or later')"
	$(PYTHON) -m venv .venv

.venv/run.stamp: requirements.txt pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

.venv/test.stamp: requirements-test.txt .venv/run.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-test.txt
	touch $@

# uv reads pyproject.toml; the lock files name packages, versions and hashes, and no address.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --upgrade pyproject.toml --group build
lock:
	$(LOCK) --output-file requirements.txt
	$(LOCK) --extra cluster --extra excel --extra postgres --group test --constraint requirements.txt --output-file requirements-test.txt

clean:
	rm -rf .venv surepick-demo surepick-paper benchmarks/peers/.venv
