"""Many tasks at the same moment, as forks of one process: each connects and asks vCenter for the time.

A program of its own, because a test process that serves the twin on threads must not fork.
"""

from __future__ import annotations

import importlib
import json
import os
import sys


def main():
    """Print how many forks got an answer, and the errors of the others."""
    sys.path[:0] = json.loads(sys.argv[1])
    importlib.import_module("conftest")  # makes the collection importable
    utils = "ansible_collections.aiready.vsphere.plugins.module_utils"
    session = importlib.import_module(f"{utils}.vcenter.session")
    refusal = importlib.import_module(f"{utils}.core.errors").OperatorError

    params, forks = json.loads(sys.argv[2]), int(sys.argv[3])
    gate, opener = os.pipe()
    answers, reporter = os.pipe()
    for _number in range(forks):
        if os.fork() == 0:
            os.close(opener)
            os.read(gate, 1)  # returns for all at once, when the last writer is gone
            try:
                session.connect(params).si.CurrentTime()
            except refusal as error:
                os.write(reporter, f"{error.code}\n".encode())
            else:
                os.write(reporter, b"answered\n")
            finally:
                os._exit(0)
    os.close(opener)
    os.close(reporter)
    with os.fdopen(answers) as reports:
        print(json.dumps([line.strip() for line in reports]))


if __name__ == "__main__":
    main()
