"""New processes of playbooks print each line at once, and their modules are read in large pieces."""

from __future__ import annotations

import sys

from rehearse import playbook

PROGRAM = f"""#!{sys.executable}
import os, sys
print(sys.stdout.write_through, {playbook.UNBUFFERED!r} in os.environ, sys.argv[1:])
"""


def test_only_the_playbook_itself_is_unbuffered(monkeypatch, tmp_path):
    (tmp_path / "python").symlink_to(sys.executable)
    program = tmp_path / "ansible-playbook"
    program.write_text(PROGRAM)
    program.chmod(0o700)
    monkeypatch.setenv(playbook.PROGRAMS, str(tmp_path))
    monkeypatch.setenv(playbook.UNBUFFERED, "1")
    run = playbook.run("site.yml", env=playbook.environment(tmp_path), inventory="hosts.yml")
    assert (run.status, run.output) == (0, "True False ['--inventory', 'hosts.yml', 'site.yml']\n")
