"""The settings of a cluster's jobs: where they are kept, and what a new one is like."""

import pytest

from crawler.settings import ClusterGroup, Settings

SERVER = "redis://ann:s3cret@redis.test:6379"


@pytest.mark.parametrize(
    ("wrong", "why"),
    [({"ttl": 0.5}, "from 1 to 600 seconds"), ({"shards": 2000}, "from 1 to 1024")],
)
def test_what_no_job_can_have_is_refused(wrong, why):
    with pytest.raises(ValueError, match=why):
        ClusterGroup(**wrong)


def test_the_file_may_name_the_server_and_the_environment_another_one(tmp_path):
    path = tmp_path / "crawler.toml"
    path.write_text('redis = "redis://here"\n[cluster]\nttl = "1m"\nshards = 8\n')

    settings = Settings.load(toml=path, environ={"CRAWLER_REDIS": SERVER})

    assert settings.cluster == ClusterGroup(SERVER, 60.0, 8)


def test_the_password_of_the_server_is_never_shown():
    settings = Settings.load(environ={"CRAWLER_REDIS": SERVER})
    [row] = settings.explain("redis")

    assert settings.cluster.redis == SERVER
    assert "s3cret" not in f"{row} {row.to_dict()}"
    assert "s3cret" not in repr(settings)
