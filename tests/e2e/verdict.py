"""What must be true of the database after a demo, however often its processes were killed."""

from clickhouse_connect.driver.client import Client

from actuators.decision import chain_fault
from detectors.records import Alert
from pipelines.facts import Facts
from pipelines.messages.decisions import event_hash

IDENTITIES = {
    "frames": "collector, source, sequence",
    "samples": "component, metric, attributes, time",
    "jobs": "job_id, at, event",
    "detections": "detection_id",
    "alerts": "alert_id, revision",
    "decisions": "decision_id, sequence",
    "actions": "action_id, sequence",
    "effects": "decision_id, sequence",
    "deliveries": "delivery_id, attempt",
    "dead_letters": "letter_id",
}


def doubled(database: Client) -> dict[str, tuple[int, int]]:
    """Return rows and identities of every table with more of the one than of the other."""
    found = {}
    for table, identity in IDENTITIES.items():
        query = f"SELECT count(), uniqExact({identity}) FROM {table}"
        rows, identities = database.query(query).result_rows[0]
        if rows != identities:
            found[table] = (rows, identities)
    return found


def rows_by_table(database: Client) -> dict[str, int]:
    return {
        table: int(str(database.command(f"SELECT count() FROM {table}"))) for table in IDENTITIES
    }


def ledger_difference(database: Client) -> int:
    """Return how many readings there are more than the frames' ledger tells."""
    rows = database.command("SELECT count() FROM samples")
    told = database.command("SELECT sum(samples) FROM frames")
    return int(str(rows)) - int(str(told))


def broken_chains(database: Client) -> dict[str, str]:
    """Return what is wrong by decision."""
    facts = Facts(database)
    faults = {
        decision.decision_id: chain_fault(facts.events(decision.decision_id), event_hash)
        for decision in facts.decisions(limit=1000)
    }
    return {decision_id: fault for decision_id, fault in faults.items() if fault is not None}


def alerts(database: Client) -> list[Alert]:
    return Facts(database).alerts(limit=1000)
