"""Let Python compile the content of each zip once, on all machines of a lab.

Ansible sends each module with all its imports as a zip, and Python keeps no bytecode of zips. So it compiles the same
sources again for every task, twice, which took a third of the time of modules. The code that runs is the same.
"""

import hashlib
import marshal
import os
import sys
import zipimport


def install(folder):
    """Change how this Python reads zips; it saves compiled code in the folder."""
    if hasattr(zipimport, "_compile_source"):
        zipimport._compile_source = kept(zipimport._compile_source, folder)


def kept(compiled, folder):
    """Wrap the compiler of zipimport with a cache of its results."""

    def compile_source(path, source):
        # Each zip is in a folder of its own, its files have the same names.
        name = path.rpartition(".zip" + os.sep)[2]
        digest = hashlib.sha256(f"{sys.implementation.cache_tag}\0{name}\0".encode() + source).hexdigest()
        file = os.path.join(folder, digest[:2], digest)
        code = known(file)
        if code is None:
            code = compiled(path, source)
            keep(file, code)
        return code

    return compile_source


def known(file):
    """Return the cached result, or None; a file of a killed process or another Python does not count."""
    try:
        with open(file, "rb") as stream:
            return marshal.load(stream)
    except (OSError, EOFError, ValueError, TypeError):
        return None


def keep(file, code):
    """Whole or not at all; a full disk costs time here, and nothing else."""
    own = f"{file}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(own, "wb") as stream:
            marshal.dump(code, stream)
        os.replace(own, file)
    except OSError:
        pass
