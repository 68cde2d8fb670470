"""Keep compiled code of this checkout in .build/bytecode, so that each of its processes need not compile it again.

No process writes `__pycache__` here, Ansible keeps no bytecode of collections, and pytest keeps none of its tests where
Python writes none. Without this, each process compiles thousands of files again. The name of a file with compiled code
is a digest of the source: a changed source has another file, whatever its time and its size are.

Every Python of this checkout imports this as it starts, so it imports little itself.
"""

import fcntl
import hashlib
import os
import sys
from importlib.machinery import SourceFileLoader

from lab_bytecode import keep, known

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, ".build", "bytecode")
# The module of Ansible that compiles collections.
FINDER = "ansible.utils.collection_loader._collection_finder"


def install():
    """Have Python and Ansible keep what they compile below this checkout."""
    really = SourceFileLoader.source_to_code

    def source_to_code(self, data, path, *more, **options):
        if not isinstance(data, bytes):
            return really(self, data, path, *more, **options)
        return kept("python", path, data, lambda: really(self, data, path, *more, **options))

    SourceFileLoader.source_to_code = source_to_code
    sys.meta_path.insert(0, Watch())


def install_in_pytest():
    """Have pytest keep tests with the assertions that it has rewritten."""
    import importlib.util

    import pytest
    from _pytest.assertion import rewrite

    really = rewrite._rewrite_test

    def rewritten(file, config):
        source = file.read_bytes()
        code = kept(f"pytest {pytest.__version__}", str(file), source, lambda: really(file, config)[1])
        return importlib.util.source_hash(source), code

    rewrite._rewrite_test = rewritten


class Watch:
    """Changes how Ansible compiles collections, in processes that import it."""

    def find_spec(self, name, _path=None, _target=None):
        """Find the one module as Python does, and change it when it has run."""
        if name != FINDER:
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(name)
        runs = spec.loader.exec_module

        def exec_module(module):
            runs(module)
            module.compile = compiled

        spec.loader.exec_module = exec_module
        return spec


def compiled(source, filename, **options):
    """Compile as the function of this name in Python does."""
    data = source.encode() if isinstance(source, str) else source
    return kept("ansible", os.fspath(filename), data, lambda: compile(source, filename, **options))


def kept(compiler, path, source, make):
    """Return the kept code, or make and keep it; of processes that need it at the same time, one makes it."""
    if not path.startswith(ROOT + os.sep):
        return make()
    start = f"{compiler}\0{sys.implementation.cache_tag}\0{sys.flags.optimize}\0{path}\0"
    digest = hashlib.sha256(start.encode() + source).hexdigest()
    file = os.path.join(FOLDER, digest[:2], digest)
    return known(file) or _made(file, make)


def _made(file, make):
    lock = _locked(f"{os.path.dirname(file)}.lock")
    try:
        code = known(file)
        if code is None:
            code = make()
            keep(file, code)
        return code
    finally:
        if lock is not None:
            os.close(lock)


def _locked(path):
    """Wait for a lock; without it, such as on a full disk, more than one process makes the same."""
    try:
        os.makedirs(FOLDER, exist_ok=True)
        lock = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.lockf(lock, fcntl.LOCK_EX)
    except OSError:
        return None
    return lock
