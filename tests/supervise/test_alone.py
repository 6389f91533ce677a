from contextlib import ExitStack

import pytest

from pipelines.errors import ConfigError
from pipelines.supervise.alone import alone_in


def test_second_supervisor_on_one_directory_is_refused(tmp_path):
    with ExitStack() as held:
        held.enter_context(alone_in(tmp_path))
        with pytest.raises(ConfigError, match="another `trimtab up` runs here"):
            held.enter_context(alone_in(tmp_path))


def test_directory_is_free_again_afterwards(tmp_path):
    with alone_in(tmp_path / "new"):
        pass
    with alone_in(tmp_path / "new"):
        assert (tmp_path / "new" / "up.lock").exists()
