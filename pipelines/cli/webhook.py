"""``trimtab webhook``: try an endpoint, send a delivery again."""

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from pipelines.cli.options import config_option, database_of, load_running, told_errors
from pipelines.clock import SystemClock
from pipelines.config.load import Loaded, load
from pipelines.config.notify import WebhookConfig
from pipelines.errors import ConfigError
from pipelines.facts import Facts
from pipelines.notify.endpoint import Endpoint, read_secrets
from pipelines.notify.notices import Notice
from pipelines.notify.trial import notice_again, trial_notices

_DELIVERY = """
SELECT any(endpoint), any(subject_id) FROM deliveries
WHERE delivery_id = {id:String} GROUP BY delivery_id
"""


@click.group()
def webhook() -> None:
    """Try a webhook, or send a delivery again."""


@webhook.command()
@click.argument("name")
@config_option
@told_errors
def test(name: str, config_path: Path) -> None:
    """Send the beginning and the end of a test alert to webhook NAME."""
    loaded = load(config_path)
    config = _configured(loaded, name)
    _send(loaded, config, trial_notices(config, now_ns=SystemClock().now_ns()))


@webhook.command()
@click.argument("delivery_id")
@config_option
@told_errors
def replay(delivery_id: str, config_path: Path) -> None:
    """Send a delivery again, under its own id, to the endpoint it was meant for."""
    loaded = load_running(config_path)
    with database_of(loaded) as database:
        rows = database.query(_DELIVERY, parameters={"id": delivery_id}).result_rows
        if not rows:
            click.echo(f"no delivery {delivery_id!r}", err=True)
            sys.exit(1)
        name, subject_id = rows[0]
        notice = notice_again(
            Facts(database), subject_id=subject_id, endpoint=name, delivery_id=delivery_id
        )
    if notice is None:
        click.echo(f"what delivery {delivery_id!r} told is not recorded", err=True)
        sys.exit(1)
    _send(loaded, _configured(loaded, name), [notice])


def _configured(loaded: Loaded, name: str) -> WebhookConfig:
    known = {config.name: config for config in loaded.config.webhooks}
    if name not in known:
        raise ConfigError(f"{loaded.path}: no webhook {name!r}; there are {sorted(known)}")
    return known[name]


def _send(loaded: Loaded, config: WebhookConfig, notices: Iterable[Notice]) -> None:
    if not asyncio.run(_all_sent(loaded, config, notices)):
        sys.exit(1)


async def _all_sent(loaded: Loaded, config: WebhookConfig, notices: Iterable[Notice]) -> bool:
    """Send one after the other and tell each answer; False as soon as one is not taken."""
    endpoint = Endpoint(config, read_secrets(loaded, config), SystemClock())
    try:
        for notice in notices:
            answer = await endpoint.send(notice)
            taken = 200 <= answer.status < 300  # noqa: PLR2004 - HTTP's
            status = f"status {answer.status}" if answer.status else "no answer"
            click.echo(
                f"{config.name} {notice.event_type} {notice.webhook_id(config.name)}: {status} "
                f"after {answer.duration_seconds:.2f} s {answer.detail}".rstrip()
            )
            if not taken:
                return False
    finally:
        await endpoint.close()
    return True
