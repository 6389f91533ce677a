"""The ``trimtab`` command. Each subcommand imports what it needs when it runs."""

import importlib
from typing import Final

import click

_COMMANDS: Final = {
    "act": "processes",
    "alerts": "facts",
    "approve": "approvals",
    "check-config": "checks",
    "collect": "processes",
    "decisions": "facts",
    "demo": "demo",
    "detect": "processes",
    "discover": "discover",
    "evaluate": "evaluate",
    "explain": "facts",
    "export": "export",
    "migrate": "checks",
    "plan": "plan",
    "record": "processes",
    "reject": "approvals",
    "replay": "replay",
    "revert": "approvals",
    "serve": "processes",
    "sql": "facts",
    "up": "processes",
    "webhook": "webhook",
}


class LazyGroup(click.Group):
    """Knows its commands by name and imports one when it is called: the imports take seconds."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"pipelines.cli.{_COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command


@click.command(cls=LazyGroup)
@click.version_option(package_name="trimtab")
def main() -> None:
    """Find what has silently become slow, make one small reversible change, record why."""


if __name__ == "__main__":
    main()
