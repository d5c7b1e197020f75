"""Written when the rules had been changed by the unseen set before, with other tools."""

from __future__ import annotations

from labelled.streams import CLAUDE, Scenarios, Session, scenario

UNSEEN_6: Scenarios = []


@scenario(UNSEEN_6, failing_test="confirmed", allows=("same-call",))
def deno_test(s: Session) -> None:
    for new in ("", "structuredClone(order)", "{ ...order }"):
        if new:
            s.edit("/home/user/project/lib/cart.ts", "order", new)
            s.filler()
        s.sh(
            "deno test --allow-read lib/cart_test.ts",
            "Check file:///home/user/project/lib/cart_test.ts\nrunning 3 tests from ./lib/cart_test.ts\n"
            f"empty cart ... ok ({s.number(0, 9)}ms)\nkeeps the input ... FAILED ({s.number(1, 40)}ms)\n\n"
            f" ERRORS \n\nkeeps the input => ./lib/cart_test.ts:{s.number(5, 90)}:6\n"
            "error: AssertionError: Values are not equal.\n\n    [Diff] Actual / Expected\n\n-   2\n+   1\n\n"
            f"FAILED | 2 passed | 1 failed ({s.number(10, 900)}ms)\n\nerror: Test failed",
            1,
        )
    s.end()


@scenario(UNSEEN_6, failing_test="confirmed", allows=("same-call",))
def meson_test(s: Session) -> None:
    for new in ("", "g_strndup (s, n)", "g_strdup (s)", "g_utf8_substring (s, 0, n)"):
        if new:
            s.edit("/home/user/project/src/label.vala", "s[0:n]", new)
        s.sh(
            "meson test -C build label --print-errorlogs",
            f"ninja: Entering directory `/home/user/project/build'\n[{s.number(1, 9)}/9] Linking target label-test\n"
            f"1/1 label        FAIL            {s.number(0, 2)}.{s.number(10, 99)}s   killed by signal 6 SIGABRT\n"
            ">>> MALLOC_PERTURB_="
            f"{s.number(1, 255)} /home/user/project/build/tests/label-test\n"
            'ERROR:../tests/label-test.vala:main: assertion failed (shorten ("äö", 1) == "ä"): ("\\303" == "ä")\n\n'
            "Ok:                 0\nFail:               1\n"
            "Full log written to /home/user/project/build/meson-logs/testlog.txt",
            1,
        )
        s.filler()
    s.end()


@scenario(UNSEEN_6, failing_test="confirmed", allows=("same-call",))
def svelte_check(s: Session) -> None:
    for new in ("", "$props() as Props", "$props<Props>()"):
        if new:
            s.edit("/home/user/project/src/lib/Chart.svelte", "$props()", new)
            s.filler()
        s.sh(
            "npx svelte-check --threshold error",
            "====================================\nLoading svelte-check in workspace: /home/user/project\n"
            "Getting Svelte diagnostics...\n\n"
            f"/home/user/project/src/lib/Chart.svelte:{s.number(2, 30)}:{s.number(3, 30)}\n"
            "Error: Property 'points' is missing in type '{}' but required in type 'Props'. (ts)\n\n"
            "====================================\nsvelte-check found 1 error and 0 warnings in 1 file",
            1,
        )
    s.end()


@scenario(UNSEEN_6, failing_test="confirmed", allows=("same-call",))
def ada_build(s: Session) -> None:
    for new in ("", "Item'Access", "Item'Unchecked_Access"):
        if new:
            s.edit("/home/user/project/src/queues.adb", "Item", new)
        s.sh(
            s.pick("gprbuild -P shop.gpr", "gprbuild -q -P shop.gpr -j0"),
            "Compile\n   [Ada]          queues.adb\n"
            f'queues.adb:{s.number(10, 90)}:{s.number(4, 40)}: error: expected type "Node_Access" defined at'
            f" queues.ads:{s.number(4, 20)}\n"
            f'queues.adb:{s.number(10, 90)}:{s.number(4, 40)}: error: found type access to "Node"\n'
            "gprbuild: *** compilation phase failed",
            4,
        )
        s.filler()
    s.end()


@scenario(UNSEEN_6, failing_test="confirmed", allows=("same-call",))
def bats_file(s: Session) -> None:
    for new in ("", "IFS= read -r line", "mapfile -t lines"):
        if new:
            s.edit("/home/user/project/bin/rotate.sh", "read line", new)
        s.sh(
            "bats tests/rotate.bats",
            "rotate.bats\n ✓ makes the folder\n ✗ keeps the last line\n"
            f"   (in test file tests/rotate.bats, line {s.number(9, 60)})\n"
            "     `[ \"$output\" = 'c' ]' failed\n\n2 tests, 1 failure\n",
            1,
        )
        s.filler()
    s.end()


@scenario(UNSEEN_6, shapes=CLAUDE)
def nim_is_slower_so_back(s: Session) -> None:
    path = "/home/user/project/src/tally.nim"
    s.sh("nimble bench", f"tally 1M rows: {s.number(300, 340)} ms")
    s.edit(
        path, "var seen = initTable[string, int]()", "var seen = initOrderedTable[string, int]()"
    )
    s.filler()
    s.sh("nimble bench", f"tally 1M rows: {s.number(600, 660)} ms")
    s.edit(
        path, "var seen = initOrderedTable[string, int]()", "var seen = initTable[string, int]()"
    )
    s.edit(path, "for row in rows:", "for row in rows.items:")
    s.sh("nimble bench", f"tally 1M rows: {s.number(280, 299)} ms")
    s.end()


@scenario(UNSEEN_6, undone_edit="confirmed")
def fortran_goes_back(s: Session) -> None:
    s.edit("/home/user/project/src/heat.f90", "do i = 1, n", "do concurrent (i = 1:n)")
    s.filler()
    s.sh(
        "fpm build --profile release",
        f"src/heat.f90:{s.number(5, 60)}:{s.number(3, 30)}:\n\nError: Reference to impure function 'flux' at (1)"
        ' inside a DO CONCURRENT block\n<ERROR> Compilation failed for object "src_heat.f90.o"\n'
        "<ERROR> stopping due to failed compilation\nSTOP 1",
        1,
    )
    s.say("DO CONCURRENT cannot work with flux as it is. I take the change back.")
    s.sh(
        s.pick(
            "git checkout src/heat.f90",
            "git checkout -f -- src/",
            "git checkout -q HEAD -- src/heat.f90",
        ),
        "",
    )
    s.filler()
    s.end()


@scenario(UNSEEN_6, undone_edit="confirmed")
def worktree_is_restored(s: Session) -> None:
    s.edit("/home/user/project/lib/pages/home.purs", "H.mkComponent", "H.mkEval")
    s.write("/home/user/project/lib/pages/shared.purs", "module Shared where\n")
    s.sh("git add -A", "")
    s.sh(
        "spago build",
        f"[1/1 TypesDoNotUnify] lib/pages/home.purs:{s.number(3, 60)}:5\n\n  Could not match type\n    Record\n"
        "  with type\n    Function\n\n✘ Failed to build.",
        1,
    )
    s.sh(
        s.pick(
            "git restore --staged --worktree lib/",
            "git restore -SW lib/pages/home.purs",
            "git reset -q --hard HEAD && git clean -fdq",
        ),
        "",
    )
    s.filler(4)
    s.end()


@scenario(UNSEEN_6, same_call="confirmed")
def packer_image(s: Session) -> None:
    for _ in range(3):
        s.sh(
            "packer build -color=false web.pkr.hcl",
            "amazon-ebs.web: output will be in this color.\n\n"
            "==> amazon-ebs.web: Prevalidating any provided VPC information\n"
            f"==> amazon-ebs.web: Creating temporary keypair: packer_{s.random.getrandbits(64):016x}\n"
            "==> amazon-ebs.web: No AMI was found matching filters: {Name: base-ubuntu-24*}\n"
            f"Build 'amazon-ebs.web' errored after {s.number(1, 9)} seconds {s.number(10, 900)} milliseconds: "
            "No AMI was found matching filters: {Name: base-ubuntu-24*}\n\n==> Builds finished but no artifacts"
            " were created.",
            1,
        )
        s.filler()
    s.end()


@scenario(UNSEEN_6)
def gcloud_without_an_account(s: Session) -> None:
    for words in (
        "run services list",
        "run deploy shop --source .",
        "sql instances list",
        "secrets list",
    ):
        place = ".".join(word for word in words.split() if word not in ("shop", "--source", "."))
        s.sh(
            f"gcloud {words}",
            f"ERROR: (gcloud.{place}) You do not currently have an active account selected.\nPlease run:\n\n"
            "  $ gcloud auth login\n\nto obtain new credentials.",
            1,
        )
        s.filler()
    s.end()
