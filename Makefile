# Every command of the project. `make demo` and `make test` install what they need first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: install demo test test-kafka test-e2e lint format proto bench bench-ingest bench-nslb clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[embedded,fast,lab]" --group dev
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/trimtab demo $(DEMO_ARGS)

test: $(STAMP)
	$(BIN)/python -m pytest -m "not kafka and not e2e" $(PYTEST_ARGS)
	$(BIN)/python -m pytest --doctest-modules detectors actuators cluster $(PYTEST_ARGS)

# The official jars by their Maven coordinates; needs Java 17 and Maven.
KAFKA_JARS := .cache/kafka/.fetched
$(KAFKA_JARS): tests/kafka/pom.xml
	mvn -q -B -f $< dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/.cache/kafka
	touch $@

test-kafka: $(STAMP) $(KAFKA_JARS)
	$(BIN)/python -m pytest -m kafka tests/kafka $(PYTEST_ARGS)

# The demo with every process killed on the way: ten minutes.
test-e2e: $(STAMP)
	$(BIN)/python -m pytest -m e2e -s tests/e2e $(PYTEST_ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The virtual path makes the generated modules import each other as pipelines.wire.*.
proto: $(STAMP)
	$(BIN)/python -m grpc_tools.protoc --proto_path=pipelines/wire=proto/trimtab/v1 \
		--python_out=. --pyi_out=. --grpc_python_out=. \
		$(patsubst proto/trimtab/v1/%,pipelines/wire/%,$(wildcard proto/trimtab/v1/*.proto))

bench: $(STAMP)
	$(BIN)/python -m benchmarks

# NSLB_ARGS: cases by the beginning of their ids, `N1 N3-link`; without, all of them in 15 minutes.
bench-nslb: $(STAMP)
	$(BIN)/python -m benchmarks.quality.nslb $(NSLB_ARGS)

# Against gnmic where TRIMTAB_GNMIC or PATH has it.
bench-ingest: $(STAMP)
	$(BIN)/python -m benchmarks ingest

clean:
	rm -rf $(VENV) .cache .trimtab
