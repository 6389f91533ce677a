"""What engines and the gateway say to a scrape."""

from simulator.http.exposition import Exposition, labels
from simulator.world.engine import Engine
from simulator.world.world import World

_SGLANG = "sglang:"
_DYNAMO = "dynamo_frontend_"


def engine_text(world: World, engine: Engine, *, stamp: str = "") -> str:
    """Return an engine's scrape, as SGLang with prefill and decode apart writes it."""
    body = Exposition(lines=[], style="python", stamp=stamp)
    pairs = {
        "model_name": world.scenario.serving.model,
        "engine_type": engine.role,
        "tp_rank": "0",
    }
    told = labels(pairs)
    for name, kind, text, value in (*_gauges(engine), *_counters(engine)):
        body.family(_SGLANG + name, kind, text, [(told, value)])
    for name, text, histogram in (
        ("time_to_first_token_seconds", "time to first token", engine.latencies.ttft),
        ("inter_token_latency_seconds", "inter-token latency", engine.latencies.token),
        ("e2e_request_latency_seconds", "end-to-end request latency", engine.latencies.e2e),
        ("queue_time_seconds", "queueing time", engine.latencies.queue),
    ):
        body.histogram(_SGLANG + name, f"Histogram of {text} in seconds.", pairs, histogram)
    return body.text()


def _gauges(engine: Engine) -> list[tuple[str, str, str, float]]:
    decode = engine.role == "decode"
    used = engine.used_tokens
    rows = [
        ("num_running_reqs", "running requests", len(engine.running) + len(engine.computing)),
        ("num_queue_reqs", "requests in the waiting queue", len(engine.queue)),
        ("num_used_tokens", "used tokens", round(used)),
        ("token_usage", "token usage", round(min(1.0, used / engine.largest_tokens), 6)),
        ("max_total_num_tokens", "tokens the KV cache holds", engine.largest_tokens),
        ("max_running_requests", "requests that may run at once", engine.limit),
        ("gen_throughput", "generation throughput (token/s)", round(engine.tokens_per_second, 3)),
        ("utilization", "utilization", round(engine.busy, 4)),
        ("num_prefill_prealloc_queue_reqs", "requests in the prefill prealloc queue", 0),
        (
            "num_prefill_inflight_queue_reqs",
            "requests in the prefill inflight queue",
            len(engine.inflight),
        ),
        (
            "num_decode_prealloc_queue_reqs",
            "requests in the decode prealloc queue",
            len(engine.waiting) if decode else 0,
        ),
        ("num_decode_transfer_queue_reqs", "requests in the decode transfer queue", 0),
    ]
    return [(name, "gauge", f"The number of {text}.", float(value)) for name, text, value in rows]


def _counters(engine: Engine) -> list[tuple[str, str, str, float]]:
    rows = [
        ("prompt_tokens_total", "prefill tokens processed", round(engine.prompt_tokens)),
        ("generation_tokens_total", "generation tokens processed", round(engine.generated_tokens)),
        ("num_requests_total", "requests processed", engine.finished),
        ("num_aborted_requests_total", "requests aborted", engine.given_up),
        ("num_retracted_requests_total", "requests retracted", 0),
        ("num_transfer_failed_reqs_total", "failed KV transfers", 0),
    ]
    return [(name, "counter", f"Number of {text}.", float(value)) for name, text, value in rows]


def gateway_text(world: World, *, stamp: str = "") -> str:
    """Return the gateway's scrape, as Dynamo's frontend writes it."""
    body = Exposition(lines=[], stamp=stamp)
    serving = world.serving
    pairs = {"model": world.scenario.serving.model}
    told = labels(pairs)
    requests = sum(engine.finished for engine in serving.engines)
    given_up = sum(engine.given_up for engine in serving.engines)
    body.family(
        _DYNAMO + "requests_total",
        "counter",
        "Total number of LLM requests processed",
        [
            (labels(pairs | {"status": "success"}), float(requests)),
            (labels(pairs | {"status": "error"}), float(given_up)),
        ],
    )
    for name, text, value in (
        ("inflight_requests", "Number of inflight requests", serving.inflight_requests),
        ("queued_requests", "Number of requests in the queue", serving.queued_requests),
        ("model_workers", "Number of workers", len(serving.engines)),
    ):
        body.family(_DYNAMO + name, "gauge", text, [(told, float(value))])
    for name, text, histogram in (
        ("time_to_first_token_seconds", "Time to first token", serving.latencies.ttft),
        ("inter_token_latency_seconds", "Inter-token latency", serving.latencies.token),
        ("request_duration_seconds", "Duration of LLM requests", serving.latencies.e2e),
    ):
        body.histogram(_DYNAMO + name, f"{text} in seconds", pairs, histogram)
    return body.text()
