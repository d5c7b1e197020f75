"""Written when the rules had been changed by ``unseen_3``, with tools that mostly no list names."""

from __future__ import annotations

from labelled.streams import CLAUDE, Scenarios, Session, scenario

UNSEEN_4: Scenarios = []


@scenario(UNSEEN_4, failing_test="confirmed", allows=("same-call",))
def solidity_forge(s: Session) -> None:
    for new in ("", "unchecked { bal -= amt; }", "bal = bal - amt;", "require(bal >= amt);"):
        if new:
            s.edit(s.path("Vault", "sol"), "bal -= amt;", new)
            s.filler()
        s.sh(
            "forge test --match-contract VaultTest",
            "[⠊] Compiling...\n[⠒] Compiling 2 files with Solc 0.8.26\n"
            f"[⠢] Solc 0.8.26 finished in {s.number(300, 900)}.{s.number(10, 99)}ms\n\n"
            "Ran 3 tests for test/Vault.t.sol:VaultTest\n"
            f"[PASS] test_Deposit() (gas: {s.number(1000, 90000)})\n"
            f"[FAIL: assertion failed: 100 != 99] test_Withdraw() (gas: {s.number(1000, 90000)})\n"
            "Suite result: FAILED. 2 passed; 1 failed; 0 skipped; finished in "
            f"{s.number(1, 9)}.{s.number(10, 99)}ms ({s.number(300, 900)}.00µs CPU time)\n\n"
            f"Encountered a total of 1 failing tests, 2 tests succeeded",
            1,
        )
    s.end()


@scenario(UNSEEN_4, failing_test="confirmed", allows=("same-call",))
def ocaml_dune(s: Session) -> None:
    for new in ("", "List.rev xs", "List.sort compare xs"):
        if new:
            s.edit(s.path("order", "ml"), "xs", new)
            s.filler()
        s.sh(
            "dune runtest",
            f'File "test/test_order.ml", line {s.number(4, 60)}, characters 2-{s.number(10, 60)}:\n'
            'Fatal error: exception Assert_failure("test/test_order.ml", 12, 2)',
            1,
        )
    s.end()


@scenario(UNSEEN_4, failing_test="confirmed", allows=("same-call",))
def r_testthat(s: Session) -> None:
    for new in ("", "na.rm = TRUE", "useNA = 'no'", "exclude = NULL"):
        if new:
            s.edit("/home/user/project/R/tabulate.R", "na.rm = FALSE", new)
        s.sh(
            """Rscript -e 'devtools::test(filter = "tabulate")'""",
            "ℹ Testing shopr\n✔ | F W  S  OK | Context\n\n⠏ |          0 | tabulate\n"
            "✖ | 1        4 | tabulate\n"
            "────────────────────────────────\n"
            f"Failure ('test-tabulate.R:{s.number(3, 90)}:3'): missing values are counted\n"
            "sum(tab) not equal to 12.\n1/1 mismatches\n[1] 10 - 12 == -2\n────────\n\n"
            f"══ Results ════════\nDuration: {s.number(1, 9)}.{s.number(1, 9)} s\n\n"
            "[ FAIL 1 | WARN 0 | SKIP 0 | PASS 4 ]\nError: Test failures\nExecution halted",
            1,
        )
        s.filler()
    s.end()


@scenario(UNSEEN_4, failing_test="confirmed", allows=("same-call",))
def julia_pkg(s: Session) -> None:
    for new in ("", "A \\ b", "pinv(A) * b"):
        if new:
            s.edit("/home/user/project/src/Solve.jl", "inv(A) * b", new)
        s.sh(
            "julia --project -e 'using Pkg; Pkg.test()'",
            "     Testing Solve\n     Testing Running tests...\n"
            "Test Summary: | Pass  Fail  Total  Time\n"
            f"singular: Test Failed at /home/user/project/test/runtests.jl:{s.number(5, 70)}\n"
            "  Expression: norm(solve(A, b)) ≈ 1.0\n   Evaluated: NaN ≈ 1.0\n\nStacktrace:\n"
            " [1] macro expansion\n"
            f"   @ ~/project/test/runtests.jl:{s.number(5, 70)} [inlined]\n"
            f"Solve         |    6     1      7  {s.number(1, 9)}.{s.number(1, 9)}s\n"
            "ERROR: LoadError: Some tests did not pass: 6 passed, 1 failed, 0 errored, 0 broken.\n"
            "in expression starting at /home/user/project/test/runtests.jl:3\n"
            "ERROR: Package Solve errored during testing",
            1,
        )
        s.filler()
    s.end()


@scenario(UNSEEN_4, same_call="confirmed")
def latex_missing_style(s: Session) -> None:
    for _ in range(3):
        s.sh(
            "latexmk -pdf -interaction=nonstopmode thesis.tex",
            "Rc files read:\n  NONE\nLatexmk: This is Latexmk, John Collins, version 4.83.\n"
            "This is pdfTeX, Version 3.141592653 (TeX Live 2023)\n"
            "! LaTeX Error: File `tikz-cd.sty' not found.\n\n"
            f"Type X to quit or <RETURN> to proceed,\nl.{s.number(10, 40)} \\usepackage\n"
            f"                    {{graphicx}}^^M\n"
            "!  ==> Fatal error occurred, no output PDF file produced!\n"
            "Latexmk: Errors, so I did not complete making targets\n"
            "Collected error summary (may duplicate other messages):\n"
            "  pdflatex: Command for 'pdflatex' gave return code 1",
            12,
        )
        s.filler()


@scenario(UNSEEN_4)
def dbt_profile(s: Session) -> None:
    for c in (
        "dbt debug",
        "dbt run --select orders",
        "dbt build --select +orders",
        "dbt compile",
        "dbt test --select orders",
    ):
        s.sh(
            c,
            f"{s.number(10, 23)}:{s.number(10, 59)}:{s.number(10, 59)}  Running with "
            f"dbt=1.8.{s.number(1, 9)}\n"
            f"{s.number(10, 23)}:{s.number(10, 59)}:{s.number(10, 59)}  Encountered an error:\n"
            "Runtime Error\n"
            '  Credentials in profile "shop", target "dev" invalid: \'schema\' is a required '
            "property",
            2,
        )
        s.filler()


@scenario(UNSEEN_4, same_call="confirmed")
def pio_upload(s: Session) -> None:
    for _ in range(4):
        s.sh(
            "pio run -t upload",
            "Processing esp32dev (platform: espressif32; board: esp32dev)\n"
            "Linking .pio/build/esp32dev/firmware.elf\n"
            "Uploading .pio/build/esp32dev/firmware.bin\nesptool.py v4.5.1\n"
            "Serial port /dev/ttyUSB0\n\n"
            "A fatal error occurred: Could not open /dev/ttyUSB0, the port doesn't exist\n"
            "*** [upload] Error 2\n"
            f"========== [FAILED] Took {s.number(2, 9)}.{s.number(10, 99)} seconds ==========",
            1,
        )
        s.filler()


@scenario(UNSEEN_4, undone_edit="confirmed", shapes=CLAUDE)
def nix_flake_back(s: Session) -> None:
    p = "/home/user/project/flake.nix"
    s.edit(p, "pkgs.python311", "pkgs.python312")
    s.sh(
        "nix build .#shop",
        f"error: builder for '/nix/store/{s.random.getrandbits(128):032x}-shop-0.3.drv' failed "
        "with exit code 1;\n       last 3 log lines:\n"
        "       > ModuleNotFoundError: No module named 'imp'",
        1,
    )
    s.filler()
    s.edit(p, "pkgs.python312", "pkgs.python311")
    s.sh("nix build .#shop", "")
    s.end()


@scenario(UNSEEN_4, undone_edit="confirmed")
def haskell_head_checkout(s: Session) -> None:
    s.edit("/home/user/project/src/Data/Pool.hs", "newIORef", "newTVarIO")
    s.edit("/home/user/project/src/Data/Pool.hs", "readIORef", "readTVarIO")
    s.sh(
        "cabal build all",
        f"src/Data/Pool.hs:{s.number(9, 90)}:14: error: [GHC-83865]\n    • Couldn't match type ‘STM’ with ‘IO’",
        1,
    )
    s.sh("git checkout HEAD -- src/Data/Pool.hs && cabal build all", "[1 of 3] Compiling Data.Pool")
    s.filler()
    s.end()


@scenario(UNSEEN_4, sub_agent="confirmed", shapes=CLAUDE)
def sub_agent_prompt_too_long(s: Session) -> None:
    s.filler()
    s.agent(
        "Map every COBOL copybook to its callers",
        "API Error: 400 prompt is too long: 214431 tokens > 200000 maximum",
        True,
    )
    s.filler()
    s.end()


@scenario(UNSEEN_4)
def forge_red_green(s: Session) -> None:
    for i, t in enumerate(("test_Deposit", "test_Withdraw", "test_Pause")):
        s.edit(
            "/home/user/project/test/Vault.t.sol",
            "// next",
            f"function {t}() public {{ assertEq(v.x(), {i}); }}\n// next",
        )
        s.sh(
            "forge test",
            f"[FAIL: assertion failed: 0 != {i + 1}] {t}() (gas: {s.number(1000, 90000)})\n"
            f"Suite result: FAILED. {i} passed; 1 failed; 0 skipped",
            1,
        )
        s.edit("/home/user/project/src/Vault.sol", f"// {i}", f"x = {i + 1};")
        s.sh(
            "forge test",
            f"Suite result: ok. {i + 1} passed; 0 failed; 0 skipped; finished in 1.{s.number(10, 99)}ms",
        )
    s.end()


@scenario(UNSEEN_4)
def forge_more_verbose(s: Session) -> None:
    for v in ("", " -vv", " -vvv", " -vvvv", " -vvvvv"):
        s.sh(
            f"forge test --mt test_Withdraw{v}",
            "Ran 1 test for test/Vault.t.sol:VaultTest\n"
            f"[FAIL: assertion failed: 100 != 99] test_Withdraw() (gas: {s.number(10000, 90000)})\n"
            "Suite result: FAILED. 0 passed; 1 failed; 0 skipped",
            1,
        )
    s.edit("/home/user/project/src/Vault.sol", "amt + 1", "amt")
    s.sh(
        "forge test --mt test_Withdraw",
        "[PASS] test_Withdraw() (gas: 31415)\nSuite result: ok. 1 passed; 0 failed",
    )
    s.end()


@scenario(UNSEEN_4)
def perl_bisect(s: Session) -> None:
    s.sh(
        "git bisect start HEAD v1.0",
        f"Bisecting: {s.number(40, 60)} revisions left to test after this (roughly 6 steps)",
    )
    for i in range(6):
        s.sh(
            "prove -l t/date.t",
            "t/date.t .. 1/4\n#   Failed test 'leap day'\n#   at t/date.t line 18.\n"
            "#          got: '28'\n#     expected: '29'\n"
            "# Looks like you failed 1 test of 4.\n"
            "t/date.t .. Dubious, test returned 1 (wstat 256, 0x100)\nFailed 1/4 subtests\n"
            "Result: FAIL",
            1,
        )
        s.sh(
            "git bisect bad",
            f"Bisecting: {40 >> i} revisions left to test after this (roughly {6 - i} steps)\n"
            f"[{s.random.getrandbits(160):040x}] change {i}",
        )
    s.end()


@scenario(UNSEEN_4)
def lsf_waiting(s: Session) -> None:
    s.sh("bsub -q gpu -o run.log ./train.sh", "Job <48211> is submitted to queue <gpu>.")
    for _ in range(5):
        s.sh(
            "bjobs 48211",
            "JOBID USER STAT QUEUE FROM_HOST EXEC_HOST JOB_NAME SUBMIT_TIME\n"
            "48211 me PEND gpu login1 - train Nov 3 10:12",
        )
        s.sh("cat run.log", "cat: run.log: No such file or directory", 1)
    s.end()


@scenario(UNSEEN_4)
def clojure_was_it_red_before(s: Session) -> None:
    p = "/home/user/project/src/shop/core.clj"
    s.edit(p, "(reduce + xs)", "(transduce identity + xs)")
    red = (
        f"FAIL in (total-test) (core_test.clj:{s.number(4, 90)})\n"
        "expected: (= 6 (total [1 2 3]))\n  actual: (not (= 6 7))\n"
        "Ran 3 tests containing 4 assertions.\n1 failures, 0 errors."
    )
    s.sh("lein test", red, 1)
    s.sh("git stash", "Saved working directory and index state WIP on main: 1a2b3c4 x")
    s.sh("lein test", red, 1)
    s.sh("git stash pop", "On branch main\nDropped refs/stash@{0}")
    s.edit("/home/user/project/test/shop/core_test.clj", "[1 2 3]", "[1 2 4]")
    s.sh("lein test", "Ran 3 tests containing 4 assertions.\n0 failures, 0 errors.")
    s.end()


@scenario(UNSEEN_4)
def toolchain_probes(s: Session) -> None:
    for t in ("ghc", "stack", "cabal", "runghc", "ghcup"):
        s.sh(f"{t} --version", f"/bin/bash: line 1: {t}: command not found", 127)
    s.sh("curl -sSf https://get-ghcup.haskell.org | sh", "OK")
    s.end()


@scenario(UNSEEN_4)
def nextflow_resume(s: Session) -> None:
    for p in ("FASTQC", "TRIM", "ALIGN", "SORT"):
        s.sh(
            "nextflow run main.nf -resume",
            f"N E X T F L O W  ~  version 24.04.{s.number(1, 9)}\n"
            f"Launching `main.nf` [{s.pick('mad', 'sad', 'big')}_euler] DSL2 - revision: "
            f"{s.random.getrandbits(40):010x}\n"
            f"ERROR ~ Error executing process > '{p} (sample1)'\n\nCaused by:\n"
            f"  Process `{p} (sample1)` terminated with an error exit status (127)\n\n"
            f"Command error:\n  .command.sh: line 2: {p.lower()}: command not found",
            1,
        )
        s.edit(
            "/home/user/project/nextflow.config",
            f"// {p}",
            f"withName: {p} {{ container = 'bio/{p.lower()}' }}",
        )
        s.filler()
    s.end()


@scenario(UNSEEN_4)
def verilog_two_swaps(s: Session) -> None:
    a, b = "/home/user/project/rtl/tx.v", "/home/user/project/rtl/rx.v"
    s.edit(a, "posedge clk", "negedge clk")
    s.edit(b, "negedge clk", "posedge clk")
    s.sh("iverilog -o sim rtl/tx.v rtl/rx.v && vvp sim", "ALL TESTS PASSED")
    s.end()


@scenario(UNSEEN_4, shapes=CLAUDE)
def person_wants_it_back(s: Session) -> None:
    p = "/home/user/project/src/router.gleam"
    s.edit(p, "wisp.ok()", "wisp.created()")
    s.sh("gleam test", f"Compiled in 0.{s.number(10, 99)}s\n.....\n5 tests, 0 failures")
    s.end()
    s.human("No, keep 200 there please. Clients depend on it.")
    s.edit(p, "wisp.created()", "wisp.ok()")
    s.end()


@scenario(UNSEEN_4)
def erlang_each_module(s: Session) -> None:
    for m in ("shop_cart", "shop_tax", "shop_mail", "shop_auth"):
        s.sh(
            "rebar3 dialyzer",
            "===> Verifying dependencies...\n===> Analyzing applications...\n\n"
            f"apps/shop/src/{m}.erl\n"
            f"Line {s.number(3, 90)} Column 1: Function handle/{s.number(1, 4)} has no local return\n"
            "===> Warnings written to _build/default/24.dialyzer_warnings\n"
            "===> Warnings occurred running dialyzer: 1",
            1,
        )
        s.edit(f"/home/user/project/apps/shop/src/{m}.erl", "-spec a", "-spec b")
    s.end()
