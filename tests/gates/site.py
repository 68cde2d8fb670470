"""The pages of the site that `make docs` builds: table of contents, links, and the check of the result. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

START = "README.md"
PICTURES = "docs/pictures"
# The table of contents: pages by kind, in the order of the sidebar. Every page but the start page needs an entry.
NAVIGATION = {
    "Tutorial": ("docs/tutorial.md",),
    "How-to": (
        "docs/preflight.md",
        "docs/drift.md",
        "docs/restore.md",
        "docs/stages.md",
        "docs/hosts.md",
        "docs/upgrade_driver.md",
        "docs/restore_guests.md",
        "docs/mig.md",
        "docs/fabric.md",
        "docs/add_switch.md",
        "docs/fabric_check.md",
        "docs/change_path.md",
        "docs/guests_stage.md",
        "docs/guest_driver.md",
        "docs/container_runtime.md",
        "docs/images.md",
        "docs/training.md",
        "docs/validation.md",
        "docs/slow_pair.md",
        "docs/capacity.md",
        "docs/stack.md",
        "docs/kubernetes.md",
        "docs/openshift.md",
        "docs/pod_sriov.md",
        "docs/kubernetes_checks.md",
        "docs/awx.md",
        "docs/capture.md",
        "docs/rehearse_your_site.md",
        "docs/capture_security.md",
    ),
    "How-to: develop": (
        "docs/contributing.md",
        "docs/develop_role.md",
        "docs/twin.md",
        "tests/twin/README.md",
    ),
    "Reference": (
        "docs/site.md",
        "docs/failure_codes.md",
        "docs/report.md",
        "plugins/index.rst",
        "docs/compatibility.md",
        "docs/vsphere_releases.md",
        "docs/driver.md",
        "docs/bios.md",
        "docs/host_settings.md",
        "docs/machines.md",
        "docs/performance.md",
        "docs/login.md",
        "docs/security.md",
        "docs/capture_requests.md",
        "docs/capture_data.md",
        "docs/dependencies.md",
        "CHANGELOG.md",
    ),
    "Reference: switches": (
        "docs/switches.md",
        "docs/switches/cumulus.md",
        "docs/switches/enterprise_sonic.md",
        "docs/switches/eos.md",
        "docs/switches/junos.md",
        "docs/switches/nxos.md",
        "docs/switches/onyx.md",
        "docs/switches/os10.md",
        "docs/switches/sonic.md",
    ),
    "Reference: roles": (
        "roles/site/README.md",
        "roles/awx/README.md",
        "roles/bios/README.md",
        "roles/esxi_host/README.md",
        "roles/switch/README.md",
        "roles/training_vm/README.md",
        "roles/guest_vm/README.md",
        "roles/container_runtime/README.md",
        "roles/horovod/README.md",
        "roles/kubernetes/README.md",
        "roles/validation/README.md",
    ),
    "Reference: the twin": (
        "tests/twin/docs/seeds.md",
        "tests/twin/docs/rules.md",
        "tests/twin/docs/calibration.md",
        "tests/twin/docs/clients.md",
        "tests/twin/docs/controller.md",
        "tests/twin/docs/kubernetes.md",
    ),
    "Explanation": (
        "docs/architecture.md",
        "docs/one_restart.md",
        "docs/placement.md",
        "docs/data_paths.md",
        "docs/guests.md",
        "docs/trust.md",
        "docs/twin_design.md",
        "tests/twin/docs/guests.md",
        "tests/twin/docs/measuring.md",
        "tests/twin/docs/protocol.md",
    ),
}
# antsibull-docs writes this page and all pages below it.
GENERATED = "plugins/index.rst"
INDEX = "Modules, plugins and roles"
PAGE = re.compile(
    r"README\.md|CHANGELOG\.md|docs/.+\.md|roles/\w+/README\.md|tests/twin/README\.md|tests/twin/docs/.+\.md"
)
# A fenced block, of which nothing is a link, a picture, or a link to a file.
LINK = re.compile(
    r"^(?P<fence>```+).*?^(?P=fence)|(?P<picture>!)?\[(?P<text>[^\]]*)\]\((?P<path>[^()\s#:]+)(?P<anchor>#[^()\s]*)?\)",
    re.M | re.S,
)


def pages(files: Iterable[str]) -> set[str]:
    """The files of the repository that are pages of the site."""
    return {name for name in files if PAGE.fullmatch(name)}


def navigation_problems(present: set[str]) -> list[str]:
    """Pages without an entry in NAVIGATION, and entries without a page."""
    named = [page for group in NAVIGATION.values() for page in group if page != GENERATED]
    missing = [f"{page} has no entry in NAVIGATION of tests/gates/site.py." for page in present - {*named, START}]
    absent = [f"NAVIGATION of tests/gates/site.py names {page}, which does not exist." for page in {*named} - present]
    twice = [f"NAVIGATION of tests/gates/site.py names {page} twice." for page in {*named} if named.count(page) > 1]
    return sorted(missing + absent + twice)


def page_text(name: str, text: str, files: set[str]) -> str:
    """A page as Sphinx reads it; `files` are those of the repository."""
    text = _linked(name, text, files).replace("```mermaid\n", "```text\n")
    if name == START:
        return text + "".join(_contents(kind, group) for kind, group in NAVIGATION.items())
    if role := re.fullmatch(r"roles/(\w+)/README\.md", name):
        return f"{text}\nAll options with their types: [{role[1]}](../../plugins/{role[1]}_role.rst)\n"
    return text


def page_path(name: str) -> str:
    """The path of a page below the folder of sources: the start page is the index."""
    return "index.md" if name == START else name


def generated_text(text: str) -> str:
    """A page of antsibull-docs without its tables of contents.

    The theme brings the one of a page. The sidebar leaves out the plugins: 110 more entries on each page would double
    the time of the build. Their index lists them with a description.
    """
    text = re.sub(r"^\.\. (?:toctree|contents)::\n(?:   .*\n|\n)+", "\n", text, flags=re.MULTILINE)
    return text.replace("Aiready.Vsphere\n===============\n", f"{INDEX}\n{'=' * len(INDEX)}\n")


def _contents(kind: str, group: tuple[str, ...]) -> str:
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {kind}", "", *group, "```", ""])


def _linked(name: str, text: str, files: set[str]) -> str:
    """Links between pages stay, and pictures, and broken links, which Sphinx reports. Other links become their path."""
    others = files - pages(files)
    others |= {folder.as_posix() for file in files for folder in PurePosixPath(file).parents}

    def one(found: re.Match[str]) -> str:
        if found["fence"] or found["picture"]:
            return found[0]
        folder = posixpath.dirname(name)
        path = posixpath.normpath(posixpath.join(folder, found["path"]))
        if path in others:
            return f"`{path}`"
        target = posixpath.relpath(page_path(path), folder or ".")
        return f"[{found['text']}]({target}{found['anchor'] or ''})"

    return LINK.sub(one, text)


class _Html(HTMLParser):
    """The anchors of one page, its links, and the files that it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors = {"", "top"}
        self.links: set[str] = set()
        self.loaded: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        have = {name: value for name, value in attrs if value}
        self.anchors |= {have[name] for name in ("id", "name") if name in have}
        (self.links if tag == "a" else self.loaded).update(have[name] for name in ("href", "src") if name in have)


def site_problems(folder: Path) -> list[str]:
    """Links to a page or an anchor that the site does not have, and files that it would load from elsewhere."""
    read = {path: _Html() for path in sorted(folder.rglob("*.html"))}
    for path, page in read.items():
        page.feed(path.read_text())
    problems = []
    for path, page in read.items():
        name = path.relative_to(folder)
        for link in sorted(page.links | page.loaded):
            url = urlsplit(link)
            if url.scheme or url.netloc:
                if link in page.loaded and url.scheme != "data":
                    problems.append(f"{name} loads {link}.")
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            if not target.is_file():
                problems.append(f"{name} links to {link}, which does not exist.")
            elif target in read and unquote(url.fragment) not in read[target].anchors:
                problems.append(f"{name} links to {link}, but that page has no such anchor.")
    styles = sorted(folder.rglob("*.css"))
    outside = re.compile(r"(?:@import\s+|url\(\s*)[\"']?(?:https?:)?//")
    return problems + [
        f"{path.relative_to(folder)} loads from outside." for path in styles if outside.search(path.read_text())
    ]
