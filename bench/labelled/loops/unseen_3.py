"""Many kinds of loops and of ordinary work, mostly with tools that no list names; first run when
this was complete.

A loop is marked at the earliest call that may be held by ``docs/loops.md``, and goes on for three
more repeats.
"""

from __future__ import annotations

from labelled.loops.developed import REPEATS, due_at
from labelled.streams import Scenarios, Session, scenario

UNSEEN_3: Scenarios = []


def stamp(s: Session) -> str:
    """Return a moment, which differs each time."""
    return f"2026-11-{s.number(10, 28)}T{s.number(10, 23)}:{s.number(10, 59)}:{s.number(10, 59)}.{s.number(100, 999)}Z"


# Loops: the same call -----------------------------------------------------------------------------


@scenario(UNSEEN_3, loop="held")
def zig_test(s: Session) -> None:
    s.filler(3)
    for at in range(REPEATS):
        due_at(s, at)
        out = (
            f"test\n└─ run test failure\nerror: 'root.test.{s.name}' failed: expected 3, found 2\n"
        )
        s.sh(
            "zig build test",
            f"{out}/home/user/project/src/root.zig:41:5: 0x{s.random.getrandbits(28):x} in test\n",
            1,
        )


@scenario(UNSEEN_3, loop="held")
def a_design_node_that_is_missing(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        given = {"fileKey": "aX93kd", "nodeId": f"{len(s.name)}:204"}
        s.tool(
            "mcp__figma__get_node",
            given,
            f"Error 404: node not found (trace {s.random.getrandbits(96):024x})",
            True,
        )
        s.say("The node should be there; I'll fetch it again.")


@scenario(UNSEEN_3, loop="held")
def dbt_model(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        time = f"{s.number(10, 23)}:{s.number(10, 59)}:{s.number(10, 59)}"
        out = (
            f"{time}  Running with dbt=1.8.2\n{time}  1 of 1 ERROR creating sql table model shop.{s.name} "
            f"[ERROR in {s.took()}]\n{time}    Database Error in model {s.name}\n"
            f'{time}    column "total" does not exist\n'
            f"{time}  Finished running 1 table model in 0 hours 0 minutes and {s.took()[:-1]} seconds\n"
        )
        s.sh(f"dbt run --select {s.name}", out, 1)


@scenario(UNSEEN_3, loop="held")
def nix_build(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        out = (
            f"building '/nix/store/q1kz0f3b5m2w-{s.name}-0.1.drv'...\nerror: builder for '/nix/store/q1kz0f3b5m2w-"
            f"{s.name}-0.1.drv' failed with exit code 2;\n       last 1 log lines:\n"
            "       > ld: library not found for -lz\n"
        )
        s.sh("nix build .#default", out, 1)
        s.say(f"Attempt {at + 1} to build the package.")


@scenario(UNSEEN_3, loop="held")
def a_field_that_is_null(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        s.sh(f"jq .{s.name}.items[0].price data/export.json", "null\n")


@scenario(UNSEEN_3, loop="held")
def maven_test(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        out = (
            "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, "
            f"Time elapsed: 0.0{s.number(10, 99)} s <<< FAILURE!\n"
            "[ERROR] CartTest.total:31 expected: <10> but was: <9>\n[INFO] BUILD FAILURE\n"
            f"[INFO] Total time:  {s.number(2, 9)}.{s.number(100, 999)} s\n[INFO] Finished at: {stamp(s)}\n"
        )
        s.sh("mvn -q test -Dtest=CartTest", out, 1)
        s.read(s.path(f"Cart{at}", "java"), f"1\tclass Cart{at} {{}}\n") if at % 2 else s.say(
            "Once more."
        )


@scenario(UNSEEN_3, loop="held")
def a_command_described_in_other_words(s: Session) -> None:
    words = (
        "Run the checks",
        "Check again",
        "Verify the fix",
        "See whether it passes",
        "Confirm",
        "Once more",
        "Test",
        "Try",
    )
    for at in range(REPEATS):
        due_at(s, at)
        given = {
            "command": "deno task check",
            "description": words[at % len(words)],
            "timeout": 60_000 + 1_000 * at,
        }
        s.tool(
            "Bash",
            given,
            "error: TS2304 [ERROR]: Cannot find name 'Cart'.\n    at file:///home/user/mod.ts:3:9\n",
            True,
        )


@scenario(UNSEEN_3, loop="held")
def a_cell_with_a_counter(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        out = (
            f"---------------------------------------\nKeyError   Traceback (most recent call last)\n"
            f"Cell In[{at + 7}], line 1\n----> 1 df['price'].mean()\n\nKeyError: 'price'\n"
        )
        s.tool("mcp__ipython__run", {"code": "df['price'].mean()"}, out, True)


@scenario(UNSEEN_3, loop="held")
def xcodebuild_test(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        place = f"/var/folders/zz/T/DerivedData-{s.random.getrandbits(32):08x}"
        out = (
            f"Test Case '-[ShopTests.CartTests testTotal]' failed ({s.took()[:-1]} seconds).\n"
            f'CartTests.swift:19: error: XCTAssertEqual failed: ("2") is not equal to ("3")\nwrote {place}/Logs\n'
            "** TEST FAILED **\n"
        )
        s.sh("xcodebuild test -scheme Shop", out, 65)


@scenario(UNSEEN_3, loop="held")
def a_manifest_that_is_refused(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        out = (
            f'The Deployment "{s.name}" is invalid: spec.selector: Invalid value: field is immutable '
            f"(resourceVersion {s.number(10**7, 10**8)})\n"
        )
        s.sh("kubectl apply -f deploy.yaml", out, 1)
        s.sh(f"kubectl explain deployment.spec.part{at}", f"KIND: Deployment\nFIELD: part{at}\n")


@scenario(UNSEEN_3, loop="held")
def phpunit(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        out = (
            f"PHPUnit 11.2.0\n\nF.  2 / 2 (100%)\n\nTime: 00:00.{s.number(100, 999)}, "
            f"Memory: {s.number(8, 12)}.00 MB\n\n"
            "1) CartTest::testTotal\nFailed asserting that 2 matches expected 3.\n\nFAILURES!\nTests: 2, Failures: 1.\n"
        )
        s.sh("vendor/bin/phpunit --filter CartTest", out, 1)


@scenario(UNSEEN_3, loop="held")
def a_list_of_tasks_kept_between_failures(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        s.sh(
            "poetry run pytest tests/test_cart.py",
            "E   ImportError: cannot import name 'Cart' from 'shop'\n",
            2,
        )
        given = {"todos": [{"content": f"Fix the import, try {at}", "status": "in_progress"}]}
        s.tool("TodoWrite", given, "Todos have been modified successfully.")


@scenario(UNSEEN_3, loop="held")
def files_that_no_pattern_finds(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        s.tool("Glob", {"pattern": f"**/{s.name}*.proto"}, "No files found")


@scenario(UNSEEN_3, loop="held")
def an_agent_sent_out_again(s: Session) -> None:
    task = f"Find where {s.name} is configured and report the file."
    for at in range(REPEATS):
        due_at(s, at)
        given = {"description": "Find configuration", "prompt": task, "subagent_type": "Explore"}
        s.tool(
            "Agent", given, f"I could not find any configuration of {s.name} in this repository."
        )


@scenario(UNSEEN_3, loop="held")
def a_search_of_the_web(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        s.tool(
            "web_search",
            {"query": f"{s.name} 4.2 migration guide deprecated option"},
            "No results found.",
        )


@scenario(UNSEEN_3, loop="held")
def a_plan_without_changes(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        out = (
            f"aws_s3_bucket.{s.name}: Refreshing state... [id={s.name}]\n\nNo changes. Your infrastructure matches the "
            "configuration.\n"
        )
        s.sh("tofu plan", out)


@scenario(UNSEEN_3, loop="held")
def a_service_that_does_not_start(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        s.sh(
            f"ssh staging sudo systemctl restart {s.name}",
            f"Job for {s.name}.service failed because the control process exited with error code.\n"
            f'See "systemctl status {s.name}.service" for details.\n',
            1,
        )


@scenario(UNSEEN_3, loop="held")
def four_calls_round_and_round(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        s.sh(
            "coqc Main.v",
            'File "./Main.v", line 14, characters 2-12:\nError: Unable to unify "b" with "a".\n',
            1,
        )
        s.read(s.path("Main", "v"), "1\tLemma add : a = b.\n")
        s.sh("ls theories", "Base.v\nMain.v\n")
        s.tool("mcp__coq__goal", {"line": 14}, "a = b")


@scenario(UNSEEN_3, loop="held")
def a_board_whose_port_is_taken(s: Session) -> None:
    for at in range(REPEATS + 2):
        due_at(s, at)
        out = "esptool.py v4.7\nA fatal error occurred: Could not open /dev/ttyUSB0, the port is busy or doesn't exist.\n"
        s.sh("make flash", out, 2)


@scenario(UNSEEN_3, loop="held")
def a_request_without_permission(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        out = (
            f"HTTP/2 401\ndate: Tue, 17 Nov 2026 {s.number(10, 23)}:{s.number(10, 59)}:{s.number(10, 59)} GMT\n"
            f'x-request-id: {s.random.getrandbits(128):032x}\n\n{{"error":"invalid_token"}}\n'
        )
        s.sh(f"curl -si -XPOST https://api.example.com/v1/{s.name} -d @body.json", out)


@scenario(UNSEEN_3, loop="held")
def jest_in_a_folder(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        out = (
            f"FAIL src/{s.name}.test.ts\n  ● total › adds tax\n\n    expect(received).toBe(expected)\n\n"
            "    Expected: 12\n    Received: 10\n\nTests:       1 failed, 4 passed, 5 total\n"
            f"Time:        {s.took()[:-1]} s, estimated {s.number(1, 9)} s\nRan all test suites.\n"
        )
        s.sh("cd packages/cart && npx jest", out, 1)
        s.filler(1)


# Loops: two calls in turn -------------------------------------------------------------------------


@scenario(UNSEEN_3, loop="held")
def issues_and_teams_in_turn(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at, 4)
        s.tool("mcp__linear__search_issues", {"query": f"{s.name} crash"}, '{"issues": []}')
        s.tool("mcp__linear__list_teams", {}, '{"teams": [{"id": "t1", "name": "Core"}]}')


@scenario(UNSEEN_3, loop="held")
def two_pages_in_turn(s: Session) -> None:
    one = "".join([f"{line}\tint f{line}(void);\n" for line in range(1, 200)])
    for at in range(REPEATS):
        due_at(s, at, 4)
        s.tool("Read", {"file_path": s.path("api", "h"), "offset": 1, "limit": 200}, one)
        s.tool(
            "Read", {"file_path": s.path("api", "h"), "offset": 200, "limit": 200}, "200\t#endif\n"
        )


@scenario(UNSEEN_3, loop="held")
def patterns_in_turn(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at, 4)
        s.tool(
            "Grep", {"pattern": f"class {s.name.title()}Service", "path": "src"}, "No matches found"
        )
        s.tool("Glob", {"pattern": f"src/**/{s.name}_service.*"}, "No files found")


# Loops: edits undone and made again ---------------------------------------------------------------


@scenario(UNSEEN_3, loop="held")
def a_manifest_written_to_and_fro(s: Session) -> None:
    for at in range(7):
        due_at(s, at, 3)
        s.write(
            s.path("values", "yaml"),
            f"image: shop\nreplicas: {2 if at % 2 else 1}\nprobe: /health\n",
        )
        s.sh("helm lint chart", f"[ERROR] templates/{'a' if at % 2 else 'b'}.yaml: bad probe\n", 1)


@scenario(UNSEEN_3, loop="held")
def a_line_back_and_forth(s: Session) -> None:
    path, short, long = s.path("pool", "ex"), "  pool_size: 5", "  pool_size: 20, overflow: 4"
    s.filler(2)
    for at in range(7):
        due_at(s, at, 3)
        s.edit(path, *((short, long) if at % 2 == 0 else (long, short)))
        s.say("That should help.")


@scenario(UNSEEN_3, loop="held")
def a_fix_thrown_away_with_git(s: Session) -> None:
    path = s.path("lexer", "ml")
    for at in range(5):
        s.edit(path, "| ' ' -> token lexbuf", "| [' ' '\\t'] -> token lexbuf")
        due_at(s, at, 1)
        s.sh("dune test", f'File "test/t.ml", line {at + 3}: assertion {at} failed\n', 1)
        s.sh(f"git checkout HEAD -- {path}", "Updated 1 path from 3f2a91c\n")


@scenario(UNSEEN_3, loop="held")
def an_editor_that_no_list_names(s: Session) -> None:
    for at in range(11):
        due_at(s, at, 3)
        old, new = (
            ("timeout = 5", "timeout = 50") if at % 2 == 0 else ("timeout = 50", "timeout = 5")
        )
        given = {
            "path": s.path("net", "toml"),
            "edits": [{"oldText": old, "newText": new}],
            "dryRun": False,
        }
        s.tool("mcp__fs__edit_file", given, f"```diff\n-{old}\n+{new}\n```")


# Ordinary sessions: work --------------------------------------------------------------------------


@scenario(UNSEEN_3)
def a_failure_that_stays_while_files_change(s: Session) -> None:
    for at in range(9):
        s.edit(s.path("cart", "ex"), f"  # step {at}", f"  # step {at + 1}")
        s.sh(
            "mix test",
            f"  1) test total (CartTest)\n     Assertion with == failed\nFinished in {s.took()}\n",
            2,
        )
    s.sh("mix test", "12 tests, 0 failures\n")


@scenario(UNSEEN_3)
def tickets_made_one_by_one(s: Session) -> None:
    for at in range(12):
        s.tool(
            "mcp__jira__create_issue",
            {"project": "SHOP", "summary": f"Port module {at}"},
            "created",
        )


@scenario(UNSEEN_3)
def a_file_changed_by_the_shell_and_read(s: Session) -> None:
    for at in range(9):
        s.sh(f"sed -i '{at + 1}s/old/new/' {s.path('list', 'txt')}", "")
        s.read(
            s.path("list", "txt"),
            "".join([f"{line}\t{'new' if line <= at + 1 else 'old'}\n" for line in range(1, 12)]),
        )


@scenario(UNSEEN_3)
def searches_that_find_nothing(s: Session) -> None:
    for at in range(10):
        s.tool("Grep", {"pattern": f"legacy_{s.name}_{at}"}, "No matches found")


@scenario(UNSEEN_3)
def a_wizard_in_a_browser(s: Session) -> None:
    for at in range(10):
        s.tool("mcp__playwright__browser_click", {"element": "Next", "ref": "e12"}, "Clicked.")
        s.tool(
            "mcp__playwright__browser_snapshot",
            {},
            f"- heading: Step {at + 1} of 10\n- button: Next [ref=e12]\n",
        )


@scenario(UNSEEN_3)
def every_file_read_twice(s: Session) -> None:
    for at in range(8):
        for _ in range(2):
            s.read(s.path(f"unit{at}", "rs"), f"1\tpub struct U{at};\n" * 20)


@scenario(UNSEEN_3)
def one_fix_taken_back_for_another(s: Session) -> None:
    for at in range(4):
        s.edit(s.path(f"io{at}", "go"), "bufio.NewReader(f)", "bufio.NewReaderSize(f, 1<<20)")
        s.sh("go test ./io", f"--- FAIL: TestRead{at} ({s.took()})\n", 1)
        s.edit(s.path(f"io{at}", "go"), "bufio.NewReaderSize(f, 1<<20)", "bufio.NewReader(f)")
        s.edit(s.path(f"io{at}", "go"), "f.Close()", "defer f.Close()")
        s.sh("go test ./io", "ok\n")


@scenario(UNSEEN_3)
def commits_after_each_step(s: Session) -> None:
    for at in range(9):
        s.write(s.path(f"step{at}", "kt"), f"fun step{at}() = {at}\n")
        s.sh("git add -A", "")
        s.sh(f"git commit -qm 'Add step {at}'", "")
        s.sh("./gradlew -q check", "")


@scenario(UNSEEN_3)
def a_codemod_file_by_file(s: Session) -> None:
    for at in range(11):
        s.sh(
            f"npx jscodeshift -t rename.js src/view{at}.jsx",
            f"Results:\n0 errors\n1 ok\nTime elapsed: {s.took()}\n",
        )


@scenario(UNSEEN_3)
def scripts_written_and_run(s: Session) -> None:
    for at in range(8):
        s.sh(f"cat > try.lua <<'EOF'\nprint(parse('{at}'))\nEOF", "")
        s.sh("lua try.lua", "nil\n")


@scenario(UNSEEN_3)
def a_server_restarted_after_each_edit(s: Session) -> None:
    for at in range(8):
        s.edit(s.path("server", "rb"), f"port {at}", f"port {at + 1}")
        s.sh("pkill puma; bin/rails server -d", "")
        s.sh("curl -s localhost:3000/up", "<h1>Error</h1>\n")


@scenario(UNSEEN_3)
def a_list_of_tasks_kept(s: Session) -> None:
    for at in range(10):
        given = {
            "todos": [
                {"content": f"Part {part}", "status": "completed" if part <= at else "pending"}
                for part in range(10)
            ]
        }
        s.tool(
            "TodoWrite",
            given,
            "Todos have been modified successfully. Ensure that you continue to use the list.",
        )
        s.edit(s.path(f"part{at}"), "pass", f"return {at}")


@scenario(UNSEEN_3)
def cells_of_a_notebook(s: Session) -> None:
    for at in range(10):
        s.tool("mcp__jupyter__execute", {"cell": at}, "")


@scenario(UNSEEN_3)
def many_agents_sent_out(s: Session) -> None:
    for at in range(9):
        given = {
            "description": f"Review {at}",
            "prompt": f"Review module {at} for races",
            "subagent_type": "reviewer",
        }
        s.tool("Agent", given, "No problems found.")


@scenario(UNSEEN_3)
def questions_to_a_database(s: Session) -> None:
    for at in range(10):
        s.tool(
            "mcp__pg__query",
            {"sql": f"SELECT * FROM orders WHERE shard = {at} AND total < 0"},
            "(0 rows)",
        )


@scenario(UNSEEN_3)
def downloads(s: Session) -> None:
    for at in range(9):
        s.sh(f"curl -sO https://data.example.com/part-{at:03}.csv", "")
        s.sh("ls *.csv | wc -l", f"{at + 1}\n")


@scenario(UNSEEN_3)
def a_warning_that_stays_between_edits(s: Session) -> None:
    for at in range(8):
        s.edit(s.path("lib", "rs"), f"let a{at} = 1;", f"let b{at} = 1;")
        s.sh(
            "cargo clippy",
            f"warning: unused variable: `x`\n  --> src/lib.rs:{at + 9}:9\n    Finished in {s.took()}\n",
        )


@scenario(UNSEEN_3)
def errors_that_differ_each_time(s: Session) -> None:
    for missing in ("libpq", "zlib", "openssl", "libxml2", "icu", "readline", "ncurses"):
        s.sh("bundle install", f"An error occurred: {missing} headers are missing\n", 5)
        s.sh(f"apt-get install -y {missing}-dev", f"Setting up {missing}-dev ...\n")


@scenario(UNSEEN_3)
def moves_between_counts(s: Session) -> None:
    for at in range(9):
        s.sh(f"git mv src/old{at}.c src/new{at}.c", "")
        s.sh("ls src | wc -l", "42\n")


@scenario(UNSEEN_3)
def cherry_picks(s: Session) -> None:
    for at in range(7):
        s.sh(
            f"git cherry-pick {s.random.getrandbits(28):07x}",
            f"[release {s.random.getrandbits(28):07x}] Fix {at}\n",
        )
        s.sh("npm run build", "> build\n> tsc -p .\n")


@scenario(UNSEEN_3)
def pages_with_a_cursor(s: Session) -> None:
    for at in range(12):
        s.tool(
            "mcp__logs__query",
            {"service": "web", "cursor": f"c{at}"},
            f'{{"lines": [], "next": "c{at + 1}"}}',
        )


@scenario(UNSEEN_3)
def one_command_on_many_machines(s: Session) -> None:
    for at in range(9):
        s.sh(f"ssh node-{at} systemctl is-active {s.name}", "active\n")


@scenario(UNSEEN_3)
def a_plan_after_each_edit(s: Session) -> None:
    for at in range(8):
        s.edit(s.path("main", "tf"), f"# note {at}", f"# note {at + 1}")
        s.sh("tofu plan", "No changes. Your infrastructure matches the configuration.\n")


@scenario(UNSEEN_3)
def one_replacement_in_many_files(s: Session) -> None:
    for language in ("de", "fr", "es", "it", "pl", "nl", "pt", "sv", "da"):
        s.edit(f"/home/user/project/locale/{language}.json", '"cart": "Basket"', '"cart": "Cart"')


@scenario(UNSEEN_3)
def a_person_who_changes_their_mind(s: Session) -> None:
    names = ("total", "sum")
    for at in range(6):
        s.edit(s.path("api"), f"def {names[at % 2]}(", f"def {names[1 - at % 2]}(")
        s.human(f"Hm, no: {names[at % 2]} was better. Put it back.")


@scenario(UNSEEN_3)
def a_person_who_says_go_on(s: Session) -> None:
    for _ in range(9):
        s.human("continue")
        s.sh("make -j4", "make: *** [Makefile:12: all] Error 1\n", 2)


@scenario(UNSEEN_3)
def a_debug_line_put_in_and_taken_out(s: Session) -> None:
    s.edit(s.path(), "return total", "print(total)\n    return total")
    s.sh("python -m shop", f"{s.number(100, 999)}\n")
    s.edit(s.path(), "print(total)\n    return total", "return total")
    s.edit(s.path(), "total = 0", "total = Decimal(0)")
    s.filler(4)
    s.sh("python -m shop", f"{s.number(100, 999)}\n")


@scenario(UNSEEN_3)
def a_long_exploration(s: Session) -> None:
    for at in range(10):
        s.read(s.path(f"m{at}", "hs"), f"1\tmodule M{at} where\n" * 15)
        s.tool("mcp__hls__references", {"symbol": f"f{at}"}, f"M{at}.hs:{at + 4}")
        s.filler(2)


@scenario(UNSEEN_3)
def the_same_question_after_each_answer(s: Session) -> None:
    for at in range(8):
        s.tool("mcp__review__next_comment", {}, f'{{"id": {at}, "text": "Rename x{at}"}}')
        s.edit(s.path(f"r{at}", "ts"), f"x{at}", f"count{at}")
        s.tool("mcp__review__resolve", {"id": at}, "resolved")


# Ordinary sessions: waiting -----------------------------------------------------------------------


@scenario(UNSEEN_3)
def a_pipeline_that_runs(s: Session) -> None:
    for at in range(10):
        s.sh("glab ci status", f"(running) • 0{at // 6}m {at * 9 % 60:02}s\tbuild\t\tunit-tests\n")
    s.sh("glab ci status", "(success) • 03m 10s\n")


@scenario(UNSEEN_3)
def containers_that_start(s: Session) -> None:
    for _ in range(9):
        s.sh("docker compose ps", "NAME  STATUS\ndb    Up 5 seconds (health: starting)\n")
    s.sh("docker compose ps", "NAME  STATUS\ndb    Up 40 seconds (healthy)\n")


@scenario(UNSEEN_3)
def a_port_that_opens_late(s: Session) -> None:
    for _ in range(6):
        s.sh("nc -z localhost 5432", "", 1)
        s.sh("sleep 2", "")
    s.sh("nc -z localhost 5432", "Connection to localhost port 5432 succeeded!\n")


@scenario(UNSEEN_3)
def the_end_of_a_log(s: Session) -> None:
    for _ in range(10):
        s.sh("tail -5 log/worker.log", "INFO waiting for jobs\n")
    s.sh("tail -5 log/worker.log", "INFO job 17 done\n")


@scenario(UNSEEN_3)
def a_build_in_a_queue(s: Session) -> None:
    for _ in range(11):
        s.tool("mcp__buildkite__get_build", {"number": 812}, '{"state": "scheduled", "jobs": []}')
    s.tool("mcp__buildkite__get_build", {"number": 812}, '{"state": "passed"}')


@scenario(UNSEEN_3)
def a_download_that_goes_on(s: Session) -> None:
    s.sh("nohup ollama pull llama4 > pull.log &", "")
    for at in range(9):
        s.sh("ollama list", "NAME  ID  SIZE\n") if at % 2 else s.sh(
            "tail -1 pull.log", f"pulling... {at * 11}%\n"
        )


@scenario(UNSEEN_3)
def a_training_that_is_watched(s: Session) -> None:
    for _ in range(8):
        s.sh("nvidia-smi --query-gpu=utilization.gpu --format=csv", "utilization.gpu [%]\n99 %\n")
        s.sh("sleep 120", "")


@scenario(UNSEEN_3)
def the_same_measurement(s: Session) -> None:
    for _ in range(5):
        s.sh("./bench --quick", f"parse  {s.number(10, 99)}.{s.number(1, 9)} MB/s\n")
    s.edit(s.path("parse", "c"), "memcpy", "memmove")
    for _ in range(5):
        s.sh("./bench --quick", f"parse  {s.number(10, 99)}.{s.number(1, 9)} MB/s\n")


@scenario(UNSEEN_3)
def a_game_on_a_board(s: Session) -> None:
    for at in range(10):
        s.tool(
            "mcp__chess__engine_move", {"depth": 12}, f"bestmove {'abcdefgh'[at % 8]}{at % 7 + 1}"
        )
        s.tool("mcp__chess__board", {}, f"{s.random.getrandbits(60):015x}")


@scenario(UNSEEN_3)
def pictures_of_a_page(s: Session) -> None:
    for _ in range(8):
        s.tool("mcp__devtools__take_screenshot", {"format": "png"}, "")
        s.tool("mcp__devtools__press_key", {"key": "PageDown"}, "Pressed PageDown")
