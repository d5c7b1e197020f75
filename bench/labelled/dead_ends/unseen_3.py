"""Written when the rules had been changed by the unseen set before, with other tools."""

from __future__ import annotations

from labelled.streams import CLAUDE, Scenarios, Session, scenario

UNSEEN_3: Scenarios = []


@scenario(UNSEEN_3, same_call="confirmed")
def port_is_in_use(s: Session) -> None:
    for _ in range(3):
        s.sh(
            "pnpm dev",
            (
                f"[{s.number(10, 23)}:{s.number(10, 59)}:{s.number(10, 59)}] Error: listen EADDRINUSE:"
                " address already in use :::3000\n"
                f"    at Server.setupListenHandle (node:net:{s.number(1000, 1999)}:16)"
            ),
            1,
        )
        s.filler()


@scenario(UNSEEN_3)
def cluster_cannot_be_reached(s: Session) -> None:
    for c in (
        "helm list",
        "helm install web ./chart",
        "helm upgrade web ./chart",
        "helm status web",
    ):
        s.sh(
            c,
            (
                'Error: Kubernetes cluster unreachable: Get "http://localhost:8080/version": dial tcp'
                " 127.0.0.1:8080: connect: connection refused"
            ),
            1,
        )
        s.filler()


@scenario(UNSEEN_3, failing_test="confirmed", allows=("same-call",))
def vitest_does_not_move(s: Session) -> None:
    def out() -> str:
        return (
            f" RUN  v2.1.{s.number(1, 9)} /home/user/project\n\n"
            f" ❯ src/{s.name}.test.ts (3 tests | 1 failed) {s.number(2, 80)}ms\n"
            f"   × {s.name} > formats {s.number(2, 9)}ms\n"
            "     → expected '1,0' to be '1.0' // Object.is equality\n\n Test Files  1 failed (1)\n"
            f"      Tests  1 failed | 2 passed (3)\n   Start at  10:{s.number(10, 59)}:12\n"
            f"   Duration  {s.number(200, 900)}ms"
        )

    for new in ("", "x.toFixed(1)", "Intl.NumberFormat('en')", "String(x)"):
        if new:
            s.edit(s.path(ending="ts"), "x", new)
            s.filler()
        s.sh("npm test -- --run", out(), 1)
    s.end()


@scenario(UNSEEN_3, failing_test="confirmed", allows=("same-call",))
def flutter_test_does_not_move(s: Session) -> None:
    for new in ("", "a.trim()", "a.trimLeft()"):
        if new:
            s.edit(s.path(ending="dart"), "a", new)
        s.sh(
            f"flutter test test/{s.name}_test.dart",
            (
                f"00:0{s.number(1, 9)} +2: loading\n00:0{s.number(1, 9)} +2 -1: {s.name} trims [E]\n"
                "  Expected: 'a'\n    Actual: 'a '\n     Which: is different. Both strings start the same\n"
                f"  package:test_api expect\n  test/{s.name}_test.dart {s.number(4, 99)}:5 main.<fn>\n"
                f"00:0{s.number(1, 9)} +2 -1: Some tests failed."
            ),
            1,
        )
    s.end()


@scenario(UNSEEN_3, undone_edit="confirmed")
def file_is_restored_from_its_commit(s: Session) -> None:
    s.edit(s.path(ending="lua"), "local a", "local b")
    s.sh("busted", "0 successes / 1 failure", 1)
    s.sh(f"git restore --source=HEAD -- {s.path(ending='lua')[19:]}")
    s.filler()
    s.end()


@scenario(UNSEEN_3, undone_edit="confirmed", shapes=CLAUDE)
def several_edits_go_back_at_once(s: Session) -> None:
    p = s.path(ending="vue")
    e = [("a", "b"), ("c", "d")]
    s.tool(
        "MultiEdit",
        {"file_path": p, "edits": [{"old_string": x + "()", "new_string": y + "()"} for x, y in e]},
        "ok",
    )
    s.sh("npx vue-tsc", "error TS2304: Cannot find name 'b'.", 2)
    s.tool(
        "MultiEdit",
        {
            "file_path": p,
            "edits": [{"old_string": y + "()", "new_string": x + "()"} for x, y in reversed(e)],
        },
        "ok",
    )
    s.end()


@scenario(UNSEEN_3)
def two_listings_in_a_circle(s: Session) -> None:
    for _ in range(4):
        s.sh("npm ls react", "shop@1.0.0\n└── react@18.3.1")
        s.sh("npm outdated react", "Package Current Wanted\nreact 18.3.1 18.3.1", 0)


@scenario(UNSEEN_3)
def make_leads_step_by_step(s: Session) -> None:
    for i in range(5):
        s.sh(
            "make -j8",
            (
                f"src/{s.name}.c:{s.number(1, 99)}:{i}: error: unknown type name 'type{i}_t'\n"
                "make: *** [Makefile:12: all] Error 1"
            ),
            2,
        )
        s.edit(s.path(ending="c"), f"/*{i}*/", f"typedef int type{i}_t;")


@scenario(UNSEEN_3)
def tests_fail_in_other_ways(s: Session) -> None:
    for i in range(4):
        s.sh(
            "go test -race ./...",
            f"--- FAIL: Test{s.pick('A', 'B')}{i} (0.0{i}s)\n    x_test.go:1: got {i}\nFAIL",
            1,
        )
        s.edit(s.path(ending="go"), f"{i}", f"{i + 1}")


@scenario(UNSEEN_3, shapes=CLAUDE)
def two_files_are_read_in_pieces(s: Session) -> None:
    for i in range(6):
        s.tool("Read", {"file_path": s.path("a"), "offset": i * 100}, f"{i}")
        s.tool("Read", {"file_path": s.path("b"), "offset": i * 100}, f"{i}")


@scenario(UNSEEN_3)
def stream_editor_works_in_between(s: Session) -> None:
    for i in range(6):
        s.sh("git diff --stat", " a.py | 2 +-")
        s.sh(f"sed -i 's/a{i}/b{i}/' src/a.py")


@scenario(UNSEEN_3)
def linter_goes_from_file_to_file(s: Session) -> None:
    for i in range(4):
        s.sh(
            "npx eslint . --fix",
            (
                f"/home/user/project/src/f{i}.ts\n"
                f"  {s.number(1, 99)}:3  error  'v{i}' is never used  no-unused-vars\n\n✖ 1 problem"
            ),
            1,
        )
        s.edit(s.path(f"f{i}", "ts"), f"let v{i}", "")


@scenario(UNSEEN_3, shapes=CLAUDE)
def plan_is_rejected(s: Session) -> None:
    for _ in range(4):
        s.tool(
            "ExitPlanMode",
            {"plan": "same plan"},
            "User has rejected the plan. Keep planning.",
            True,
        )


@scenario(UNSEEN_3, shapes=CLAUDE)
def files_are_too_large_to_read(s: Session) -> None:
    for i in range(4):
        s.tool(
            "Read",
            {"file_path": f"/home/user/project/big{i}.json"},
            "File content (300KB) exceeds maximum allowed size (256KB). Use offset and limit.",
            True,
        )


@scenario(UNSEEN_3)
def build_in_folders_without_a_project(s: Session) -> None:
    for d in "abcde":
        s.sh(
            f"cd {d} && cargo build",
            "error: could not find `Cargo.toml` in `/home/user/project/"
            + d
            + "` or any parent directory",
            101,
        )


@scenario(UNSEEN_3, shapes=CLAUDE)
def four_agents_fail_once_each(s: Session) -> None:
    for a in ("t1", "t2", "t3", "t4"):
        s.tool("Bash", {"command": "python x.py"}, "Exit code 1\nKeyError: 'a'", True, agent=a)


@scenario(UNSEEN_3)
def commit_is_amended(s: Session) -> None:
    s.edit(s.path(), "a", "b")
    s.sh("git commit -am x", "[main 1] x")
    s.edit(s.path(), "c", "d")
    s.sh("git commit --amend --no-edit -a", "[main 2] x")
    s.sh("git checkout main")
    s.sh("git reset --soft HEAD~1")
    s.end()
