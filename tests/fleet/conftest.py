"""Fixtures of the fleet's tests: a real etcd, and a fleet on it."""

import shutil
import tempfile
from pathlib import Path

import pytest
from harness import etcd
from harness.fleet import Fleet


@pytest.fixture
def short_folder():
    """A path that fits into a unix socket's address, in a folder that only its owner can write."""
    folder = Path(tempfile.mkdtemp(prefix="stile-fleet-", dir=Path.home()))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def make_fleet(short_folder):
    """make_fleet(size, **[fleet]): a cluster of that size and a fleet on it."""
    if etcd.missing():
        pytest.skip(etcd.missing())
    made = []

    def make(size=1, client_auth=False, **settings):
        cluster = etcd.Cluster(short_folder / "etcd", size, client_auth)
        made.append(cluster)
        if client_auth:
            certificates = cluster.certificates
            settings = {"cert": certificates.client_cert, "key": certificates.client_key, **settings}
        fleet = Fleet(short_folder, cluster, **settings)
        made.append(fleet)
        return fleet

    yield make
    for part in reversed(made):
        part.close()


@pytest.fixture
def fleet(make_fleet):
    return make_fleet()
