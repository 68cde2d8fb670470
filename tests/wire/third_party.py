"""Runs modules of other collections: chains of calls come from standard input, their answers go out as JSON.

A program of its own, because these modules leave their connections to the end of the process. What one chain does has
nothing to do with the others, so they run side by side.
"""

from __future__ import annotations

import importlib
import json
import multiprocessing
import sys


def main():
    """Run every [module, arguments] pair of every chain."""
    sys.path[:0] = json.loads(sys.argv[1])
    importlib.import_module("conftest")  # makes the collections importable
    run_chain = importlib.import_module("wire.third_party").run_chain
    chains = json.load(sys.stdin)
    # Loaded once, before the fork.
    drive = importlib.import_module("wire.drive")
    for module in {module for chain in chains for module, _arguments in chain}:
        drive.load(module)
    with multiprocessing.get_context("fork").Pool(len(chains)) as pool:
        json.dump(pool.map(run_chain, chains), sys.stdout)


def run_chain(chain):
    """The answers of one chain, in order."""
    drive = importlib.import_module("wire.drive")
    return [drive.run(module, arguments) for module, arguments in chain]


if __name__ == "__main__":
    main()
