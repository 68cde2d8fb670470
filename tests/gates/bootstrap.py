"""Create or refresh a virtual environment from a lock file: bootstrap.py VENV LOCK.

It runs on the machine's own Python before any installation, so it uses the standard library only and reports plainly
what is missing.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

# ansible-core 2.19 runs on 3.11 to 3.13, the newer cores that the gates use on 3.12 to 3.14.
OLDEST = (3, 11)
NEWEST = (3, 14)


def main(venv, lock):
    """Bring the environment to exactly the versions of the lock."""
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        sys.exit(
            f"Python {sys.version.split()[0]} at {sys.executable} cannot run the tools: 3.11, 3.12 or 3.13 is needed. "
            "Name one with: make PYTHON=/path/to/python3.11"
        )
    python = venv / "bin" / "python"
    if not runs(python, "import pip"):
        need_ensurepip()
        print(f"Creating the virtual environment {venv} with Python {sys.version.split()[0]} ...", flush=True)
        call([sys.executable, "-m", "venv", "--clear", str(venv)])
    install(python, lock)


def runs(python, code):
    """Return whether this interpreter works (an upgrade of Python leaves environments that do not)."""
    if not python.exists():
        return False
    return subprocess.run([str(python), "-c", code], capture_output=True, check=False).returncode == 0


def need_ensurepip():
    """Debian keeps ensurepip in a package of its own."""
    if runs(pathlib.Path(sys.executable), "import ensurepip, venv"):
        return
    package = "python{}.{}-venv".format(*sys.version_info[:2])
    command = ["apt-get", "install", "--yes", "--no-install-recommends", package]
    if os.geteuid() != 0 or not pathlib.Path("/usr/bin/apt-get").exists():
        sys.exit(
            f"Cannot create a virtual environment. This Python lacks the module ensurepip. On Debian or Ubuntu, "
            f"install it as root with `apt-get install {package}`, then run make again."
        )
    print(f"Python's ensurepip is missing; installing the Debian package {package} ...", flush=True)
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    if subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, check=False).returncode != 0:
        call(["apt-get", "update"])
        call(command)


def install(python, lock):
    """Install with uv if it works, because it takes seconds; with pip if only pip reaches the packages."""
    uv = python.parent / "uv"
    # A file of another content than the lock's author had is refused.
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r"]
    with tempfile.TemporaryDirectory() as folder:
        first = pathlib.Path(folder, "uv.txt")
        first.write_text(pinned("uv", lock.read_text()))
        call([*pip, str(first)])
    # The machine's certificates, as pip on Debian does: behind a company's proxy uv's own do not suffice.
    sync = [str(uv), "pip", "sync", "--quiet", "--system-certs", "--require-hashes", "--python", str(python), str(lock)]
    print(f"Installing {lock} ...", flush=True)
    if subprocess.run(sync, stdin=subprocess.DEVNULL, check=False).returncode != 0:
        print("uv failed to install the packages. Trying pip with its own configuration.", flush=True)
        call([*pip, str(lock)])
    compile_packages(python)


def pinned(name, lock):
    """The lines of one package in a lock: its version and its hashes."""
    return re.search(rf"^{re.escape(name)}==.*\\\n(?:    --hash=.*\n?)+", lock, re.MULTILINE).group()


def compile_packages(python):
    """Tests start hundreds of interpreters that write no bytecode: each would compile pyVmomi and Ansible again.

    The thousands of modules of ansible_collections are sent as source, so that it would be for nothing there.
    """
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    # Packages contain a few files for other Pythons; a file that does not compile is read as source.
    command = [str(python), "-m", "compileall", "-q", "-j", "0", "-x", "ansible_collections|/tests?/", packages]
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)


def call(command):
    """Run a command; its failure is ours, without a traceback."""
    if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode != 0:
        sys.exit("Failed: " + " ".join(command))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
