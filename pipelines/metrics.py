"""Trimtab's own metrics, all of them; every process exports the ones it touches."""

from prometheus_client import Counter, Gauge

FRAMES_SENT = Counter("trimtab_frames_sent", "Frames acknowledged by Kafka", ["source_kind"])
SAMPLES_SENT = Counter("trimtab_samples_sent", "Samples in acknowledged frames", ["source_kind"])
DROPPED = Counter("trimtab_dropped", "What was lost before Kafka", ["what", "reason"])
REFUSED = Counter("trimtab_refused", "Input that could not be read", ["what", "reason"])
TARGET_UP = Gauge("trimtab_target_up", "1 while a target delivers", ["target"])
TARGET_RECONNECTS = Counter("trimtab_target_reconnects", "Streams opened again", ["target"])
FRAMES_READ = Counter("trimtab_frames_read", "Frames taken from Kafka", ["process"])
DETECTIONS = Counter("trimtab_detections", "Detections told", ["scope"])
ALERTS = Counter("trimtab_alerts", "Alert revisions told", ["state"])
DECISION_EVENTS = Counter("trimtab_decision_events", "Decision events", ["event"])
ROWS_INSERTED = Counter("trimtab_rows_inserted", "Rows acknowledged by ClickHouse", ["table"])
DELIVERIES = Counter("trimtab_deliveries", "Webhook attempts", ["endpoint", "state"])
OFFSET = Gauge("trimtab_consumer_offset", "Next offset to read", ["process", "topic", "partition"])
LIVE_SERIES = Gauge("trimtab_live_series", "Series that a collector keeps", ["source_kind"])
SCRAPE_SECONDS = Gauge("trimtab_scrape_seconds", "Duration of the last scrape", ["target"])
TARGET_STATE = Gauge(
    "trimtab_target_state", "0 down, 1 answers without a reading of its kind, 2 good", ["target"]
)
MESSAGES_SENT = Counter("trimtab_messages_sent", "Messages acknowledged by Kafka", ["topic"])
QUEUED = Gauge("trimtab_queued_messages", "Messages that wait for Kafka")
LETTERS_WITHHELD = Counter(
    "trimtab_letters_withheld", "Dead letters beyond their rate, counted only", ["reason"]
)
COALESCED = Counter(
    "trimtab_coalesced", "Values a target left out because we read too slowly", ["target"]
)
