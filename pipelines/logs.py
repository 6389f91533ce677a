"""How every process logs: one JSON object a line, to standard error."""

import logging
import sys

import structlog


def configure_logs(process: str, *, level: int = logging.INFO) -> None:
    """Set up structlog and the standard library's logging, which Kafka's and Faust's clients use.

    WARN = unexpected, nothing lost; ERROR = something lost, or a person is needed.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    # Their INFO tells every poll and every request.
    for name in ("kafka", "aiokafka", "faust", "mode", "aiohttp", "urllib3", "clickhouse_connect"):
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    structlog.contextvars.bind_contextvars(process=process)
