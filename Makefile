# Everything here works from a fresh clone; what it makes lies under .build and goes with `make clean`.
# Lines that end in `## text` are what `make help` prints.

# The distribution's Python first: it is compiled with more optimisation than those of pyenv, so that tests take less time.
PYTHON ?= $(shell /usr/bin/python3 -m ensurepip --version >/dev/null 2>&1 && distribution=/usr/bin/python3; \
	for python in $$distribution python3.11 python3.12 python3.13 python3; do \
	"$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1 \
	&& echo "$$python" && break; done)
SEED ?= factory
PORT ?= 8989
# Processes that tests run in.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

VENV := .build/venv
READY := $(VENV)/.ready
COLLECTION := .build/collections/ansible_collections/aiready/vsphere
IN_VENV = AIREADY_MAKE="$$PPID" PATH="$$PWD/$(VENV)/bin:$$PATH" PYTHONPATH="$$PWD/tests:$$PWD/tests/twin/src:$$PWD/tests/twin/tests/helpers" PYTHONDONTWRITEBYTECODE=1 \
	ANSIBLE_COLLECTIONS_PATH="$$PWD/.build/collections" ANSIBLE_HOME="$$PWD/.build/ansible-home"
# Nothing of a command is left, however it ends; gates and rehearse see to that themselves.
ALONE = $(IN_VENV) python -m supervise
PYTEST = $(ALONE) python -m pytest -n $(JOBS)
GATES = $(IN_VENV) python -m gates

.DEFAULT_GOAL := help
.PHONY: help setup rehearse twin twin-test test check lint unit wire e2e guests browser sanity molecule build capture-command environment docs bench pictures lock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

rehearse: setup ## the whole way on a simulated data centre (SITE=directpath: DirectPath on vSphere 9.1; CAPTURE=my.zip SITE=my/site.yml: your own site as captured; STAGES=infrastructure: without guests; STAGES=kubernetes: trainings in pods, PODS=simulated without a container engine; CHECKS=all: planned before, run twice, repaired; CHECKS=restore: restored afterwards; FAULTS=handful: four wrong settings that have to be named; KILLS=10; see docs/contributing.md)
	@$(IN_VENV) python -m rehearse --stages "$(or $(STAGES),auto)" $(if $(CHECKS),--checks "$(CHECKS)") $(if $(FAULTS),--faults "$(FAULTS)") $(if $(KILLS),--kills "$(KILLS)") $(if $(PODS),--pods "$(PODS)") $(if $(SITE),--site "$(SITE)") $(if $(CAPTURE),--capture "$(CAPTURE)")

twin: setup ## the simulated vCenter in the foreground (SEED=factory|small|large|small-9.1|..., or CAPTURE=my.zip; PORT=8989); its endpoint is in .build/lab
	@$(ALONE) python -m vsphere_twin serve $(if $(CAPTURE),--capture "$(CAPTURE)",--seed "$(SEED)") --port "$(PORT)" --state-dir .build/lab

twin-test: setup ## the twin alone: its package in an environment without Ansible, its command, its tests
	@$(GATES) twin

test: setup ## all gates, as CI runs them (WITH=rehearsals: and the rehearsals of .ci/run)
	@$(GATES) all $(WITH)

check: setup ## what a developer runs every few minutes: ruff, vermin, changelog, types, the comparison of lists, and unit tests without the long ones
	@$(GATES) ruff vermin changelog types quick

lint: setup ## the quick gates: ruff, vermin, types, ansible-lint, changelog, docs
	@$(GATES) ruff vermin types ansible-lint changelog docs

unit: setup ## unit tests and the comparison of lists (T=path or -k expression narrows)
	@$(PYTEST) $(or $(T),tests/unit tests/twin/tests tests/house)

wire: setup ## modules against the simulated vCenter, over the wire
	@$(PYTEST) $(or $(T),tests/wire)

e2e: setup ## playbooks against the simulated vCenter
	@$(PYTEST) $(or $(T),tests/e2e)

guests: setup ## roles and modules on guests that are real Linux; needs Docker (T=path or -k expression narrows)
	@$(ALONE) python -m pytest $(or $(T),tests/guests)

browser: setup ## the report in a real browser; needs Chromium (T=path or -k expression narrows)
	@$(ALONE) python -m pytest $(or $(T),tests/browser)

sanity: setup ## ansible-test sanity, with imports on Python 3.8
	@$(GATES) sanity

molecule: setup ## molecule scenarios of the roles
	@$(GATES) molecule

build: setup ## the tarball for Galaxy in .build/dist, checked as Galaxy's importer does
	@$(GATES) tarball

capture-command: setup ## the capture command for machines without Ansible, as one file in .build/dist; see docs/capture.md
	@$(IN_VENV) python extensions/capture/build.py .build/dist/aiready-capture.pyz

environment: setup ## the execution environment of AWX as an image, checked, with the infrastructure stages in it; needs Docker and, as root on Debian, mmdebstrap
	@$(GATES) environment-image

docs: setup ## the site of all pages, modules, plugins and roles as HTML in .build/docs; fails on a broken link
	@$(ALONE) python -m gates.pages

bench: setup ## requests and times of modules, planners and playbooks, in part beside community.vmware's
	@$(ALONE) python -m bench

pictures: setup ## the pictures of docs/pictures: a report, and the terminal of two runs on the simulated vCenter; needs Chromium
	@$(ALONE) python -m pictures

lock: setup ## renew the locks in requirements/ from the *.in files
	@for name in tools:3.11 newer-core:3.12 oldest-core:3.11 twin:3.11 docs:3.11; do \
		python=$${name#*:}; name=$${name%:*}; \
		$(VENV)/bin/uv pip compile --universal --python-version "$$python" --upgrade --generate-hashes --quiet --no-header --no-annotate \
			--output-file "requirements/$$name.txt" "requirements/$$name.in" || exit; done

clean: ## everything that these commands made
	-@test ! -x $(VENV)/bin/python || $(ALONE) python -m vsphere_twin.guests clean
	rm -rf .build .ansible collections tests/output .pytest_cache .ruff_cache
	find plugins tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The virtual environment, and the collection at the path that Ansible wants.
setup: $(READY) $(COLLECTION)/galaxy.yml

$(READY): requirements/tools.txt tests/gates/bootstrap.py
	@test -n "$(PYTHON)" || { echo "No Python 3.11, 3.12 or 3.13 found on PATH. On Debian 12, as root: apt-get install python3 python3-venv"; exit 1; }
	@AIREADY_MAKE="$$PPID" PYTHONPATH="$$PWD/tests:$$PWD/tests/twin/src:$$PWD/tests/twin/tests/helpers" PYTHONDONTWRITEBYTECODE=1 \
		"$(PYTHON)" -m supervise "$(PYTHON)" tests/gates/bootstrap.py $(VENV) requirements/tools.txt
	@touch $@

$(COLLECTION)/galaxy.yml:
	@mkdir -p $(dir $(COLLECTION))
	@ln -sfn ../../../.. $(COLLECTION)
