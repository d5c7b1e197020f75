"""Written when the rules were finished: other tools, languages and habits.

When they were first run, three of the loops were held earlier than they were marked (two calls in
turn, and a file written to and fro): the marks were wrong by the rules' own definition and were
moved.
"""

from __future__ import annotations

from labelled.loops.developed import REPEATS, due_at
from labelled.streams import Scenarios, Session, scenario

UNSEEN: Scenarios = []


# Loops --------------------------------------------------------------------------------------------


@scenario(UNSEEN, loop="held")
def gradle_fails_with_other_flags_for_the_output(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        out = f"> Task :app:compileKotlin FAILED\ne: Main.kt: ({s.number(1, 99)}, 5): Unresolved reference: total\n"
        s.sh(f"./gradlew build 2>&1 | tail -{10 + at}", f"{out}BUILD FAILED in {s.number(1, 9)}s\n")


@scenario(UNSEEN, loop="held")
def a_query_that_finds_nothing(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        s.tool("mcp__pg__query", {"sql": f"SELECT * FROM {s.name} WHERE id = 'x'"}, "[]")
        if at % 2:
            s.say("That is odd. I will query it once more.")


@scenario(UNSEEN, loop="held")
def an_edit_whose_text_is_not_there(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at, 4)
        error = "String to replace not found in file."
        s.edit(s.path(), "def total(items):", "def total(items, tax):", error=error)
        s.read(s.path(), "1\tdef total(\n2\t    items,\n3\t):\n")


@scenario(UNSEEN, loop="held")
def three_calls_round_and_round(s: Session) -> None:
    for at in range(REPEATS + 1):
        due_at(s, at)
        s.sh("terraform validate", "Error: Missing required argument\n\n  on main.tf line 3\n", 1)
        s.read(s.path("main", "tf"), '1\tresource "x" "y" {\n')
        s.sh("ls modules", "network\nstorage\n")


@scenario(UNSEEN, loop="held")
def a_page_that_refuses(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        given = {"url": "https://example.com/docs/api", "prompt": "How is it called?"}
        s.tool("WebFetch", given, "Request failed with status code 403", True)


@scenario(UNSEEN, loop="held")
def a_file_written_to_and_fro(s: Session) -> None:
    for at in range(8):
        due_at(s, at, 4)
        s.write(
            s.path("settings", "ini"), f"[cache]\nsize = {10 if at % 2 else 20}\nmode = strict\n"
        )
        s.sh("python -m app --check", "bad size\n", 1)


@scenario(UNSEEN, loop="held")
def a_container_that_exits(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        id = f"{s.random.getrandbits(256):064x}"
        out = f"{id}\nError response from daemon: driver failed programming external connectivity on endpoint {s.name}\n"
        s.sh(f"docker run -d -p 8080:80 {s.name}", out, 125)
        s.filler(1) if at < 2 else s.say("Again.")


@scenario(UNSEEN, loop="held")
def status_and_diff_in_turn(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at, 4)
        s.sh("git status", "On branch main\nnothing to commit, working tree clean\n")
        s.sh("git diff HEAD", "")


@scenario(UNSEEN, loop="held")
def lean_does_not_prove_it(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at, 4)
        out = f"./Main.lean:{s.number(3, 90)}:2: error: unsolved goals\n⊢ a + b = b + a\n(elapsed {s.took()})\n"
        s.sh("lake build", out, 1)
        s.tool("mcp__lean__goal", {"file": "Main.lean", "line": 12}, "⊢ a + b = b + a")


@scenario(UNSEEN, loop="held")
def a_temporary_folder_that_differs(s: Session) -> None:
    for at in range(REPEATS):
        due_at(s, at)
        place = f"/tmp/pkg-{s.number(1000, 9999)}x{s.number(10, 99)}"
        out = (
            f"copying to {place}\nmake[1]: {place}/Makefile: No rule to make target 'dist'. Stop.\n"
        )
        s.sh(
            "./release.sh",
            f"{out}at 0x{s.random.getrandbits(40):010x}, port {s.number(30000, 60000)}\n",
            2,
        )


# Ordinary sessions --------------------------------------------------------------------------------


@scenario(UNSEEN)
def test_first_development(s: Session) -> None:
    for at in range(8):
        s.write(s.path(f"spec{at}", "rb"), f"it 'adds {at}' do\nend\n")
        s.sh("bundle exec rspec", f"{at + 1} examples, 1 failure\n", 1)
        s.edit(s.path("calc", "rb"), f"# {at}", f"def add{at}; end")
        s.sh("bundle exec rspec", f"{at + 1} examples, 0 failures\n")


@scenario(UNSEEN)
def a_slurm_job(s: Session) -> None:
    s.sh("sbatch train.sh", "Submitted batch job 4711\n")
    for _ in range(10):
        s.sh("squeue -j 4711", "JOBID ST TIME\n4711  R 10:03\n")


@scenario(UNSEEN)
def a_server_that_needs_time(s: Session) -> None:
    s.sh("npm run dev &", "")
    for _ in range(8):
        s.sh("curl -s localhost:5173", "curl: (7) Failed to connect to localhost port 5173\n", 7)
    s.sh("curl -s localhost:5173", "<html></html>\n")


@scenario(UNSEEN)
def a_background_shell(s: Session) -> None:
    for _ in range(12):
        s.tool(
            "BashOutput", {"bash_id": "bash_1"}, "<status>running</status>\n\n<stdout>\n</stdout>"
        )
    s.tool("BashOutput", {"bash_id": "bash_1"}, "<status>completed</status>")


@scenario(UNSEEN)
def formatting_file_after_file(s: Session) -> None:
    for at in range(10):
        s.sh(f"gofmt -l pkg/f{at}.go", "")
        s.sh(f"go vet ./pkg/f{at}", "")
        s.sh("go build ./...", "")


@scenario(UNSEEN)
def an_editor_of_another_server(s: Session) -> None:
    for at in range(9):
        given = {
            "name_path": f"Shop/m{at}",
            "relative_path": "shop.py",
            "body": f"def m{at}(self): return {at}",
        }
        s.tool("mcp__serena__replace_symbol_body", given, "OK")
        s.sh("python -m unittest", "FAILED (failures=1)\nAssertionError: 3 != 4\n", 1)


@scenario(UNSEEN)
def stashing_to_compare(s: Session) -> None:
    for _ in range(3):
        s.sh(
            "git stash",
            f"Saved working directory and index state WIP on main: {s.random.getrandbits(28):07x}\n",
        )
        s.sh("npm test", "1 failing\n", 1)
        s.sh("git stash pop", f"Dropped refs/stash@{{0}} ({s.random.getrandbits(160):040x})\n")
        s.sh("npm test", "1 failing\n", 1)


@scenario(UNSEEN)
def scrolling_through_a_page(s: Session) -> None:
    for _ in range(8):
        s.tool("browser_scroll", {"direction": "down", "amount": 3}, "Scrolled down by 3")
    s.tool("browser_get_text", {}, "The end of the page")


@scenario(UNSEEN)
def trying_different_fixes(s: Session) -> None:
    fixes = (
        "export CC=gcc-12",
        "rm -rf build",
        "cmake -B build",
        "conda install zlib",
        "ldconfig",
        "apt-get install x",
    )
    for fix in fixes:
        s.sh(fix, "")
        s.sh("make -C build", "ld: cannot find -lz\nmake: *** [all] Error 1\n", 2)


@scenario(UNSEEN)
def looking_at_one_folder_often(s: Session) -> None:
    for at in range(8):
        s.sh("ls -la dist", "total 0\n")
        s.sh(f"node scripts/step{at}.js", f"step {at} done\n")


@scenario(UNSEEN)
def measuring_the_same_thing(s: Session) -> None:
    for _ in range(5):
        s.sh(
            "hyperfine ./app",
            f"Time (mean ± σ): {s.number(100, 999)}.{s.number(1, 9)} ms ± {s.number(1, 30)} ms\n",
        )
    s.filler(3)


@scenario(UNSEEN)
def a_long_conversation(s: Session) -> None:
    for at in range(8):
        s.human(f"and what about case {at}?")
        s.sh("make check", "All 12 checks passed\n")
        s.filler(3)


@scenario(UNSEEN)
def a_queue_that_is_emptied(s: Session) -> None:
    for left in range(12, 0, -1):
        s.tool("mcp__tickets__next", {}, f'{{"ticket": "T-{left}", "left": {left}}}')
        s.tool("mcp__tickets__close", {"id": f"T-{left}"}, "closed")


@scenario(UNSEEN)
def a_formatter_and_a_linter_after_edits(s: Session) -> None:
    for at in range(8):
        s.edit(s.path(f"v{at}", "vue"), f"<b>{at}</b>", f"<i>{at}</i>")
        s.sh("npx prettier --check .", "All matched files use Prettier code style!\n")
        s.sh("npx eslint .", "")


@scenario(UNSEEN)
def generated_code_by_script(s: Session) -> None:
    for at in range(8):
        s.sh(f"cat > gen{at}.py <<'EOF'\nprint({at})\nEOF", "")
        s.sh("python build_all.py", "ok\n")


@scenario(UNSEEN)
def a_flag_switched_to_debug(s: Session) -> None:
    s.edit(s.path(), "DEBUG = False", "DEBUG = True")
    s.sh("python app.py", f"value {s.number(1, 99)}\n")
    s.edit(s.path(), "DEBUG = True", "DEBUG = False")
    s.filler(3)
    s.edit(s.path(), "DEBUG = False", "DEBUG = True")
    s.sh("python app.py", f"value {s.number(1, 99)}\n")


@scenario(UNSEEN)
def reading_the_answer_of_a_slow_build(s: Session) -> None:
    s.sh("bazel build //... > build.log 2>&1 &", "")
    for _ in range(8):
        s.sh("grep -c Compiling build.log", "40\n")
    s.sh("cat build.log", "Build completed successfully\n")
