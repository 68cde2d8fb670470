"""Run the named gates or groups of gates, without a name all: `python -m gates [name ...]`."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import signal
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from gates import processors, times
from gates.running import LOGS, ROOT, Gate, GateFailed, Running
from gates.table import GATES, GROUPS, PARTS, REHEARSALS
from supervise.keeper import self_supervised

FOLLOWED_TAIL_LINES = 400
KNOWN = {**GATES, **PARTS, **REHEARSALS}
# Output of pip when ansible-test fills its virtual environments.
NOISE = re.compile(r"\s*(Collecting|Downloading|Installing|Looking in|Processing|Successfully|Using cached|━)")


def main(names: list[str]) -> int:
    """Run gates side by side; one line for each as it ends, the logs of the failed ones last."""
    names = [one for name in names or ["all"] for one in GROUPS.get(name, [name])]
    unknown = [name for name in names if name not in KNOWN]
    if unknown:
        print(f"No such gate: {', '.join(unknown)}. The gates are: {', '.join([*KNOWN, *GROUPS])}.", file=sys.stderr)
        return 2
    chosen = [name for name in KNOWN if name in names]
    with contextlib.ExitStack() as held:
        busy = [name for name in chosen if not _alone(held, name)]
        if busy:
            print(
                f"Cannot start: {', '.join(busy)} already run in this tree. They share .build. Wait until they end.",
                file=sys.stderr,
            )
            return 2
        return _run(chosen)


def _alone(held: contextlib.ExitStack, name: str) -> bool:
    """Return whether no other process runs this gate in this tree; the lock lasts until `held` is closed."""
    LOGS.mkdir(parents=True, exist_ok=True)
    lock = held.enter_context((LOGS / f"{name}.lock").open("w"))
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _run(chosen: list[str]) -> int:
    running = Running()
    signal.signal(signal.SIGTERM, _interrupt)
    began, used = time.monotonic(), processors.of_machine()
    gates = [Gate(name, running) for name in chosen]
    # One more thread than processors: gates with guests wait much of their time.
    with ThreadPoolExecutor(max_workers=(os.cpu_count() or 1) + 1) as pool:
        futures = {pool.submit(_timed, gate): gate for gate in gates}
        try:
            failed = _follow(futures)
        except KeyboardInterrupt:
            running.stop()
            pool.shutdown(cancel_futures=True)
            print("Interrupted.", file=sys.stderr)
            return 130
    times.keep({gate.name: gate.seconds for gate in gates})
    machine = processors.of_machine() - used
    return _summary(gates, failed, time.monotonic() - began, machine)


def _interrupt(*_) -> None:
    raise KeyboardInterrupt


def _timed(gate: Gate) -> str | None:
    began = time.monotonic()
    problem = None
    try:
        KNOWN[gate.name](gate)
    except GateFailed as failure:
        problem = str(failure)
    gate.seconds = time.monotonic() - began
    return problem


def _follow(futures: dict[Future, Gate]) -> dict[Gate, str]:
    failed, last = {}, times.last()
    for future in as_completed(futures):
        gate = futures[future]
        problem = future.result()
        verdict = "FAILED" if problem is not None else "-" if gate.left_out else "ok"
        before = f"{last[gate.name]:6.1f} s" if gate.name in last else "-"
        notes = "; ".join(gate.notes)
        seconds = f"{gate.seconds:6.1f} s  last run {before:>8}  processors {gate.cpu:6.1f} s"
        print(f"{verdict:6} {gate.name:20} {seconds}  {notes}".rstrip(), flush=True)
        if problem is not None:
            failed[gate] = problem
    return failed


def _summary(gates: list[Gate], failed: dict[Gate, str], seconds: float, machine: float) -> int:
    for gate, problem in failed.items():
        lines = [line for line in gate.log.read_text().splitlines() if not NOISE.match(line)]
        print(f"\n===== {gate.name} =====", *lines[-FOLLOWED_TAIL_LINES:], problem, sep="\n")
        print(f"(whole log: {gate.log.relative_to(ROOT)})")
    print()
    for gate in gates:
        if gate.closing:
            print(gate.closing)
    for line in times.profile(gates):
        print(line)
    own = sum(gate.cpu for gate in gates)
    print(f"Seconds of processors: {own:.0f} in gates, {machine:.0f} on the whole machine.")
    ran = [gate for gate in gates if not gate.left_out]
    verdict = f"failed: {', '.join(gate.name for gate in failed)}" if failed else "all hold"
    left_out = "".join(f" Left out: {gate.name}." for gate in gates if gate.left_out)
    print(f"{len(ran)} gates in {seconds:.0f} s, {verdict}.{left_out}")
    return 1 if failed else 0


if __name__ == "__main__":
    status = self_supervised()
    sys.exit(main(sys.argv[1:]) if status is None else status)
