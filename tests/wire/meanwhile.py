"""Let something happen while a module runs, at a moment that is seen and not guessed."""

from __future__ import annotations

import contextlib
import threading


@contextlib.contextmanager
def meanwhile(moment, action):
    """Do the action once, as soon as moment() is true; the block fails when that never came."""
    over = threading.Event()
    done = []

    def watch():
        while not over.wait(0.002):
            if moment():
                action()
                done.append(True)
                return

    thread = threading.Thread(target=watch, name="meanwhile")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert done, "the moment never came"
