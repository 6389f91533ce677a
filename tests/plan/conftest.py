from tests.record.conftest import client
from tests.services import database, scratch_database

__all__ = ["client", "database", "scratch_database"]
