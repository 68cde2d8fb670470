"""A headless Chromium, found or installed from the distribution, and controlled by its protocol over a pipe."""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
INSTALLED_BY = ("debian",)
PACKAGE = "chromium"
LIMIT_S = 900
ANSWER_S = 300
FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
)


class NoBrowser(RuntimeError):
    """The reason why there is no browser, and the fix."""


def have(say, install=False):
    """The path of a browser. With `install`, as root on Debian, a missing browser is installed."""
    found = _found()
    if found is not None:
        return found
    why = "Chromium is not installed. On Debian, as root, run: apt-get install chromium."
    if not install:
        raise NoBrowser(why)
    if os.geteuid() != 0:
        raise NoBrowser(f"{why} Only root can install it from here.")
    if _distribution() not in INSTALLED_BY or shutil.which("apt-get") is None:
        # In Ubuntu, the package is a snap, which does not run in containers.
        raise NoBrowser(f"{why} This command installs it on Debian only.")
    say("Chromium is not installed. Installing it from the distribution.")
    _install()
    found = _found()
    if found is None:
        raise NoBrowser(f"The package {PACKAGE} was installed, but the command {NAMES[0]} is missing.")
    return found


def _found():
    return next((path for path in map(shutil.which, NAMES) if path), None)


def _distribution():
    try:
        lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition("=")[2].strip('"') for line in lines if line.startswith("ID=")), "")


def _install():
    # If the update of the package lists fails, the present lists may be enough.
    _status, old = _apt("update")
    status, said = _apt("install", "-y", "--no-install-recommends", PACKAGE, "fonts-dejavu-core")
    if status != 0:
        last = (old + said).splitlines()[-8:]
        raise NoBrowser("\n".join([f"Cannot install {PACKAGE}: apt-get ended with status {status}.", *last]))


def _apt(*words):
    """Status and output. Waits while another installation, such as one of another gate, holds the lock of apt."""
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    argv = ["apt-get", "-o", f"DPkg::Lock::Timeout={LIMIT_S}", *words]
    until = time.monotonic() + LIMIT_S
    while True:
        done = subprocess.run(
            argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=2 * LIMIT_S
        )
        said = done.stdout + done.stderr
        if done.returncode == 0 or "Could not get lock" not in said or time.monotonic() > until:
            return done.returncode, said
        time.sleep(5)


class Browser:
    """One process that opens one page after the other."""

    def __init__(self, path):
        self._profile = tempfile.mkdtemp(prefix="aiready-chromium-")
        read_here, write_there = os.pipe()
        read_there, write_here = os.pipe()
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        # The browser reads from 3 and writes to 4. The shell moves the two ends there from other numbers.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read_there, write_there)]
        argv = [path, *FLAGS, *sandbox, f"--user-data-dir={self._profile}"]
        script = f'exec "$@" 3<&{ends[0]} 4>&{ends[1]} {ends[0]}<&- {ends[1]}>&-'
        self._process = subprocess.Popen(
            ["bash", "-c", script, "chromium", *argv],
            pass_fds=ends,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self._profile},
            start_new_session=True,
        )
        for end in (read_there, write_there, *ends):
            os.close(end)
        self._in, self._out = read_here, write_here
        self._numbers = itertools.count(1)
        self._rest = b""
        self.events = []

    def call(self, method, session=None, **params):
        """Send one command of the protocol, and return its answer."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + ANSWER_S
        while True:
            answer = self._next(until)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method, session):
        """The next event of that name."""
        until = time.monotonic() + ANSWER_S
        while True:
            for index, event in enumerate(self.events):
                if event.get("method") == method and event.get("sessionId") == session:
                    return self.events.pop(index)
            self.events.append(self._next(until))

    def _next(self, until):
        while b"\0" not in self._rest:
            ready, _write, _other = select.select([self._in], [], [], max(0, until - time.monotonic()))
            chunk = os.read(self._in, 1 << 20) if ready else b""
            if not chunk:
                raise RuntimeError("Chromium does not answer." if not ready else "Chromium ended.")
            self._rest += chunk
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def close(self):
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    def page(self, url, width, height=900, dark=False, mobile=False):
        return Page(self, url, width, height, dark, mobile)


class Page:
    """A page, loaded at a width, with all its requests."""

    def __init__(self, browser, url, width, height, dark, mobile):
        self._browser = browser
        self._target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = browser.call("Target.attachToTarget", targetId=self._target, flatten=True)["sessionId"]
        self._width = width
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        metrics = {"width": width, "height": height, "deviceScaleFactor": 2 if mobile else 1, "mobile": mobile}
        self._call("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        browser.events.clear()
        self._call("Page.navigate", url=url)
        browser.wait_for("Page.loadEventFired", self._session)
        self.requests = [event["params"]["request"]["url"] for event in self._reported("Network.requestWillBeSent")]
        self.complaints = [event["params"]["entry"]["text"] for event in self._reported("Log.entryAdded")]

    def _call(self, method, **params):
        return self._browser.call(method, self._session, **params)

    def _reported(self, method):
        mine = [event for event in self._browser.events if event.get("sessionId") == self._session]
        return [event for event in mine if event.get("method") == method]

    def ask(self, expression):
        """The result of a JavaScript expression, as data."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def screenshot(self, path, clip=None):
        """The whole page, or one part of it, as a PNG."""
        if clip is None:
            size = self._call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": self._width, "height": size["height"]}
        taken = self._call("Page.captureScreenshot", captureBeyondViewport=True, clip={**clip, "scale": 1})
        Path(path).write_bytes(base64.b64decode(taken["data"]))

    def pdf(self, path):
        printed = self._call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=False)
        Path(path).write_bytes(base64.b64decode(printed["data"]))

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)
