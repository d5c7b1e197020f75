"""What test runners and compilers print, with times, lines and addresses that differ each time."""

from __future__ import annotations

from labelled.streams import Session


def pytest_failed(s: Session, error: str, test: str = "test_total", failed: int = 1) -> str:
    """What pytest prints when *test* fails with *error*."""
    line = s.number(10, 400)
    return (
        f"============================= test session starts ==============================\n"
        f"collected 12 items\n\ntests/test_{s.name}.py F\n\n=================================== FAILURES ===\n"
        f"    def {test}():\n>       assert run() == 3\nE       {error}\n\n"
        f"tests/test_{s.name}.py:{line}: AssertionError\n"
        f"=========================== short test summary info ============================\n"
        f"FAILED tests/test_{s.name}.py::{test} - {error}\n"
        f"========================= {failed} failed, {12 - failed} passed in {s.took()} =========================\n"
    )


def pytest_passed(s: Session) -> str:
    """What pytest prints when all is well."""
    return f"........\n12 passed in {s.took()}\n"


def cargo_failed(s: Session, error: str, test: str = "tests::sums") -> str:
    """What ``cargo test`` prints when *test* fails with *error*."""
    took = s.took()
    return (
        f"   Compiling shop v0.1.0 (/home/user/project)\n    Finished `test` profile in {took}\n     Running unittests"
        f" src/lib.rs (target/debug/deps/shop-{s.random.getrandbits(64):016x})\n\nrunning 3 tests\n"
        f"test {test} ... FAILED\n\n"
        f"failures:\n\n---- {test} stdout ----\n"
        f"thread '{test}' panicked at src/{s.name}.rs:{s.number(5, 300)}:9:\n{error}\n"
        f"note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n"
        f"test result: FAILED. 2 passed; 1 failed; 0 ignored; finished in {took}\n\n"
        "error: test failed, to rerun pass `--lib`"
    )


def go_failed(s: Session, test: str, error: str) -> str:
    """What ``go test`` prints when *test* fails with *error*."""
    return (
        f"--- FAIL: {test} ({s.took()})\n    {s.name}_test.go:{s.number(9, 200)}: {error}\nFAIL\n"
        f"FAIL\texample.com/shop/{s.name}\t{s.took()}\nFAIL"
    )


def tsc_failed(s: Session, code: int, error: str) -> str:
    """What the TypeScript compiler says."""
    return f"src/{s.name}.ts({s.number(1, 200)},{s.number(1, 40)}): error TS{code}: {error}"
