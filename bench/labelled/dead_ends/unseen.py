"""Written after the rules were made, with other tools and words."""

from __future__ import annotations

from labelled.outputs import cargo_failed, go_failed, tsc_failed
from labelled.streams import CLAUDE, Scenarios, Session, scenario

UNSEEN: Scenarios = []


@scenario(UNSEEN, same_call="confirmed")
def query_with_a_wrong_column(s: Session) -> None:
    for _ in range(3):
        s.sh(
            f"psql -d shop -c 'select {s.name}_total from orders'",
            (
                f'ERROR:  column "{s.name}_total" does not exist\nLINE 1: select {s.name}_total from orders\n'
                "               ^"
            ),
            1,
        )
        s.filler(3)
    s.end()


@scenario(UNSEEN, same_call="confirmed")
def image_that_does_not_build(s: Session) -> None:
    for _ in range(s.number(3, 6)):
        s.sh(
            "docker build -t shop .",
            (
                "#7 [3/5] RUN apt-get install libfoo\n"
                f"#7 {s.number(1, 9)}.{s.number(100, 999)} E: Unable to locate package libfoo\n"
                'ERROR: failed to solve: process "/bin/sh -c apt-get install libfoo" did not complete'
                " successfully: exit code: 100"
            ),
            1,
        )
        s.say("I will run it once more.")
    s.end()


@scenario(UNSEEN, same_call="resolved")
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


@scenario(UNSEEN, same_call="confirmed", shapes=CLAUDE)
def tool_of_a_server_fails(s: Session) -> None:
    for _ in range(3):
        s.tool(
            "mcp__tracker__create_ticket",
            {"title": s.name, "board": 7},
            "Board 7 has no column named Todo",
            True,
        )
        s.filler()


@scenario(UNSEEN)
def linker_is_missing(s: Session) -> None:
    for command in (
        "cargo install ripgrep",
        "cargo install fd-find",
        "cargo install --locked bat",
        "cargo install just",
    ):
        s.sh(
            command,
            (
                f"    Updating crates.io index\n  Installing tool v{s.number(1, 14)}.0.{s.number(0, 9)}\n"
                "error: linker `cc` not found\n  |\n  = note: No such file or directory (os error 2)"
            ),
            101,
        )
        s.filler()
    s.end()


@scenario(UNSEEN)
def no_right_to_the_socket(s: Session) -> None:
    for rest in ("ps -a", "images", "run --rm hello-world", "compose up -d", "pull redis"):
        s.sh(
            f"docker {rest}",
            "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
            1,
        )
        s.filler()


@scenario(UNSEEN, allows=("failing-test",))
def one_import_breaks_every_spec(s: Session) -> None:
    for spec in ("user", "order", "cart", "stock"):
        s.sh(
            f"bundle exec rspec spec/models/{spec}_spec.rb",
            (
                "An error occurred while loading the environment.\nFailure/Error: require 'pg'\n\nLoadError:\n"
                f"  cannot load such file -- pg\nFinished in {s.took()}"
            ),
            1,
        )
        s.filler()


@scenario(UNSEEN, shapes=CLAUDE)
def list_and_search_in_a_circle(s: Session) -> None:
    for _ in range(4):
        s.tool("Glob", {"pattern": "**/*.proto"}, "No files found")
        s.tool(
            "Grep",
            {"pattern": f"message {s.name}", "path": "/home/user/project"},
            "No matches found",
        )
        if s.number(0, 1):
            s.say("Perhaps under another name.")


@scenario(UNSEEN)
def two_status_commands_in_a_circle(s: Session) -> None:
    for _ in range(4):
        s.sh("cargo tree -d", f"shop v0.1.0\n└── serde v1.0.{s.name.count('e')}\n")
        s.sh("cargo metadata --format-version 1 | head -c 300", '{"packages":[{"name":"shop"}]}')


@scenario(UNSEEN, shapes=CLAUDE)
def replacements_that_do_not_fit(s: Session) -> None:
    path = s.path(ending="go")
    for i in range(s.number(3, 5)):
        given = {
            "file_path": path,
            "edits": [{"old_string": f"if err{i} != nil", "new_string": "return err"}],
        }
        s.tool(
            "MultiEdit",
            given,
            f"<tool_use_error>String to replace not found in file.\nString: if err{i} != nil</tool_use_error>",
            True,
        )
        s.read(path, "1\tpackage shop\n")
    s.end()


@scenario(UNSEEN, shapes=CLAUDE)
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


@scenario(UNSEEN, undone_edit="confirmed", shapes=CLAUDE)
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


@scenario(UNSEEN, undone_edit="confirmed", shapes=CLAUDE)
def configuration_goes_back_and_elsewhere(s: Session) -> None:
    path = "/home/user/project/vite.config.ts"
    s.edit(path, "target: 'es2020'", "target: 'esnext'")
    s.sh("npm run build", "error during build:\nRollupError: Unexpected token", 1)
    s.edit(path, "target: 'esnext'", "target: 'es2020'")
    s.edit(path, "minify: true", "minify: 'terser'")
    s.sh("npm run build", f"✓ built in {s.took()}")
    s.end()


@scenario(UNSEEN, undone_edit="confirmed")
def hard_reset_after_a_bad_commit(s: Session) -> None:
    s.edit(s.path(ending="kt"), "val a = 1", "val a by lazy { 1 }")
    s.write(s.path("Extra", "kt"), "class Extra\n")
    s.sh("git add -A && git commit -qm 'lazy values'", "")
    s.sh(
        "./gradlew build",
        "e: Unresolved reference: lazy2\n\nFAILURE: Build failed with an exception.",
        1,
    )
    s.sh(
        s.pick("git reset --hard HEAD~1", "git reset --hard HEAD^"), "HEAD is now at 1f2e3d4 before"
    )
    s.filler()
    s.end()


@scenario(UNSEEN, undone_edit="confirmed")
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


@scenario(UNSEEN, failing_test="confirmed", allows=("same-call",))
def cargo_test_does_not_move(s: Session) -> None:
    command = s.pick(f"cargo test {s.name}", "cargo test", "cargo test --lib 2>&1 | tail -25")
    code = 0 if "tail" in command else 101
    error = "assertion `left == right` failed\n  left: 41\n right: 42"
    for new in ("", "a.wrapping_add(1)", "a.saturating_add(1)", "a + 1 - 1"):
        if new:
            s.edit(s.path(ending="rs"), "a", new)
            s.filler()
        s.sh(command, cargo_failed(s, error), code)
    s.end()


@scenario(UNSEEN, failing_test="confirmed", allows=("same-call",))
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
        s.sh(command, go_failed(s, "TestMerge", "got [b a], want [a b]"), 1)
    s.end()


@scenario(UNSEEN, failing_test="confirmed", allows=("same-call",))
def type_error_does_not_go_away(s: Session) -> None:
    error = "Type 'string | undefined' is not assignable to type 'string'."
    for new in ("", "name!", "name as string", "String(name ?? '')"):
        if new:
            s.edit(s.path(ending="ts"), "name", new)
        s.sh(s.pick("npx tsc --noEmit", "npx tsc --noEmit -p ."), tsc_failed(s, 2322, error), 2)
        s.filler()
    s.end()


@scenario(UNSEEN, failing_test="confirmed", allows=("same-call",))
def maven_test_does_not_move(s: Session) -> None:
    cls = s.name.capitalize()

    def out() -> str:
        return (
            f"[INFO] Running com.shop.{cls}Test\n"
            f"[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: {s.took()}\n"
            f"[ERROR] com.shop.{cls}Test.rounds -- Time elapsed: {s.took()} <<< FAILURE!\n"
            "org.opentest4j.AssertionFailedError: expected: <10.00> but was: <9.99>\n"
            f"\tat com.shop.{cls}Test.rounds({cls}Test.java:{s.number(10, 90)})\n[INFO] BUILD FAILURE\n"
            f"[INFO] Total time:  {s.took()}"
        )

    for new in ("", "RoundingMode.UP", "RoundingMode.HALF_UP"):
        if new:
            s.edit(s.path(cls, "java"), "RoundingMode.DOWN", new)
        s.sh(f"mvn -q test -Dtest={cls}Test", out(), 1)
        s.filler()
    s.end()


@scenario(UNSEEN, sub_agent="confirmed", shapes=CLAUDE)
def helper_gives_up(s: Session) -> None:
    s.filler()
    s.tool(
        "Task",
        {"description": f"Rewrite {s.name}", "prompt": "Rewrite it", "subagent_type": "coder"},
        s.pick(
            "Sub-agent crashed: tool loop detected",
            "The agent terminated with an error: prompt is too long",
        ),
        True,
    )
    s.filler()


@scenario(UNSEEN, sub_agent="confirmed", shapes=CLAUDE)
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


@scenario(UNSEEN, backtrack="confirmed", shapes=CLAUDE)
def person_types_undo(s: Session) -> None:
    s.human("move the cache to redis")
    s.write(s.path("cache", "rb"), "class Cache; end\n")
    s.sh("bundle exec rspec", "3 examples, 0 failures")
    s.human(s.pick("/undo", "/rewind 2"))
    s.end()
