"""Parquet files that workers read, bytes that passes send, encrypted connections, and interrupts."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster
from distributed.security import Security
from pyarrow import feather

import separatrix as sx
from separatrix.core.base.errors import NotFiniteError, ParameterError, TableError
from separatrix.core.cluster.cluster_rows import ClusterTable
from separatrix.core.cluster.connection import LOCAL_SETTINGS, counted_traffic
from tests.core.cluster.tables import labelled


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """150 000 × 8 rows in three files of several row groups, one of them empty."""
    X, y = labelled(150_000, 8)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    folder = tmp_path_factory.mktemp("files")
    for k, part in enumerate((slice(0, 70_000), slice(70_000, 70_000), slice(70_000, 150_000))):
        columns = {f"x{j}": X[part, j] for j in range(8)}
        table = pa.table({**columns, "y": y[part], "weight": weight[part]})
        pq.write_table(table, folder / f"{k}.parquet", row_group_size=13_000)
    return X, y, weight, folder


def test_a_scan_on_a_cluster_gives_the_bits_of_memory(client, files):
    X, y, weight, folder = files
    table = sx.scan(str(folder), target="y", weight="weight", cluster=client)
    assert isinstance(table, ClusterTable)
    ours = sx.LogisticRegression().fit(table)
    np.testing.assert_array_equal(ours.coef_, sx.LogisticRegression().fit(X, y, weight).coef_)
    assert ours.feature_names_in_.tolist() == [f"x{j}" for j in range(8)]
    assert ours.certificate_.verify(table)
    streamed = sx.scan(str(folder), target="y", weight="weight")
    np.testing.assert_array_equal(ours.predict_proba(table), ours.predict_proba(streamed))


def test_a_gradient_pass_sends_a_few_kilobytes_per_task(client, files):
    *_, folder = files
    table = sx.scan(str(folder), target="y", drop="weight", cluster=client)
    sx.LogisticRegression().fit(table)
    with counted_traffic() as traffic:
        sx.LogisticRegression(solver="lbfgs").fit(table)
    gradients = [each for each in traffic if each.what in ("CompiledSums", "ValueGradient")]
    assert len(gradients) > 3
    assert max(each.tasks for each in gradients) == 2
    assert max(each.sent + each.received for each in gradients) < 10_000 * 2


def test_files_that_are_missing_or_have_changed_are_named(client, files, tmp_path):
    *_, folder = files
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    table = sx.scan(str(copy), target="y", drop="weight", cluster=client)
    table.partitions.parts
    (copy / "2.parquet").rename(copy / "2.gone")
    with pytest.raises(TableError, match=r"2\.parquet: .*no such file"):
        sx.LogisticRegression().fit(table)
    (copy / "2.gone").rename(copy / "2.parquet")
    table = sx.scan(str(copy), target="y", drop="weight", cluster=client)
    assert len(table.classes) == len(["no", "yes"])
    shutil.copy(folder / "0.parquet", copy / "2.parquet")
    with pytest.raises(TableError, match=r"2\.parquet: a worker finds another file there"):
        sx.LogisticRegression().fit(table)


def test_a_missing_value_is_named_by_its_file_and_row(client, tmp_path):
    X, y = labelled(5000, 4)
    X[4567, 2] = np.nan
    columns = {f"x{j}": X[:, j] for j in range(4)}
    pq.write_table(pa.table({**columns, "y": y}), tmp_path / "a.parquet", row_group_size=1000)
    with pytest.raises(NotFiniteError, match=r"4568.* column 'x2'"):
        sx.LogisticRegression().fit(sx.scan(str(tmp_path), target="y", cluster=client))


def test_what_cannot_be_divided_is_refused(client, tmp_path):
    path = str(tmp_path / "a.arrow")
    feather.write_feather(pa.table({"x": [1.0, 2.0], "y": ["a", "b"]}), path)
    with pytest.raises(ParameterError, match="not made of Parquet or CSV files"):
        sx.scan(path, target="y", cluster=client)
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": ["a", "b"]}), tmp_path / "a.parquet")
    with pytest.raises(ParameterError, match="cluster: got 3"):
        sx.scan(str(tmp_path / "a.parquet"), target="y", cluster=3)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate that the machine signs itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    subprocess.run([*made, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    return str(key), str(cert)


def test_encrypted_connections(certificate, files):
    X, y, _, folder = files
    key, cert = certificate
    names = ("client", "scheduler", "worker")
    sides = {f"tls_{name}_{what}": path for name in names for what, path in (("key", key), ("cert", cert))}
    security = Security(tls_ca_file=cert, require_encryption=True, **sides)
    settings = {**LOCAL_SETTINGS, "processes": False, "threads_per_worker": 2}
    with (
        LocalCluster(n_workers=1, security=security, protocol="tls://", **settings) as cluster,
        Client(cluster.scheduler_address, security=security, set_as_default=False) as client,
    ):
        assert client.scheduler.address.startswith("tls://")
        ours = sx.LogisticRegression().fit(sx.scan(str(folder), target="y", drop="weight", cluster=client))
    np.testing.assert_array_equal(ours.coef_, sx.LogisticRegression().fit(X, y).coef_)


# A process that was started in the background of a shell ignores interrupts, and so would this one, its child.
SCRIPT = """
    import signal
    import sys
    import separatrix as sx
    from tests.core.cluster.test_losses import SlowSum
    from separatrix.core.rows.targets import CLASS_NUMBERS

    if __name__ == "__main__":
        signal.signal(signal.SIGINT, signal.default_int_handler)
        table = sx.scan(sys.argv[1], target="y", drop="weight", cluster="local")
        table.rows(CLASS_NUMBERS).fold(SlowSum(sys.argv[2], 1))
"""


def test_an_interrupt_ends_the_fit_and_the_local_workers(files, tmp_path):
    *_, folder = files
    script, marks = tmp_path / "script.py", tmp_path / "marks"
    marks.mkdir()
    script.write_text(textwrap.dedent(SCRIPT))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["."]), "SEPARATRIX_THREADS": "2"}
    command = [sys.executable, str(script), str(folder), str(marks)]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while len(os.listdir(marks)) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    workers = [int(name) for name in os.listdir(marks)]
    assert len(workers) == 2
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=40)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in said
    end = time.monotonic() + 20
    while any(is_alive(pid) for pid in workers) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(is_alive(pid) for pid in workers)


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
