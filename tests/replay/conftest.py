from tests.services import broker_bootstrap

__all__ = ["broker_bootstrap"]
