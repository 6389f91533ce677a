"""Metrics of inference engines and of the gateway before them."""

from cluster.metric import Bad, Kind, Metric
from cluster.metrics.rows import named

METRICS = (
    Metric(
        name="llm_requests_running",
        kind=Kind.GAUGE,
        unit="{request}",
        sources=named(vllm="vllm:num_requests_running", sglang="sglang:num_running_reqs"),
    ),
    Metric(
        name="llm_requests_waiting",
        kind=Kind.GAUGE,
        unit="{request}",
        bad=Bad.UP,
        least_effect_ratio=0.5,
        sources=named(vllm="vllm:num_requests_waiting", sglang="sglang:num_queue_reqs"),
    ),
    Metric(
        name="llm_kv_cache_usage_ratio",
        kind=Kind.GAUGE,
        unit="1",
        bad=Bad.UP,
        highest=1.0,
        sources=named(
            vllm=("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
            sglang="sglang:token_usage",
        ),
    ),
    Metric(
        name="llm_preemptions_total",
        kind=Kind.COUNTER,
        unit="{preemption}",
        bad=Bad.UP,
        sources=named(
            vllm="vllm:num_preemptions_total", sglang="sglang:num_retracted_requests_total"
        ),
    ),
    Metric(
        name="llm_prompt_tokens_total",
        kind=Kind.COUNTER,
        unit="{token}",
        sources=named(vllm="vllm:prompt_tokens_total", sglang="sglang:prompt_tokens_total"),
    ),
    Metric(
        name="llm_generation_tokens_total",
        kind=Kind.COUNTER,
        unit="{token}",
        sources=named(vllm="vllm:generation_tokens_total", sglang="sglang:generation_tokens_total"),
    ),
    Metric(
        name="llm_requests_finished_total",
        kind=Kind.COUNTER,
        unit="{request}",
        sources=named(vllm="vllm:request_success_total", sglang="sglang:num_requests_total"),
    ),
    Metric(
        name="llm_generation_tokens_per_second",
        kind=Kind.GAUGE,
        unit="{token}/s",
        sources=named(sglang="sglang:gen_throughput"),
    ),
    Metric(
        name="llm_prefill_inflight_queue_requests",
        kind=Kind.GAUGE,
        unit="{request}",
        bad=Bad.UP,
        least_effect_ratio=0.5,
        sources=named(sglang="sglang:num_prefill_inflight_queue_reqs"),
    ),
    Metric(
        name="llm_decode_transfer_queue_requests",
        kind=Kind.GAUGE,
        unit="{request}",
        bad=Bad.UP,
        least_effect_ratio=0.5,
        sources=named(sglang="sglang:num_decode_transfer_queue_reqs"),
    ),
    Metric(
        name="llm_decode_prealloc_queue_requests",
        kind=Kind.GAUGE,
        unit="{request}",
        bad=Bad.UP,
        least_effect_ratio=0.5,
        sources=named(sglang="sglang:num_decode_prealloc_queue_reqs"),
    ),
    Metric(
        name="llm_ttft_seconds",
        kind=Kind.HISTOGRAM,
        unit="s",
        bad=Bad.UP,
        least_effect_ratio=0.2,
        log=True,
        sources=named(
            vllm="vllm:time_to_first_token_seconds",
            sglang="sglang:time_to_first_token_seconds",
            dynamo="dynamo_frontend_time_to_first_token_seconds",
        ),
    ),
    Metric(
        name="llm_tpot_seconds",
        kind=Kind.HISTOGRAM,
        unit="s",
        bad=Bad.UP,
        least_effect_ratio=0.2,
        log=True,
        sources=named(
            vllm=("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"),
            sglang=("sglang:inter_token_latency_seconds", "sglang:time_per_output_token_seconds"),
            dynamo="dynamo_frontend_inter_token_latency_seconds",
        ),
    ),
    Metric(
        name="llm_e2e_seconds",
        kind=Kind.HISTOGRAM,
        unit="s",
        log=True,
        sources=named(
            vllm="vllm:e2e_request_latency_seconds",
            sglang="sglang:e2e_request_latency_seconds",
            dynamo="dynamo_frontend_request_duration_seconds",
        ),
    ),
    Metric(
        name="llm_queue_seconds",
        kind=Kind.HISTOGRAM,
        unit="s",
        bad=Bad.UP,
        least_effect_ratio=0.5,
        log=True,
        sources=named(vllm="vllm:request_queue_time_seconds", sglang="sglang:queue_time_seconds"),
    ),
    Metric(
        name="llm_requests_inflight",
        kind=Kind.GAUGE,
        unit="{request}",
        sources=named(dynamo="dynamo_frontend_inflight_requests"),
    ),
    Metric(
        name="llm_requests_queued",
        kind=Kind.GAUGE,
        unit="{request}",
        bad=Bad.UP,
        least_effect_ratio=0.5,
        sources=named(dynamo="dynamo_frontend_queued_requests"),
    ),
    Metric(
        name="llm_concurrency_limit",
        kind=Kind.STATE,
        unit="{request}",
        sources=named(sglang="sglang:max_running_requests"),
    ),
)
