# Short names for the commands of CMake, ctest, pytest and the scripts. `make help` lists them.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
# release is quick to build, for `make run`; package is optimised over all files, for what is installed.
build = cmake --preset $(1) -DSTILE_BENCH=OFF >/dev/null && cmake --build --preset $(1) -j $(JOBS)

.PHONY: help run check test test-full web-test programs-test bench fuzz lint format install package package-test image-test clean
.DEFAULT_GOAL := help

help:  ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

run:  ## install what is missing, build, start the proxy with its embedded default
	@scripts/packages build
	@$(call build,release) --target stiled stile
	@scripts/run build/release/cmd

check:  ## unit tests and a smoke test, while working on something
	@scripts/packages build test
	@scripts/test check

test:  ## install what is missing, build, run every test once, sanitizers and fuzzers included
	@scripts/packages build test
	@scripts/test test

test-full:  ## every test in every build, the long ones, the thread sanitizer
	@scripts/packages build test
	@scripts/test full

web-test:  ## the web page in a browser; installs Debian's chromium
	@scripts/packages build test browser
	@$(call build,dev) --target programs
	@STILE_BROWSER=1 /usr/bin/python3 -m pytest -q -n $(JOBS) tests/e2e/test_web_browser.py tests/spawn/test_workers_page.py

programs-test:  ## Java, Go, databases, browsers and agents from npm; installs a gigabyte of packages
	@scripts/packages build test browser programs
	@scripts/agents
	@$(call build,dev) --target programs
	@/usr/bin/python3 -m pytest -q -ra -n $(JOBS) --dist loadfile tests/netns/test_captured_programs.py \
	  tests/run/test_inside_clients.py tests/run/test_agents.py tests/run/test_asks_in_tmux.py tests/compat \
	  tests/mcp tests/spawn/test_a2a.py tests/spawn/test_mcp_captain.py tests/spawn/test_agent_in_worker.py

bench:  ## build and run the benchmarks
	@scripts/packages build test bench
	@scripts/bench

fuzz:  ## run every fuzzer for FUZZ_SECONDS (60), report executions and coverage
	@scripts/packages build test
	@$(call build,asan) --target fuzzers
	@/usr/bin/python3 scripts/fuzz --seconds $(FUZZ_SECONDS)

lint:  ## check format, clang-tidy, the shell scripts
	@scripts/packages build test lint
	@scripts/lint

format:  ## format all C++ files in place
	@scripts/packages lint
	@git ls-files -z '*.cc' '*.h' | xargs -0 clang-format -i

install:  ## build the packaged programs and install them below DESTDIR and PREFIX (/usr/local)
	@scripts/packages build
	@$(call build,package)
	@cmake --install build/package --prefix $(PREFIX)

package:  ## build the Debian package in build/package
	@scripts/packages build
	@$(call build,package)
	@cd build/package && cpack -G DEB

package-test: package  ## install that package into a booted Debian and use it (root)
	@scripts/packages package
	@lintian --fail-on error build/package/stile_*.deb
	@scripts/package-test build/package/stile_*.deb

image-test:  ## build the image of deploy/k8s with buildah and run it with podman (root)
	@scripts/packages test image
	@scripts/image-test

clean:  ## remove everything that was built
	@rm -rf build
