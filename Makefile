# Each target is one line: the work is in scripts/.
.PHONY: demo test check bench e2e adapters docs

demo: ; @scripts/demo
test: ; @scripts/test
check: ; @scripts/check
bench: ; @scripts/bench
e2e: ; @scripts/e2e
adapters: ; @scripts/adapters
docs: ; @scripts/docs
