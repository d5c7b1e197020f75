"""``brim ui`` as a process: where it listens, for whom, and how it ends."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cli.conftest import COMMAND, Brim

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such signal there")


@contextmanager
def running(brim: Brim, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start it, and yield the process and its link."""
    process = subprocess.Popen(
        [COMMAND, "ui", "--no-open", *words],
        env=brim.environ,
        cwd=brim.cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def status(link: str, path: str = "") -> int:
    host, _, rest = link.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=300)
    try:
        connection.request("GET", path or f"/{rest}")
        return connection.getresponse().status
    finally:
        connection.close()


def test_headers_above_the_limit_are_refused(brim: Brim) -> None:
    with running(brim, "--port", "0") as (_, link):
        place, _, rest = link.removeprefix("http://").partition("/")
        for size, expected in ((1_000, 200), (20_000, 431), (60_000, 431)):
            connection = http.client.HTTPConnection(place, timeout=300)
            connection.request("GET", f"/{rest}", headers={"X-Long": "a" * size})
            assert connection.getresponse().status == expected
            connection.close()


def test_it_serves_on_this_machine_and_ends_at_once(brim: Brim) -> None:
    with running(brim, "--port", "0") as (process, link):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{40,}", link)
        assert status(link) == 200
        assert status(link, "/") == 401
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
        assert process.returncode in (0, 130)
        assert "Traceback" not in err
    assert not (brim.home / ".brim").exists()


def test_json_has_the_link(brim: Brim) -> None:
    with running(brim, "--port", "0", "--json") as (process, first):
        assert process.stdout is not None
        text = first
        while not text.endswith("}"):
            text += process.stdout.readline().strip()
        assert status(json.loads(text)["url"]) == 200


def test_two_at_once_take_different_ports_and_secrets(brim: Brim) -> None:
    with running(brim) as (_, one), running(brim) as (_, other):
        assert one.partition("?")[0] != other.partition("?")[0]
        assert one.partition("=")[2] != other.partition("=")[2]
        assert (status(one), status(other)) == (200, 200)


def test_a_port_in_use_is_named(brim: Brim) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = brim("ui", "--no-open", "--port", str(port))
    assert ran.code == 2
    assert f"port {port} cannot be used" in ran.err
    assert "--port" in ran.err


@pytest.mark.parametrize("port", ["65536", "-1", "x"])
def test_what_isnt_a_port(brim: Brim, port: str) -> None:
    assert brim("ui", "--port", port).code == 2


def test_an_agent_cant_open_it(brim: Brim) -> None:
    ran = brim("ui", "--no-open", env={"CLAUDECODE": "1"})
    assert ran.code == 1
    assert "only a person" in ran.err
