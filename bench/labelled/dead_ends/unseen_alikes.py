"""What only looks like a dead end, in the first unseen set."""

from __future__ import annotations

from labelled.outputs import cargo_failed, go_failed, tsc_failed
from labelled.streams import CLAUDE, Scenarios, Session, scenario

UNSEEN_ALIKES: Scenarios = []


@scenario(UNSEEN_ALIKES, shapes=CLAUDE)
def whole_batch_is_cancelled(s: Session) -> None:
    for i in range(3):
        first = (
            "Bash",
            {"command": f"go vet ./pkg{i}"},
            f"Exit code 1\npkg{i}/a.go:3: unreachable code",
            True,
        )
        rest = [
            (
                "Bash",
                {"command": f"go build ./{x}"},
                "<tool_use_error>Cancelled: parallel tool call Bash(go vet) errored</tool_use_error>",
                True,
            )
            for x in "abc"
        ]
        s.together([first, *rest])


@scenario(UNSEEN_ALIKES, shapes=CLAUDE)
def nobody_allows_it(s: Session) -> None:
    text = s.pick(
        "Claude requested permissions to write to /etc/hosts, but you haven't granted it yet.",
        "This command requires approval",
        "Permission to use Bash with command curl has been denied.",
    )
    for command in (
        "curl -o a https://example.com/a",
        "wget https://example.com/a",
        "curl https://example.com/a",
        "aria2c https://example.com/a",
        "curl https://example.com/a",
    ):
        s.tool("Bash", {"command": command}, text, True)


@scenario(UNSEEN_ALIKES)
def waiting_for_a_rollout(s: Session) -> None:
    for i in range(5):
        s.sh(
            "kubectl rollout status deploy/web --timeout=10s",
            (
                f'Waiting for deployment "web" rollout to finish: {i} of 5 updated replicas are available...\n'
                "error: timed out waiting for the condition"
            ),
            1,
        )
    s.sh(
        "kubectl rollout status deploy/web --timeout=10s",
        'deployment "web" successfully rolled out',
    )


@scenario(UNSEEN_ALIKES)
def waiting_for_a_database(s: Session) -> None:
    for _ in range(5):
        s.sh(
            "sleep 3 && docker compose exec db psql -U shop -c 'select 1'",
            "psql: error: connection to server on socket failed: the database system is starting up",
            2,
        )
    s.sh(
        "sleep 3 && docker compose exec db psql -U shop -c 'select 1'",
        " ?column? \n----------\n        1",
    )


@scenario(UNSEEN_ALIKES)
def watching_a_long_job(s: Session) -> None:
    for _ in range(5):
        s.sh("tail -1 train.log", "epoch 3 running")
        s.sh("nvidia-smi --query-gpu=utilization.gpu --format=csv", "97 %")


@scenario(UNSEEN_ALIKES)
def rust_red_then_green(s: Session) -> None:
    for error in ("not yet implemented", "assertion `left == right` failed\n  left: 0\n right: 42"):
        s.edit(s.path(ending="rs"), f"// {error[:5]}", f"// after {error[:5]}")
        s.sh("cargo test", cargo_failed(s, error), 101)
    s.edit(s.path(ending="rs"), "0", "42")
    s.sh("cargo test", "test result: ok. 3 passed; 0 failed")
    s.end()


@scenario(UNSEEN_ALIKES)
def go_test_fails_once_more_then_passes(s: Session) -> None:
    command = f"go test ./{s.name} -run TestSplit"
    s.edit(s.path(f"{s.name}_test", "go"), "// tests", "func TestSplit(t *testing.T) {}")
    s.sh(command, go_failed(s, "TestSplit", "got 1, want 2"), 1)
    s.edit(s.path(ending="go"), "n := 1", "n := count()")
    s.sh(command, go_failed(s, "TestSplit", "got 1, want 2"), 1)
    s.edit(s.path(ending="go"), "return 1", "return n")
    s.sh(command, f"ok  \texample.com/shop\t{s.took()}")
    s.end()


@scenario(UNSEEN_ALIKES)
def fewer_type_errors_each_time(s: Session) -> None:
    names = ["total", "price", "label", "count", "owner"]
    for i in range(len(names)):
        out = "\n".join(
            tsc_failed(s, 2339, f"Property '{name}' does not exist on type 'Item'.")
            for name in names[i:]
        )
        s.sh("npx tsc --noEmit", out, 2)
        s.edit(s.path(ending="ts"), f"item.{names[i]}", f"item.data.{names[i]}")
    s.sh("npx tsc --noEmit", "")


@scenario(UNSEEN_ALIKES)
def registry_is_slow(s: Session) -> None:
    command = s.pick(
        "cargo build", "go mod download", "mvn -q dependency:resolve", "docker pull postgres:16"
    )
    for _ in range(s.number(2, 3)):
        s.sh(
            command,
            s.pick(
                "error: failed to download: [28] Timeout was reached (Operation timed out)",
                "dial tcp: lookup proxy.example.com: i/o timeout",
                "net/http: TLS handshake timeout",
                "received unexpected HTTP status: 503 Service Unavailable",
            ),
            1,
        )
    s.sh(command, "done")


@scenario(UNSEEN_ALIKES)
def same_script_missing_in_each_package(s: Session) -> None:
    for package in ("ui", "server", "shared", "docs", "e2e"):
        s.sh(
            f"cd /home/user/project/packages/{package} && npm run lint",
            (
                'npm error Missing script: "lint"\nnpm error\nnpm error To see a list of scripts, run:\n'
                "npm error   npm run"
            ),
            1,
        )


@scenario(UNSEEN_ALIKES)
def questions_that_are_answered_no(s: Session) -> None:
    for _ in range(4):
        s.sh("git diff --quiet HEAD -- go.sum", "", 1)
        s.sh("rg -q 'unsafe ' src/", "", 1)
        s.sh("which rustup", "", 1)
        s.sh("[ -d vendor ] && echo yes", "", 1)
        s.sh("pgrep -f webpack", "", 1)


@scenario(UNSEEN_ALIKES)
def probing_for_programs(s: Session) -> None:
    for program in ("python3.9", "python3.10", "python3.12", "python3.13", "pypy3"):
        s.sh(f"{program} --version", f"bash: line 1: {program}: command not found", 127)


@scenario(UNSEEN_ALIKES)
def formatter_has_other_complaints(s: Session) -> None:
    for i in range(4):
        s.sh(
            "cargo fmt --check",
            f"Diff in /home/user/project/src/f{i}.rs:{s.number(1, 90)}:\n-a\n+b",
            1,
        )
        s.edit(s.path(f"f{i}", "rs"), "a", "b")
        s.sh(
            "cargo clippy -- -D warnings",
            f"error: unused variable: `v{i}`\nerror: could not compile `shop`",
            101,
        )


@scenario(UNSEEN_ALIKES)
def known_failure_in_the_whole_suite(s: Session) -> None:
    for i in range(4):
        s.edit(s.path(ending="go"), f"step{i}", f"step{i + 1}")
        s.sh(
            "go test ./...",
            (
                f"--- FAIL: TestClock ({s.took()})\n    clock_test.go:14: timezone database is missing\nFAIL\n"
                f"FAIL\texample.com/shop/clock\t{s.took()}\n"
                f"ok  \texample.com/shop/{s.pick('a', 'b')}\t{s.took()}\nFAIL"
            ),
            1,
        )
    s.end()


@scenario(UNSEEN_ALIKES, shapes=CLAUDE)
def value_is_tuned_forward(s: Session) -> None:
    for old, new in ((64, 128), (128, 256), (256, 512)):
        s.edit(s.path(ending="yaml"), f"pool: {old}", f"pool: {new}")
        s.sh("k6 run load.js", f"http_req_duration avg={s.took()}")
    s.end()


@scenario(UNSEEN_ALIKES)
def branches_and_rebases(s: Session) -> None:
    s.edit(s.path(ending="rb"), "a = 1", "a = 2")
    s.sh("git add -A && git commit -m 'change a'", "[work 77aa11b] change a")
    for command in (
        "git switch main",
        "git checkout work",
        "git rebase main",
        "git checkout -B hotfix origin/main",
        "git checkout v1.2.0",
        "git restore --staged Gemfile.lock",
    ):
        s.sh(command, "")
    s.end()


@scenario(UNSEEN_ALIKES)
def work_is_set_aside_for_a_moment(s: Session) -> None:
    s.edit(s.path(ending="go"), "a := 1", "a := 2")
    s.sh(
        "git stash push -u -m wip && go test ./... ; git stash apply",
        "ok  \texample.com/shop\t0.3s",
    )
    s.filler()
    s.end()


@scenario(UNSEEN_ALIKES)
def generated_files_are_restored(s: Session) -> None:
    s.edit(s.path(ending="go"), "a := 1", "a := 2")
    s.sh("go generate ./...", "")
    s.sh("git checkout -- api/gen.pb.go go.sum", "")
    s.sh("git restore docs/openapi.json", "")
    s.end()


@scenario(UNSEEN_ALIKES, shapes=CLAUDE)
def person_changes_their_mind(s: Session) -> None:
    path = s.path(ending="swift")
    s.write(path, "struct A {}\n")
    s.write(path, "class A {}\n")
    s.human(
        s.pick("I prefer the struct after all", "ne, bitte wieder zurück", "revert to the struct")
    )
    s.write(path, "struct A {}\n")
    s.end()


@scenario(UNSEEN_ALIKES, shapes=CLAUDE)
def tracing_comes_and_goes(s: Session) -> None:
    path = s.path(ending="rs")
    old = "let total = sum(&items);"
    new = old + s.pick(
        "\n    dbg!(&total);",
        '\n    eprintln!("total {total}");',
        '\n    println!("{:?}", items);\n    tracing::debug!(?total);',
    )
    s.edit(path, old, new)
    s.sh("cargo run", "[src/a.rs:3] &total = 3")
    s.edit(path, new, old)
    s.end()


@scenario(UNSEEN_ALIKES, shapes=CLAUDE)
def fix_is_shown_to_matter(s: Session) -> None:
    path = s.path(ending="go")
    s.edit(path, "defer a()", "defer b()")
    s.sh("go test ./...", "ok  \texample.com/shop\t0.2s")
    s.edit(path, "defer b()", "defer a()")
    s.sh("go test ./...", go_failed(s, "TestClose", "leaked a handle"), 1)
    s.edit(path, "defer a()", "defer b()")
    s.sh("go test ./...", "ok  \texample.com/shop\t0.2s")
    s.end()


@scenario(UNSEEN_ALIKES, shapes=CLAUDE)
def scratch_file_is_written_again(s: Session) -> None:
    for body in ("a", "b", "a", "b"):
        s.write("/tmp/try.sql", f"select {body};")
        s.sh("psql -f /tmp/try.sql", f"{body}\n---\n{s.number(1, 99)}")


@scenario(UNSEEN_ALIKES, shapes=CLAUDE)
def helper_is_stopped_or_busy(s: Session) -> None:
    s.agent(
        "Look around",
        s.pick(
            "API Error: 429 rate_limit_error: too many requests", "API Error: Request timed out."
        ),
        True,
    )
    s.tool(
        "Task",
        {"description": "x", "prompt": "x"},
        "[Request interrupted by user for tool use]",
        True,
    )
    s.agent(
        "Look around", "Agent type 'explorer' not found. Available agents: general-purpose", True
    )
    s.end()


@scenario(UNSEEN_ALIKES, shapes=CLAUDE)
def person_only_rewinds_talk(s: Session) -> None:
    s.human("what does this do?")
    s.read(s.path(), "1\tpass\n")
    s.human("/rewind")
    s.end()


@scenario(UNSEEN_ALIKES)
def benchmark_fails_with_other_numbers(s: Session) -> None:
    for value in (910, 640, 380, 250):
        s.sh("python bench/latency.py", f"FAILED target: p99 is {value} ms, must be at most 200", 1)
        s.edit(s.path(), f"size = {value}", f"size = {value // 2}")


@scenario(UNSEEN_ALIKES)
def different_bugs_on_the_way(s: Session) -> None:
    for i, error in enumerate(
        (
            "ECONNREFUSED 127.0.0.1:5432",
            'relation "users" does not exist',
            'column "email" is missing',
            "duplicate key value",
        )
    ):
        s.sh(
            "node scripts/seed.js",
            f"Error: {error}\n    at Client.query (/home/user/project/db.js:{20 + i}:5)",
            1,
        )
        s.edit(s.path(ending="js"), f"// {i}", f"fix{i}()")
    s.sh("node scripts/seed.js", "seeded")
