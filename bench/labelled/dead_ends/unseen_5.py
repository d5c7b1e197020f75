"""Written when the rules had been changed by the unseen set before, with other tools."""

from __future__ import annotations

from labelled.streams import CLAUDE, Scenarios, Session, scenario

UNSEEN_5: Scenarios = []


@scenario(UNSEEN_5, failing_test="confirmed", allows=("same-call",))
def bazel_cc_test(s: Session) -> None:
    for new in ("", "std::lower_bound", "std::upper_bound"):
        if new:
            s.edit("/home/user/project/index/search.cc", "std::find", new)
            s.filler()
        s.sh(
            "bazel test //index:search_test --test_output=errors",
            f"INFO: Analyzed target //index:search_test ({s.number(1, 90)} packages loaded).\n"
            f"FAIL: //index:search_test (see /home/user/.cache/bazel/{s.random.getrandbits(128):032x}/test.log)\n"
            "[ RUN      ] Search.EmptyRange\n"
            f"index/search_test.cc:{s.number(5, 90)}: Failure\n"
            f"Expected equality of these values:\n  Find({{}}, 3)\n    Which is: 0\n  -1\n"
            f"[  FAILED  ] Search.EmptyRange ({s.number(0, 9)} ms)\n"
            f"INFO: Elapsed time: {s.number(1, 9)}.{s.number(100, 999)}s, Critical Path: "
            f"{s.number(1, 9)}.{s.number(10, 99)}s\n"
            f"//index:search_test  FAILED in {s.number(0, 2)}.{s.number(1, 9)}s",
            3,
        )
    s.end()


@scenario(UNSEEN_5, failing_test="confirmed", allows=("same-call",))
def crystal_spec(s: Session) -> None:
    for new in ("", "x.to_i?", "x.to_i64"):
        if new:
            s.edit("/home/user/project/src/money.cr", "x.to_i", new)
        s.sh(
            "crystal spec spec/money_spec.cr",
            "..F.\n\nFailures:\n\n  1) Money parses cents\n"
            '     Failure/Error: Money.parse("1,5").cents.should eq(150)\n\n'
            "       Expected: 150\n            got: 15\n\n"
            f"     # spec/money_spec.cr:{s.number(3, 80)}\n\n"
            f"Finished in {s.number(1, 900)}.{s.number(10, 99)} milliseconds\n"
            "4 examples, 1 failures, 0 errors, 0 pending",
            1,
        )
        s.filler()
    s.end()


@scenario(UNSEEN_5, failing_test="confirmed", allows=("same-call",))
def gradle_android(s: Session) -> None:
    for new in ("", "LocalDate.of(y, m, d)", "Instant.ofEpochDay(d)"):
        if new:
            s.edit("/home/user/project/app/src/main/java/shop/DueDate.kt", "Date(y, m, d)", new)
        s.sh(
            "./gradlew :app:testDebugUnitTest --tests '*DueDateTest*'",
            "> Task :app:testDebugUnitTest FAILED\n\nshop.DueDateTest > leapYear FAILED\n"
            f"    java.lang.AssertionError at DueDateTest.kt:{s.number(9, 80)}\n\n"
            "3 tests completed, 1 failed\n\nFAILURE: Build failed with an exception.\n\n"
            "* What went wrong:\nExecution failed for task ':app:testDebugUnitTest'.\n"
            f"> There were failing tests.\n\nBUILD FAILED in {s.number(2, 50)}s\n"
            f"{s.number(10, 40)} actionable tasks",
            1,
        )
        s.filler()
    s.end()


@scenario(UNSEEN_5, failing_test="confirmed", allows=("same-call",))
def godot_gut(s: Session) -> None:
    for new in ("", "move_and_slide()", "move_and_collide(v)"):
        if new:
            s.edit("/home/user/project/player/player.gd", "position += v", new)
        s.sh(
            "godot --headless -s addons/gut/gut_cmdln.gd -gtest=res://test/test_player.gd",
            f"Godot Engine v4.2.{s.number(1, 3)}.stable.official\n* test_stops_at_wall\n"
            "    [Failed]:  [(120, 0)] expected to equal [(100, 0)]:  stops\n"
            f"      at line {s.number(3, 60)}\n"
            f"---- 3 passed 1 failed.  Time: {s.number(0, 3)}.{s.number(10, 99)}",
            1,
        )
    s.end()


@scenario(UNSEEN_5, same_call="confirmed")
def pulumi_up(s: Session) -> None:
    for _ in range(3):
        s.sh(
            "pulumi up --yes --stack dev",
            "Updating (dev)\n\n     Type                 Name      Status\n"
            f" +   aws:s3:Bucket        logs      **creating failed** ({s.number(1, 9)}s)\n\n"
            "Diagnostics:\n  aws:s3:Bucket (logs):\n"
            "    error: creating S3 Bucket (logs): BucketAlreadyExists: The requested bucket name "
            f"is not available. request id: {s.random.getrandbits(64):016X}\n\nResources:\n"
            f"    {s.number(3, 9)} unchanged\n\nDuration: {s.number(2, 20)}s",
            255,
        )
        s.filler()


@scenario(UNSEEN_5)
def mongosh_auth(s: Session) -> None:
    for c in (
        "mongosh shop --eval 'db.orders.count()'",
        "mongosh -u app shop --eval 'db.stats()'",
        "mongodump --db shop",
        "mongoimport --db shop --file a.json",
    ):
        s.sh(c, "MongoServerError: Authentication failed.", 1)
        s.filler()


@scenario(UNSEEN_5, undone_edit="confirmed")
def makefile_switch_back(s: Session) -> None:
    s.edit(
        "/home/user/project/CMakeLists.txt",
        "set(CMAKE_CXX_STANDARD 17)",
        "set(CMAKE_CXX_STANDARD 23)",
    )
    s.sh("cmake --build build", "CMake Error: CXX_STANDARD is set to invalid value '23'", 1)
    s.sh("git restore CMakeLists.txt", "")
    s.filler()
    s.end()


@scenario(UNSEEN_5, shapes=CLAUDE)
def cobol_columns(s: Session) -> None:
    for i in range(3):
        s.edit(
            "/home/user/project/PAYROLL.cbl",
            f"{' ' * (7 + i)}MOVE A TO B.",
            "X",
            "String to replace not found in file.\nString: MOVE A TO B.",
        )
        s.filler()
    s.end()


@scenario(UNSEEN_5)
def port_one_file_after_another(s: Session) -> None:
    for i in range(5):
        s.sh(
            "dune build 2>&1 | head -20",
            f'File "lib/m{i}.ml", line {s.number(1, 90)}, characters 4-9:\nError: Unbound module Core_kernel',
            0,
        )
        s.edit(f"/home/user/project/lib/m{i}.ml", "open Core_kernel", "open Core")
    s.sh("dune build 2>&1 | head -20", "")
    s.end()


@scenario(UNSEEN_5)
def failing_count_goes_down(s: Session) -> None:
    for n in (31, 12, 5, 1):
        s.sh(
            "bundle exec rubocop && julia -e 'using Pkg; Pkg.test()'",
            f"Test Summary: | Pass  Fail  Total\nAll           |   {60 - n}    {n}     60\n"
            f"ERROR: LoadError: Some tests did not pass: {60 - n} passed, {n} failed, 0 errored, 0 "
            "broken.",
            1,
        )
        s.edit("/home/user/project/src/Shop.jl", f"# {n}", "# done")
    s.end()


@scenario(UNSEEN_5)
def gh_checks_pending(s: Session) -> None:
    for _ in range(6):
        s.sh("gh pr checks 12", "build\tpending\t0\thttps://example.com\n", 8)
        s.sh("sleep 30")
    s.end()


@scenario(UNSEEN_5, shapes=CLAUDE)
def refactor_moves_a_line(s: Session) -> None:
    s.edit("/home/user/project/a.ex", "def run(x) do\n  log(x)\n  go(x)", "def run(x) do\n  go(x)")
    s.edit("/home/user/project/a.ex", "  go(x)\nend", "  go(x)\n  log(x)\nend")
    s.sh("mix test", "5 tests, 0 failures")
    s.end()


@scenario(UNSEEN_5)
def migrations_one_by_one(s: Session) -> None:
    for i in range(4):
        s.sh(
            "sqitch deploy",
            f"  + change_{i} .. not ok\n"
            f'psql:deploy/change_{i}.sql:{s.number(1, 30)}: ERROR:  relation "t{i}" does not '
            "exist\nDeploy failed",
            2,
        )
        s.edit(f"/home/user/project/deploy/change_{i}.sql", "t", f"public.t{i}")
    s.end()


@scenario(UNSEEN_5)
def expected_failure_is_checked(s: Session) -> None:
    for f in ("a", "b", "c", "d"):
        s.sh(f"opa eval -d policy.rego -i bad_{f}.json 'data.shop.allow' --fail", "{}", 1)
    s.end()


@scenario(UNSEEN_5)
def wrong_password_by_person(s: Session) -> None:
    for _ in range(2):
        s.sh(
            "vagrant up",
            "The guest machine entered an invalid state while waiting for it to boot.",
            1,
        )
    s.human("I started libvirtd now, try again") if s.shape != "codex" else None
    s.sh("vagrant up", "==> default: Machine booted and ready!")
    s.end()


@scenario(UNSEEN_5)
def zig_tests_new_each_time(s: Session) -> None:
    for i, e in enumerate(
        (
            "expected type 'u8', found 'u16'",
            "use of undeclared identifier 'buf'",
            "unused local constant",
        )
    ):
        s.sh(
            "zig build test",
            f"src/ring.zig:{s.number(3, 90)}:{s.number(1, 30)}: error: {e}\n"
            "error: the following command failed with 1 compilation errors",
            1,
        )
        s.edit("/home/user/project/src/ring.zig", f"//{i}", f"//x{i}")
    s.sh("zig build test", "")
    s.end()
