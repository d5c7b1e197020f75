"""The sessions that judge the rules for dead ends: written after the rules were made, with other tools and words."""

from __future__ import annotations

from streams import Scenarios, Session, scenario

CLAUDE = ("claude", "claude-bare")
HELD_OUT: Scenarios = []


def _cargo(s: Session, error: str, test: str = "tests::sums") -> str:
    took = s.took()
    return (
        f"   Compiling shop v0.1.0 (/home/user/project)\n    Finished `test` profile in {took}\n     Running unittests"
        f" src/lib.rs (target/debug/deps/shop-{s.random.getrandbits(64):016x})\n\nrunning 3 tests\ntest {test} ... FAILED\n\n"
        f"failures:\n\n---- {test} stdout ----\nthread '{test}' panicked at src/{s.name}.rs:{s.number(5, 300)}:9:\n{error}\n"
        f"note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n"
        f"test result: FAILED. 2 passed; 1 failed; 0 ignored; finished in {took}\n\nerror: test failed, to rerun pass `--lib`"
    )


def _go(s: Session, test: str, error: str) -> str:
    return f"--- FAIL: {test} ({s.took()})\n    {s.name}_test.go:{s.number(9, 200)}: {error}\nFAIL\nFAIL\texample.com/shop/{s.name}\t{s.took()}\nFAIL"


def _tsc(s: Session, code: int, error: str) -> str:
    return f"src/{s.name}.ts({s.number(1, 200)},{s.number(1, 40)}): error TS{code}: {error}"


# --- dead ends ------------------------------------------------------------------------------------------------------


@scenario(HELD_OUT, same_call="suspect")
def query_with_a_wrong_column(s: Session) -> None:
    for _ in range(3):
        s.sh(
            f"psql -d shop -c 'select {s.name}_total from orders'",
            f'ERROR:  column "{s.name}_total" does not exist\nLINE 1: select {s.name}_total from orders\n               ^',
            1,
        )
        s.filler(3)
    s.end()


@scenario(HELD_OUT, same_call="suspect")
def image_that_does_not_build(s: Session) -> None:
    for _ in range(s.number(3, 6)):
        s.sh(
            "docker build -t shop .",
            f'#7 [3/5] RUN apt-get install libfoo\n#7 {s.number(1, 9)}.{s.number(100, 999)} E: Unable to locate package libfoo\nERROR: failed to solve: process "/bin/sh -c apt-get install libfoo" did not complete successfully: exit code: 100',
            1,
        )
        s.say("I will run it once more.")
    s.end()


@scenario(HELD_OUT, same_call="resolved")
def terraform_works_after_a_while(s: Session) -> None:
    for _ in range(3):
        s.sh(
            "terraform apply -auto-approve",
            "╷\n│ Error: creating S3 Bucket: BucketAlreadyExists\n│\n│   with aws_s3_bucket.logs,\n╵",
            1,
        )
        s.filler()
    s.sh("terraform apply -auto-approve", f"Apply complete! Resources: 1 added in {s.took()}")
    s.end()


@scenario(HELD_OUT, same_call="suspect", shapes=CLAUDE)
def tool_of_a_server_fails(s: Session) -> None:
    for _ in range(3):
        s.tool("mcp__tracker__create_ticket", {"title": s.name, "board": 7}, "Board 7 has no column named Todo", True)
        s.filler()


@scenario(HELD_OUT, same_error="suspect")
def linker_is_missing(s: Session) -> None:
    for command in (
        "cargo install ripgrep",
        "cargo install fd-find",
        "cargo install --locked bat",
        "cargo install just",
    ):
        s.sh(
            command,
            f"    Updating crates.io index\n  Installing tool v{s.number(1, 14)}.0.{s.number(0, 9)}\nerror: linker `cc` not found\n  |\n  = note: No such file or directory (os error 2)",
            101,
        )
        s.filler()
    s.end()


@scenario(HELD_OUT, same_error="suspect")
def no_right_to_the_socket(s: Session) -> None:
    for rest in ("ps -a", "images", "run --rm hello-world", "compose up -d", "pull redis"):
        s.sh(
            f"docker {rest}",
            "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
            1,
        )
        s.filler()


@scenario(HELD_OUT, same_error="suspect", allows=("failing-test",))
def one_import_breaks_every_spec(s: Session) -> None:
    for spec in ("user", "order", "cart", "stock"):
        s.sh(
            f"bundle exec rspec spec/models/{spec}_spec.rb",
            f"An error occurred while loading the environment.\nFailure/Error: require 'pg'\n\nLoadError:\n  cannot load such file -- pg\nFinished in {s.took()}",
            1,
        )
        s.filler()


@scenario(HELD_OUT, alternating="suspect", shapes=CLAUDE)
def list_and_search_in_a_circle(s: Session) -> None:
    for _ in range(4):
        s.tool("Glob", {"pattern": "**/*.proto"}, "No files found")
        s.tool("Grep", {"pattern": f"message {s.name}", "path": "/home/user/project"}, "No matches found")
        if s.number(0, 1):
            s.say("Perhaps under another name.")


@scenario(HELD_OUT, alternating="suspect")
def two_status_commands_in_a_circle(s: Session) -> None:
    for _ in range(4):
        s.sh("cargo tree -d", f"shop v0.1.0\n└── serde v1.0.{s.name.count('e')}\n")
        s.sh("cargo metadata --format-version 1 | head -c 300", '{"packages":[{"name":"shop"}]}')


@scenario(HELD_OUT, missed_edit="suspect", shapes=CLAUDE)
def replacements_that_do_not_fit(s: Session) -> None:
    path = s.path(ending="go")
    for i in range(s.number(3, 5)):
        given = {"file_path": path, "edits": [{"old_string": f"if err{i} != nil", "new_string": "return err"}]}
        s.tool(
            "MultiEdit",
            given,
            f"<tool_use_error>String to replace not found in file.\nString: if err{i} != nil</tool_use_error>",
            True,
        )
        s.read(path, "1\tpackage shop\n")
    s.end()


@scenario(HELD_OUT, missed_edit="resolved", shapes=CLAUDE)
def replacement_fits_at_last(s: Session) -> None:
    path = s.path(ending="java")
    for i in range(3):
        s.edit(
            path,
            f"int a = {i};",
            "long a = 1;",
            error="Failed to edit, could not find the string to replace. 0 occurrences found for old_string",
        )
        s.filler()
    s.write(path, "class A { long a = 1; }\n")
    s.end()


@scenario(HELD_OUT, undone_edit="confirmed", shapes=CLAUDE)
def rust_edit_is_reversed_later(s: Session) -> None:
    path = s.path(ending="rs")
    s.edit(path, "let map = HashMap::new();", "let map = DashMap::new();")
    s.edit(s.path("other", "rs"), "use std::fs;", "use std::io;")
    s.sh(
        "cargo check",
        "error[E0433]: failed to resolve: use of undeclared type `DashMap`\nerror: could not compile `shop`",
        101,
    )
    s.edit(path, "fn a() {}", "fn a() { b() }")
    s.filler()
    s.edit(path, "let map = DashMap::new();", "let map = HashMap::new();")
    s.filler(4)
    s.end()


@scenario(HELD_OUT, undone_edit="confirmed", shapes=CLAUDE)
def configuration_goes_back_and_elsewhere(s: Session) -> None:
    path = "/home/user/project/vite.config.ts"
    s.edit(path, "target: 'es2020'", "target: 'esnext'")
    s.sh("npm run build", "error during build:\nRollupError: Unexpected token", 1)
    s.edit(path, "target: 'esnext'", "target: 'es2020'")
    s.edit(path, "minify: true", "minify: 'terser'")
    s.sh("npm run build", f"✓ built in {s.took()}")
    s.end()


@scenario(HELD_OUT, undone_edit="confirmed")
def hard_reset_after_a_bad_commit(s: Session) -> None:
    s.edit(s.path(ending="kt"), "val a = 1", "val a by lazy { 1 }")
    s.write(s.path("Extra", "kt"), "class Extra\n")
    s.sh("git add -A && git commit -qm 'lazy values'", "")
    s.sh("./gradlew build", "e: Unresolved reference: lazy2\n\nFAILURE: Build failed with an exception.", 1)
    s.sh(s.pick("git reset --hard HEAD~1", "git reset --hard HEAD^"), "HEAD is now at 1f2e3d4 before")
    s.filler()
    s.end()


@scenario(HELD_OUT, undone_edit="confirmed")
def folder_is_restored(s: Session) -> None:
    s.edit(f"{s.folder}/a.ex", "def a, do: 1", "def a, do: 2")
    s.edit(f"{s.folder}/b.ex", "def b, do: 1", "def b, do: 2")
    s.sh("mix test", "** (CompileError) a.ex:3: undefined function b/1", 1)
    s.sh(
        s.pick(
            f"git -C /home/user/project restore {s.folder[19:]}/",
            f"git checkout HEAD -- {s.folder[19:]}/a.ex",
            "cd /home/user/project && git checkout -- .",
        ),
        "",
    )
    s.sh("mix test", "12 tests, 0 failures")
    s.filler(4)
    s.end()


@scenario(HELD_OUT, failing_test="confirmed", allows=("same-call",))
def cargo_test_does_not_move(s: Session) -> None:
    command = s.pick(f"cargo test {s.name}", "cargo test", "cargo test --lib 2>&1 | tail -25")
    code = 0 if "tail" in command else 101
    error = "assertion `left == right` failed\n  left: 41\n right: 42"
    for new in ("", "a.wrapping_add(1)", "a.saturating_add(1)", "a + 1 - 1"):
        if new:
            s.edit(s.path(ending="rs"), "a", new)
            s.filler()
        s.sh(command, _cargo(s, error), code)
    s.end()


@scenario(HELD_OUT, failing_test="confirmed", allows=("same-call",))
def go_test_does_not_move(s: Session) -> None:
    command = s.pick(
        f"go test ./{s.name}/...",
        f"go test ./{s.name} -run TestMerge -v",
        "cd /home/user/project && go test ./... 2>&1",
    )
    for new in ("", "sort.Strings(keys)", "slices.Sort(keys)"):
        if new:
            s.filler()
            s.edit(s.path(ending="go"), "keys", new)
        s.sh(command, _go(s, "TestMerge", "got [b a], want [a b]"), 1)
    s.end()


@scenario(HELD_OUT, failing_test="confirmed", allows=("same-call",))
def type_error_does_not_go_away(s: Session) -> None:
    error = "Type 'string | undefined' is not assignable to type 'string'."
    for new in ("", "name!", "name as string", "String(name ?? '')"):
        if new:
            s.edit(s.path(ending="ts"), "name", new)
        s.sh(s.pick("npx tsc --noEmit", "npx tsc --noEmit -p ."), _tsc(s, 2322, error), 2)
        s.filler()
    s.end()


@scenario(HELD_OUT, failing_test="confirmed", allows=("same-call",))
def maven_test_does_not_move(s: Session) -> None:
    cls = s.name.capitalize()

    def out() -> str:
        return f"[INFO] Running com.shop.{cls}Test\n[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: {s.took()}\n[ERROR] com.shop.{cls}Test.rounds -- Time elapsed: {s.took()} <<< FAILURE!\norg.opentest4j.AssertionFailedError: expected: <10.00> but was: <9.99>\n\tat com.shop.{cls}Test.rounds({cls}Test.java:{s.number(10, 90)})\n[INFO] BUILD FAILURE\n[INFO] Total time:  {s.took()}"

    for new in ("", "RoundingMode.UP", "RoundingMode.HALF_UP"):
        if new:
            s.edit(s.path(cls, "java"), "RoundingMode.DOWN", new)
        s.sh(f"mvn -q test -Dtest={cls}Test", out(), 1)
        s.filler()
    s.end()


@scenario(HELD_OUT, sub_agent="confirmed", shapes=CLAUDE)
def helper_gives_up(s: Session) -> None:
    s.filler()
    s.tool(
        "Task",
        {"description": f"Rewrite {s.name}", "prompt": "Rewrite it", "subagent_type": "coder"},
        s.pick("Sub-agent crashed: tool loop detected", "The agent terminated with an error: prompt is too long"),
        True,
    )
    s.filler()


@scenario(HELD_OUT, sub_agent="confirmed", shapes=CLAUDE)
def background_helper_breaks(s: Session) -> None:
    id = f"b{s.random.getrandbits(40):x}"
    call = s.agent(
        "Measure the queries",
        "Async agent launched successfully.",
        detail={"isAsync": True, "status": "async_launched", "agentId": id},
    )
    s.task("task_started", task_id=id, tool_use_id=call, task_type="local_agent")
    s.filler(4)
    s.task(
        "task_notification",
        task_id=id,
        tool_use_id=call,
        status="failed",
        summary=s.pick("Agent failed: maximum turns", ""),
    )
    s.end()


@scenario(HELD_OUT, backtrack="confirmed", shapes=CLAUDE)
def person_types_undo(s: Session) -> None:
    s.human("move the cache to redis")
    s.write(s.path("cache", "rb"), "class Cache; end\n")
    s.sh("bundle exec rspec", "3 examples, 0 failures")
    s.human(s.pick("/undo", "/rewind 2"))
    s.end()


# --- look-alikes ----------------------------------------------------------------------------------------------------


@scenario(HELD_OUT, shapes=CLAUDE)
def whole_batch_is_cancelled(s: Session) -> None:
    for i in range(3):
        first = ("Bash", {"command": f"go vet ./pkg{i}"}, f"Exit code 1\npkg{i}/a.go:3: unreachable code", True)
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


@scenario(HELD_OUT, shapes=CLAUDE)
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


@scenario(HELD_OUT)
def waiting_for_a_rollout(s: Session) -> None:
    for i in range(5):
        s.sh(
            "kubectl rollout status deploy/web --timeout=10s",
            f'Waiting for deployment "web" rollout to finish: {i} of 5 updated replicas are available...\nerror: timed out waiting for the condition',
            1,
        )
    s.sh("kubectl rollout status deploy/web --timeout=10s", 'deployment "web" successfully rolled out')


@scenario(HELD_OUT)
def waiting_for_a_database(s: Session) -> None:
    for _ in range(5):
        s.sh(
            "sleep 3 && docker compose exec db psql -U shop -c 'select 1'",
            "psql: error: connection to server on socket failed: the database system is starting up",
            2,
        )
    s.sh("sleep 3 && docker compose exec db psql -U shop -c 'select 1'", " ?column? \n----------\n        1")


@scenario(HELD_OUT)
def watching_a_long_job(s: Session) -> None:
    for _ in range(5):
        s.sh("tail -1 train.log", "epoch 3 running")
        s.sh("nvidia-smi --query-gpu=utilization.gpu --format=csv", "97 %")


@scenario(HELD_OUT)
def rust_red_then_green(s: Session) -> None:
    for error in ("not yet implemented", "assertion `left == right` failed\n  left: 0\n right: 42"):
        s.edit(s.path(ending="rs"), f"// {error[:5]}", f"// after {error[:5]}")
        s.sh("cargo test", _cargo(s, error), 101)
    s.edit(s.path(ending="rs"), "0", "42")
    s.sh("cargo test", "test result: ok. 3 passed; 0 failed")
    s.end()


@scenario(HELD_OUT)
def go_test_fails_once_more_then_passes(s: Session) -> None:
    command = f"go test ./{s.name} -run TestSplit"
    s.edit(s.path(f"{s.name}_test", "go"), "// tests", "func TestSplit(t *testing.T) {}")
    s.sh(command, _go(s, "TestSplit", "got 1, want 2"), 1)
    s.edit(s.path(ending="go"), "n := 1", "n := count()")
    s.sh(command, _go(s, "TestSplit", "got 1, want 2"), 1)
    s.edit(s.path(ending="go"), "return 1", "return n")
    s.sh(command, f"ok  \texample.com/shop\t{s.took()}")
    s.end()


@scenario(HELD_OUT)
def fewer_type_errors_each_time(s: Session) -> None:
    names = ["total", "price", "label", "count", "owner"]
    for i in range(len(names)):
        out = "\n".join(_tsc(s, 2339, f"Property '{name}' does not exist on type 'Item'.") for name in names[i:])
        s.sh("npx tsc --noEmit", out, 2)
        s.edit(s.path(ending="ts"), f"item.{names[i]}", f"item.data.{names[i]}")
    s.sh("npx tsc --noEmit", "")


@scenario(HELD_OUT)
def registry_is_slow(s: Session) -> None:
    command = s.pick("cargo build", "go mod download", "mvn -q dependency:resolve", "docker pull postgres:16")
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


@scenario(HELD_OUT)
def same_script_missing_in_each_package(s: Session) -> None:
    for package in ("ui", "server", "shared", "docs", "e2e"):
        s.sh(
            f"cd /home/user/project/packages/{package} && npm run lint",
            'npm error Missing script: "lint"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run',
            1,
        )


@scenario(HELD_OUT)
def questions_that_are_answered_no(s: Session) -> None:
    for _ in range(4):
        s.sh("git diff --quiet HEAD -- go.sum", "", 1)
        s.sh("rg -q 'unsafe ' src/", "", 1)
        s.sh("which rustup", "", 1)
        s.sh("[ -d vendor ] && echo yes", "", 1)
        s.sh("pgrep -f webpack", "", 1)


@scenario(HELD_OUT)
def probing_for_programs(s: Session) -> None:
    for program in ("python3.9", "python3.10", "python3.12", "python3.13", "pypy3"):
        s.sh(f"{program} --version", f"bash: line 1: {program}: command not found", 127)


@scenario(HELD_OUT)
def formatter_has_other_complaints(s: Session) -> None:
    for i in range(4):
        s.sh("cargo fmt --check", f"Diff in /home/user/project/src/f{i}.rs:{s.number(1, 90)}:\n-a\n+b", 1)
        s.edit(s.path(f"f{i}", "rs"), "a", "b")
        s.sh("cargo clippy -- -D warnings", f"error: unused variable: `v{i}`\nerror: could not compile `shop`", 101)


@scenario(HELD_OUT)
def known_failure_in_the_whole_suite(s: Session) -> None:
    for i in range(4):
        s.edit(s.path(ending="go"), f"step{i}", f"step{i + 1}")
        s.sh(
            "go test ./...",
            f"--- FAIL: TestClock ({s.took()})\n    clock_test.go:14: timezone database is missing\nFAIL\nFAIL\texample.com/shop/clock\t{s.took()}\nok  \texample.com/shop/{s.pick('a', 'b')}\t{s.took()}\nFAIL",
            1,
        )
    s.end()


@scenario(HELD_OUT, shapes=CLAUDE)
def value_is_tuned_forward(s: Session) -> None:
    for old, new in ((64, 128), (128, 256), (256, 512)):
        s.edit(s.path(ending="yaml"), f"pool: {old}", f"pool: {new}")
        s.sh("k6 run load.js", f"http_req_duration avg={s.took()}")
    s.end()


@scenario(HELD_OUT)
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


@scenario(HELD_OUT)
def work_is_set_aside_for_a_moment(s: Session) -> None:
    s.edit(s.path(ending="go"), "a := 1", "a := 2")
    s.sh("git stash push -u -m wip && go test ./... ; git stash apply", "ok  \texample.com/shop\t0.3s")
    s.filler()
    s.end()


@scenario(HELD_OUT)
def generated_files_are_restored(s: Session) -> None:
    s.edit(s.path(ending="go"), "a := 1", "a := 2")
    s.sh("go generate ./...", "")
    s.sh("git checkout -- api/gen.pb.go go.sum", "")
    s.sh("git restore docs/openapi.json", "")
    s.end()


@scenario(HELD_OUT, shapes=CLAUDE)
def person_changes_their_mind(s: Session) -> None:
    path = s.path(ending="swift")
    s.write(path, "struct A {}\n")
    s.write(path, "class A {}\n")
    s.human(s.pick("I prefer the struct after all", "ne, bitte wieder zurück", "revert to the struct"))
    s.write(path, "struct A {}\n")
    s.end()


@scenario(HELD_OUT, shapes=CLAUDE)
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


@scenario(HELD_OUT, shapes=CLAUDE)
def fix_is_shown_to_matter(s: Session) -> None:
    path = s.path(ending="go")
    s.edit(path, "defer a()", "defer b()")
    s.sh("go test ./...", "ok  \texample.com/shop\t0.2s")
    s.edit(path, "defer b()", "defer a()")
    s.sh("go test ./...", _go(s, "TestClose", "leaked a handle"), 1)
    s.edit(path, "defer a()", "defer b()")
    s.sh("go test ./...", "ok  \texample.com/shop\t0.2s")
    s.end()


@scenario(HELD_OUT, shapes=CLAUDE)
def scratch_file_is_written_again(s: Session) -> None:
    for body in ("a", "b", "a", "b"):
        s.write("/tmp/try.sql", f"select {body};")
        s.sh("psql -f /tmp/try.sql", f"{body}\n---\n{s.number(1, 99)}")


@scenario(HELD_OUT, shapes=CLAUDE)
def helper_is_stopped_or_busy(s: Session) -> None:
    s.agent(
        "Look around",
        s.pick("API Error: 429 rate_limit_error: too many requests", "API Error: Request timed out."),
        True,
    )
    s.tool("Task", {"description": "x", "prompt": "x"}, "[Request interrupted by user for tool use]", True)
    s.agent("Look around", "Agent type 'explorer' not found. Available agents: general-purpose", True)
    s.end()


@scenario(HELD_OUT, shapes=CLAUDE)
def person_only_rewinds_talk(s: Session) -> None:
    s.human("what does this do?")
    s.read(s.path(), "1\tpass\n")
    s.human("/rewind")
    s.end()


@scenario(HELD_OUT)
def benchmark_fails_with_other_numbers(s: Session) -> None:
    for value in (910, 640, 380, 250):
        s.sh("python bench/latency.py", f"FAILED target: p99 is {value} ms, must be at most 200", 1)
        s.edit(s.path(), f"size = {value}", f"size = {value // 2}")


@scenario(HELD_OUT)
def different_bugs_on_the_way(s: Session) -> None:
    for i, error in enumerate(
        (
            "ECONNREFUSED 127.0.0.1:5432",
            'relation "users" does not exist',
            'column "email" is missing',
            "duplicate key value",
        )
    ):
        s.sh("node scripts/seed.js", f"Error: {error}\n    at Client.query (/home/user/project/db.js:{20 + i}:5)", 1)
        s.edit(s.path(ending="js"), f"// {i}", f"fix{i}()")
    s.sh("node scripts/seed.js", "seeded")
