# Trimtab's processes; which one runs is the command: collect, detect, act, record, serve, migrate.
FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md ./
COPY cluster cluster
COPY detectors detectors
COPY actuators actuators
COPY pipelines pipelines
COPY simulator simulator
RUN python -m venv /opt/trimtab \
    && /opt/trimtab/bin/pip install --no-cache-dir --constraint constraints.txt .

FROM python:3.11-slim
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/trimtab trimtab
COPY --from=build /opt/trimtab /opt/trimtab
ENV PATH=/opt/trimtab/bin:$PATH \
    TRIMTAB_CONFIG=/etc/trimtab/trimtab.toml \
    OMP_NUM_THREADS=1
USER trimtab
WORKDIR /var/lib/trimtab
ENTRYPOINT ["trimtab"]
CMD ["--help"]
