"""Written when the rules had been changed by the unseen set before, with other tools."""

from __future__ import annotations

from labelled.streams import CLAUDE, Scenarios, Session, scenario

UNSEEN_2: Scenarios = []


@scenario(UNSEEN_2, same_call="confirmed")
def playbook_fails_again(s: Session) -> None:
    for _ in range(3):
        s.sh(
            "ansible-playbook -i hosts site.yml",
            'fatal: [web1]: FAILED! => {"changed": false, "msg": "No package matching \'nginx-extra\' found"}\n'
            f"PLAY RECAP\nweb1 : ok={s.number(2, 4)} changed=0 failed=1",
            2,
        )
        s.filler(3)


@scenario(UNSEEN_2, same_call="resolved")
def migration_fails_then_works(s: Session) -> None:
    for _ in range(4):
        s.sh(
            "alembic upgrade head",
            f'sqlalchemy.exc.ProgrammingError: relation "{s.name}" already exists\n[SQL: ...]',
            1,
        )
        s.filler()
    s.sh(
        "alembic upgrade head 2>&1 | tail -3",
        "INFO  [alembic.runtime.migration] Running upgrade a1 -> b2",
    )
    s.end()


@scenario(UNSEEN_2)
def certificate_stops_every_download(s: Session) -> None:
    for where in ("a.tgz", "b.zip", "c/d.json", "e.whl", "f.deb"):
        s.sh(
            f"wget https://files.example.org/{where}",
            "ERROR: cannot verify files.example.org's certificate, issued by 'CN=x'",
            5,
        )
        s.filler(3)


@scenario(UNSEEN_2, shapes=CLAUDE)
def notebook_text_is_not_there(s: Session) -> None:
    for i in range(3):
        s.edit(
            s.path(ending="php"),
            f"$a{i};",
            "$b;",
            error="The old_string was not found in the file. Check the whitespace.",
        )
        s.sh(f"grep -n a{i} x.php", "", 1)


@scenario(UNSEEN_2, shapes=CLAUDE)
def dependency_is_tried_and_dropped(s: Session) -> None:
    path = "/home/user/project/package.json"
    s.edit(path, '"react": "18.3.0"', '"react": "19.0.0"')
    s.sh(
        "npm install",
        'npm error ERESOLVE could not resolve\nnpm error peer react@"^18" from old-lib@2',
        1,
    )
    s.edit(path, '"react": "19.0.0"', '"react": "18.3.0"')
    s.sh("npm install", "up to date")
    s.end()


@scenario(UNSEEN_2, undone_edit="confirmed", shapes=CLAUDE)
def two_files_go_back_one_by_one(s: Session) -> None:
    for name in ("a", "b"):
        s.edit(s.path(name, "cs"), f"Get{name}()", f"Get{name}Async()")
    s.sh(
        "dotnet build",
        "error CS4032: The 'await' operator can only be used within an async method\nBuild FAILED.",
        1,
    )
    for name in ("b", "a"):
        s.edit(s.path(name, "cs"), f"Get{name}Async()", f"Get{name}()")
        s.filler()
    s.end()


@scenario(UNSEEN_2)
def stash_is_thrown_away(s: Session) -> None:
    s.edit(s.path(ending="scala"), "val a = 1", "lazy val a = 1")
    s.sh("git stash", "Saved working directory and index state WIP on main")
    s.sh("sbt test", "[info] All tests passed.")
    s.sh("git stash drop", "Dropped refs/stash@{0}")
    s.filler(3)
    s.end()


@scenario(UNSEEN_2, failing_test="confirmed", allows=("same-call",))
def phpunit_does_not_move(s: Session) -> None:
    cls = s.name.capitalize()
    for new in ("", "trim($a)", "rtrim($a)", "ltrim($a)"):
        if new:
            s.edit(s.path(cls, "php"), "$a", new)
            s.filler()
        out = (
            f"There was 1 failure:\n\n1) {cls}Test::testTrim\n"
            "Failed asserting that two strings are identical.\n--- Expected\n+++ Actual\n-'a'\n+'a '\n\n"
            f"/home/user/project/tests/{cls}Test.php:{s.number(8, 80)}\n\nFAILURES!\n"
            "Tests: 9, Assertions: 20, Failures: 1."
        )
        s.sh(
            s.pick(
                "vendor/bin/phpunit",
                f"./vendor/bin/phpunit tests/{cls}Test.php",
                "php artisan test",
            ),
            f"Time: 00:00.{s.number(100, 999)}, Memory: {s.number(8, 12)}.00 MB\n\n{out}",
            1,
        )
    s.end()


@scenario(UNSEEN_2, failing_test="confirmed", allows=("same-call",))
def narrowed_test_does_not_move(s: Session) -> None:
    line = f"FAILED tests/test_{s.name}.py::test_order - ValueError: not sorted"
    commands = (
        "pytest -q",
        f"pytest -q tests/test_{s.name}.py",
        f"pytest tests/test_{s.name}.py::test_order -x -q",
        "pytest -q",
    )
    for i, command in enumerate(commands):
        s.sh(
            command,
            f"{'.' * s.number(3, 9)}F\nE   ValueError: not sorted\n{line}\n1 failed in {s.took()}",
            1,
        )
        s.edit(s.path(), f"key{i}", f"key{i + 1}")
        s.filler()
    s.end()


# --- look-alikes ----------------------------------------------------------------------------------


@scenario(UNSEEN_2)
def one_long_job_is_asked_about(s: Session) -> None:
    for i in range(8):
        s.sh(f"sleep {30 + i}; cat build.log | tail -1", f"[{i * 11}/100] Building CXX object")
        s.sh("ls build | wc -l", "12")


@scenario(UNSEEN_2, shapes=CLAUDE)
def background_shell_is_read_again(s: Session) -> None:
    for _ in range(8):
        s.tool("BashOutput", {"bash_id": "b1"}, "<status>running</status>\n<stdout></stdout>")
        s.tool("Read", {"file_path": "/home/user/project/server.log"}, "listening")


@scenario(UNSEEN_2)
def each_test_file_in_turn(s: Session) -> None:
    for name in ("a", "b", "c", "d", "e"):
        s.sh(
            f"npx vitest run {name}.test.ts",
            f"FAIL {name}.test.ts > {name} works\nAssertionError: expected 1 to be 2\nTests  1 failed",
            1,
        )
        s.edit(s.path(name, "ts"), "1", "2")
        s.sh(f"npx vitest run {name}.test.ts", "Tests  1 passed")
    s.end()


@scenario(UNSEEN_2)
def compiler_leads_step_by_step(s: Session) -> None:
    for i in range(6):
        s.sh("swift build", f"error: cannot find type 'Node{i}' in scope\nerror: fatalError", 1)
        s.write(s.path(f"Node{i}", "swift"), f"struct Node{i} {{}}\n")
    s.sh("swift build", "Build complete!")
    s.end()


@scenario(UNSEEN_2, shapes=CLAUDE)
def checklist_is_ticked(s: Session) -> None:
    for i in range(5):
        s.edit("/home/user/project/PLAN.md", f"- [ ] step {i}", f"- [x] step {i}")
        s.sh("pytest -q", "FAILED tests/test_plan.py::test_all - NotImplementedError\n1 failed", 1)
    s.end()


@scenario(UNSEEN_2)
def lock_is_held_for_a_while(s: Session) -> None:
    for _ in range(4):
        s.sh(
            "apt-get install -y jq",
            "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812 (apt)",
            100,
        )
    s.sh("apt-get install -y jq", "Setting up jq")


@scenario(UNSEEN_2, shapes=CLAUDE)
def person_leads_every_try(s: Session) -> None:
    for i in range(4):
        s.sh("python -m app", "ConfigError: no profile", 1)
        s.human(f"I have set it now, once more please ({i})")
    s.end()


@scenario(UNSEEN_2, shapes=CLAUDE)
def swap_of_two_lines(s: Session) -> None:
    s.edit(s.path(), "first()\nsecond()", "second()\nfirst()")
    s.edit(s.path("other"), "second()\nfirst()", "first()\nsecond()")
    s.end()


@scenario(UNSEEN_2, shapes=CLAUDE)
def test_is_looked_at_with_probes(s: Session) -> None:
    for i in range(4):
        s.sh(
            f"bundle exec rspec spec/{s.name}_spec.rb",
            f"rspec ./spec/{s.name}_spec.rb:{s.number(3, 90)} # sums",
            1,
        )
        s.edit(s.path(ending="rb"), f"total({i})", f"total({i})\nputs total.inspect")
    s.end()


@scenario(UNSEEN_2, shapes=CLAUDE)
def import_is_not_needed_after_all(s: Session) -> None:
    s.edit(s.path(), "import sys", "import json\nimport sys")
    s.sh("ruff check .", f"a.py:{s.number(1, 9)}:1: F401 `json` imported but unused", 1)
    s.edit(s.path(), "import json\nimport sys", "import sys")
    s.end()


@scenario(UNSEEN_2)
def commit_then_clean_up(s: Session) -> None:
    s.edit(s.path(), "a", "b")
    s.sh("git add . && git commit -m 'b' --quiet", "")
    s.sh("npm run codegen", "wrote 3 files")
    s.sh("git checkout -- .", "")
    s.sh("git reset --hard", "HEAD is now at 1234567 b")
    s.end()
