"""What every test may use."""

from __future__ import annotations

import base64
import ctypes
import gc
import hashlib
import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from brim.hooks.turns import write_turn
from brim.models import MemoryWindowStore, remember_in, use
from brim.tokens.engines import encoding_counter
from brim.tokens.vocabulary import load_table_counter, open_table
from tests.temporary import TestRun
from tests.waiting import PATIENCE

RANK_FILES = {
    "o200k_base": "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
    "cl100k_base": "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
}
"""What tiktoken calls its rank files; it looks for them in its cache under the SHA-1 of these
names."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As in the background of a script: then nothing ends with Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)


# The same few examples in every run: what fails, fails because of a change. To look for rare cases,
# draw many others: scripts/test --hypothesis-profile explore. How fast a machine is, is for bench/.
settings.register_profile("same", max_examples=40, deadline=None, derandomize=True)
settings.register_profile(
    "explore", max_examples=300, deadline=None, derandomize=False, print_blob=True
)
settings.load_profile("same")


def pytest_configure(config: pytest.Config) -> None:
    """Give this run a temporary folder of its own, removed when it ends. The processes of xdist use
    the same one."""
    if hasattr(config, "workerinput"):
        return
    try:
        run = TestRun()
    except OSError as error:
        raise pytest.UsageError(str(error)) from error
    run.use()
    config.add_cleanup(run.remove)


def pytest_collection_finish() -> None:
    """Tell the garbage collector that what was imported stays: it needn't be looked at again and
    again."""
    gc.freeze()


Oracle = Callable[[str, str], int]


def rank_file(encoding: str) -> bytes:
    """Write the shipped table of *encoding* as the rank file that it was built from."""
    return b"".join(
        base64.b64encode(token) + b" %d\n" % rank
        for rank, token in enumerate(open_table(encoding).tokens())
    )


@pytest.fixture(scope="session")
def rank_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the rank files where tiktoken looks for them."""
    folder: Path = tmp_path_factory.mktemp("ranks")
    for encoding, name in RANK_FILES.items():
        (folder / hashlib.sha1(name.encode()).hexdigest()).write_bytes(rank_file(encoding))
    return folder


@pytest.fixture(scope="module")
def oracle(rank_folder: Path) -> Iterator[Oracle]:
    """Return tiktoken's count of a text in an encoding.

    tiktoken finds brim's own vocabulary in its cache, checks that it is OpenAI's by its hash, and
    never downloads. It forgets its encodings when the module ends, since each takes 75 MB.
    """
    import tiktoken.registry

    def load(encoding: str) -> tiktoken.Encoding:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TIKTOKEN_CACHE_DIR", str(rank_folder))
            return tiktoken.get_encoding(encoding)

    def count(text: str, encoding: str) -> int:
        # tiktoken defines the one by the other: they differ in special tokens, which aren't
        # ordinary text.
        name = "o200k_base" if encoding == "o200k_harmony" else encoding
        return len(load(name).encode_ordinary(text))

    yield count
    tiktoken.registry.ENCODINGS.clear()


@pytest.fixture(scope="module", autouse=True)
def _vocabularies_are_freed() -> Iterator[None]:
    """Give the memory of vocabularies back when a module ends: two processes that keep all of them
    take more than 2 GB."""
    yield
    encoding_counter.cache_clear()
    load_table_counter.cache_clear()
    gc.collect()
    return_memory()


@cache
def _c_library() -> ctypes.CDLL | None:
    """Return the C library; None where programs don't share one."""
    try:
        return ctypes.CDLL(None)
    except (OSError, TypeError):
        return None


def return_memory() -> None:
    """Return what was freed to the system: glibc keeps it otherwise."""
    trim = getattr(_c_library(), "malloc_trim", None)
    if trim is not None:
        trim(0)


@pytest.fixture(scope="session", autouse=True)
def _one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let the clients of SDKs load one certificate instead of all, in 2 ms instead of 60: no test
    needs any."""
    import certifi

    first, end, _ = (
        Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----\n")
    )
    path = tmp_path_factory.mktemp("certificates") / "one.pem"
    path.write_text(first + end, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(path))
        yield


HOOK_LIMITS = (
    "brim.hooks.process.SECONDS",
    "brim.hooks.endings.SECONDS",
    "brim.money.spending.HOOK_SECONDS",
)


@pytest.fixture(scope="session", autouse=True)
def _hooks_are_not_late() -> Iterator[None]:
    """Give hooks in this process more time than any machine needs. Tests of lateness set it
    themselves."""
    with pytest.MonkeyPatch.context() as patch:
        for name in HOOK_LIMITS:
            patch.setattr(name, PATIENCE)
        defaults = write_turn.__kwdefaults__
        assert defaults is not None
        patch.setitem(defaults, "seconds", PATIENCE)
        yield


@pytest.fixture(autouse=True)
def _nothing_configured_or_reported() -> Iterator[None]:
    """Begin and end every test with the shipped model table, whatever another one configured or
    reported."""
    before = remember_in(MemoryWindowStore())
    use({})
    yield
    use({})
    remember_in(before)


@pytest.fixture(autouse=True)
def _broken_pipes_stay_errors() -> Iterator[None]:
    """The command line lets SIGPIPE end its process; a test that runs it in this one must not leave
    that behind."""
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
