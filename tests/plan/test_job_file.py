"""Jobs in files: what is read, and how what is wrong is told."""

import json

import pytest

from cluster.topology import Topology
from pipelines.config.load import read_as
from pipelines.errors import ConfigError
from pipelines.plan.examples import EXAMPLES
from pipelines.plan.job_file import jobs_of, read_jobs

EXAMPLE = EXAMPLES["leaf-spine-64"]()


def written(folder, text: str, name: str = "jobs.toml"):
    path = folder / name
    path.write_text(text)
    return path


def test_hosts_stand_for_a_rank_per_nic_and_stride_for_a_collective_per_number(tmp_path):
    path = written(
        tmp_path,
        """
        [[jobs]]
        job_id = "a"
        priority = 3
        hosts = ["h3", "h1"]
        [[jobs.collectives]]
        kind = "all_reduce"
        bytes = 1e9
        period_seconds = 1
        stride = 4
        [[jobs.collectives]]
        kind = "all_to_all"
        bytes = 1e9
        block = 4
        """,
    )
    (job,) = read_jobs(path, EXAMPLE.topology)
    assert job.nics == {
        **{n: f"h3:mlx5_{n}" for n in range(4)},
        **{4 + n: f"h1:mlx5_{n}" for n in range(4)},
    }
    assert (job.job_id, job.priority, job.is_steerable) == ("a", 3, True)
    assert [c.ranks for c in job.collectives] == [
        *((n, n + 4) for n in range(4)),
        (0, 1, 2, 3),
        (4, 5, 6, 7),
    ]


def test_json_says_the_same_with_ranks_by_nic_or_gpu(tmp_path):
    body = {
        "jobs": [
            {
                "job_id": "a",
                "steerable": False,
                "ranks": [
                    {"rank": 5, "nic": "nic/h1:mlx5_2"},
                    {"rank": 7, "gpu": "gpu/h2:GPU-2-3"},
                ],
                "collectives": [
                    {"kind": "parameter_server", "bytes": 8, "servers": [5], "phase_seconds": 0.0}
                ],
            }
        ]
    }
    (job,) = read_jobs(written(tmp_path, json.dumps(body), "jobs.json"), EXAMPLE.topology)
    assert (job.nics, job.is_steerable) == ({5: "h1:mlx5_2", 7: "h2:mlx5_3"}, False)
    assert (job.collectives[0].servers, job.collectives[0].ranks) == ((5,), (5, 7))


JOB = '[[jobs]]\njob_id = "a"\nhosts = ["h1", "h2"]\n'
COLLECTIVE = JOB + "[[jobs.collectives]]\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "jobs: Field required"),
        ("jobs = []", "jobs: there is no job"),
        ("jobs = 3", "jobs: Input should be a valid tuple"),
        ("jobs = [", "not TOML: Invalid value (at end of document)"),
        (JOB + "colectives = []", "jobs.0.colectives: unknown key; known are ['cell', 'colle"),
        (
            COLLECTIVE + 'kind = "gossip"\nbytes = 1',
            "jobs.0.collectives.0.kind: is 'gossip', not one of ['all_gather', 'all_reduce', ",
        ),
        (
            COLLECTIVE + 'kind = "all_reduce"\nbytes = -1',
            "jobs.0.collectives.0.bytes: Input should be greater than or equal to 0",
        ),
        (
            COLLECTIVE + 'kind = "all_reduce"\nalgorithm = "star"\nbytes = 1',
            "jobs.0.collectives.0: collective 'all_reduce': algorithm is 'star', not one of "
            "['direct', 'ring', 'tree']",
        ),
        (
            COLLECTIVE + 'kind = "all_reduce"\nbytes = 1\nstride = 2\nranks = [0]',
            "jobs.0.collectives.0: has ranks and stride, at most one",
        ),
        (
            COLLECTIVE + 'kind = "all_reduce"\nbytes = 1\nranks = [0, 99]',
            "jobs.0.collectives.0: collective 'all_reduce' names ranks [99] that are not announced",
        ),
        ('[[jobs]]\njob_id = "a"\n', "jobs.0: has neither hosts nor ranks, one of them is needed"),
        (
            JOB + 'ranks = [{ rank = 0, nic = "nic/h1:mlx5_0" }]',
            "jobs.0: has both hosts and ranks, one of them is needed",
        ),
        (
            '[[jobs]]\njob_id = "a"\nhosts = ["h99"]',
            "jobs.0.hosts: 'h99' has no link in the topology, 16 hosts do: h1, h2, h3, h4, h5, h6, "
            "h7, h8, …",
        ),
        (
            '[[jobs]]\njob_id = "a"\nranks = [{ rank = 0, nic = "nic/h1:eth9" }]',
            "jobs.0.ranks.0.nic: the topology has no link at 'h1:eth9', it has h1, h2, h3, h4, h5, "
            "h6, h7, h8, …",
        ),
        (
            '[[jobs]]\njob_id = "a"\nranks = [{ rank = 0, gpu = "gpu/h1:GPU-?" }]',
            "jobs.0.ranks.0: has no NIC: nic is '', not nic/<host>:<device>, and gpu "
            "'gpu/h1:GPU-?' has none in the topology",
        ),
        (
            '[[jobs]]\njob_id = "a"\n'
            'ranks = [{ rank = 0, nic = "nic/h1:mlx5_0" }, { rank = 0, nic = "nic/h1:mlx5_1" }]',
            "jobs.0.ranks.1.rank: 0 is there twice",
        ),
    ],
)
def test_what_is_wrong_is_told_with_file_key_and_what_is_allowed(tmp_path, text, told):
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as error:
        read_jobs(path, EXAMPLE.topology)
    assert str(error.value).startswith(f"{path}: {told}")
    assert "\n" not in str(error.value)


def test_a_json_file_that_is_none_and_one_that_is_missing_are_told(tmp_path):
    for path, told in (
        (written(tmp_path, "{", "jobs.json"), "not JSON: Expecting property name"),
        (written(tmp_path, "[]", "list.json"), "holds no table of keys"),
        (tmp_path / "none.toml", "No such file or directory"),
    ):
        with pytest.raises(ConfigError, match=f"^{path}: {told}"):
            read_jobs(path, EXAMPLE.topology)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_examples_files_say_what_the_example_says(tmp_path, name):
    example = EXAMPLES[name]()
    paths = {file: written(tmp_path, text, file) for file, text in example.files().items()}
    topology = read_as(Topology, paths["topology.toml"])
    assert topology == example.topology
    assert read_jobs(paths["jobs.toml"], topology) == jobs_of(example.jobs, topology)
