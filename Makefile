# Each target is one line: the work is in scripts/.
.PHONY: demo test check bench

demo: ; @scripts/demo
test: ; @scripts/test
check: ; @scripts/check
bench: ; @scripts/bench
