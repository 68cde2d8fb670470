"""The language of the shell: what clients send arrives as it was meant, and nothing else happens."""

from __future__ import annotations

import pytest

LINES = {
    "words": ("echo a  b", "a b\n"),
    "single quotes": ("echo 'a  b' '$HOME'", "a  b $HOME\n"),
    "double quotes": ('echo "a  \\"b\\" $USER \\$USER"', 'a  "b" root $USER\n'),
    "a quote within quotes": ("echo 'it'\"'\"'s'", "it's\n"),
    "backslash": ("echo a\\ b \\$HOME", "a b $HOME\n"),
    "nested shell": ("/bin/sh -c 'echo \"a b\" && echo c'", "a b\nc\n"),
    "doubly nested": ("/bin/sh -c '/bin/sh -c '\"'\"'echo deep'\"'\"''", "deep\n"),
    "and": ("true && echo yes", "yes\n"),
    "and after failure": ("false && echo no", ""),
    "or": ("false || echo other", "other\n"),
    "and with or": ("false && echo no || echo yes", "yes\n"),
    "sequence": ("echo a; echo b", "a\nb\n"),
    "lines": ("echo a\necho b", "a\nb\n"),
    "group": ("( umask 77 && echo a ) && echo b", "a\nb\n"),
    "assignment": ("X=1; echo ${X}$X", "11\n"),
    "assignment for one command": ("X=1 echo a; echo x$X", "a\nx\n"),
    "status": ("false; echo $?", "1\n"),
    "variable of several words": ("X='a  b'; echo $X \"$X\"", "a b a  b\n"),
    "pipe": ("echo 'a\nb' | grep b", "b\n"),
    "two pipes": ("echo 'a\nab\nb' | grep a | grep -v b", "a\n"),
    "errors to output": ("foo 2>&1", "sh: foo: not found\n"),
    "nothing to see": ("echo a >/dev/null", ""),
    "comment": ("echo a # b", "a\n"),
    "a hash within a word": ("echo a#b", "a#b\n"),
    "test": ("test -n x && [ a = a ] && [ ! -f /none ] && echo ok", "ok\n"),
}


@pytest.mark.parametrize("line,printed", LINES.values(), ids=LINES)
def test_a_line_means_what_it_means_to_sh(console, line, printed):
    assert console().run(line).stdout == printed


@pytest.mark.parametrize(
    "line",
    [
        "echo 'a",
        'echo "a',
        "(echo a",
        "echo a)",
        "&& echo a",
        "echo a &&",
        "echo a |",
        "; echo a",
        "echo a &",
        "echo `id`",
    ],
)
def test_bad_syntax_has_the_code_of_sh_and_runs_nothing(console, line):
    output = console().run(line)
    assert (output.rc, output.stdout) == (2, "")
    assert output.stderr.startswith("sh: syntax error")


def test_a_redirection_that_fails_keeps_the_command_from_running(console):
    here = console()
    assert here.run("nvidia-smi -i 0 -mig 1 > /tmp/log").rc == 1
    assert not here.host.gpus[0].mig.pending


def test_exit_ends_the_line_with_its_code(console):
    output = console().run("echo a; exit 3; echo b")
    assert (output.rc, output.stdout) == (3, "a\n")


def test_exit_in_a_group_ends_the_group_alone(console):
    assert console().run("(exit 3); echo $?").stdout == "3\n"


def test_an_unknown_program_is_not_found(console):
    output = console().run("frobnicate --now")
    assert (output.rc, output.stderr) == (127, "sh: frobnicate: not found\n")


@pytest.mark.parametrize(
    "line", ["cat /etc/passwd", "ls /work", "echo a > /tmp/x", "python3 -c 'print(1)'", "/usr/bin/env"]
)
def test_nothing_of_this_machine_is_read_written_or_run(console, line):
    output = console().run(line)
    assert output.rc != 0
    assert output.stdout == ""


def test_python_says_its_version_and_runs_nothing(console):
    assert console().text("python3 --version") == "Python 3.8.16\n"
    assert console().run("python3 module.py").rc == 126


def test_a_planned_failure_keeps_the_command_from_happening(console):
    here = console()
    here.world.command_faults.fail_command("nvidia-smi -i 0 -mig", rc=15, text="GPU is lost")
    output = here.run("nvidia-smi -i 0 -mig 1")
    assert (output.rc, output.stdout, output.stderr) == (15, "", "GPU is lost\n")
    assert not here.host.gpus[0].mig.pending
    assert here.run("nvidia-smi -i 0 -mig 1").rc == 0


def test_a_plan_for_esxcli_does_not_care_for_its_formatter(console):
    here = console()
    here.world.command_faults.fail_command("esxcli system uuid get", rc=1)
    assert here.run("/bin/esxcli --formatter=json system uuid get").rc == 1
    assert here.run("esxcli --formatter=json system uuid get").rc == 0


def test_a_planned_failure_may_come_after_the_effect(console):
    here = console()
    here.world.command_faults.fail_command("nvidia-smi -i 0 -mig", rc=255, after=True)
    assert here.run("nvidia-smi -i 0 -mig 1").rc == 255
    assert here.host.gpus[0].mig.pending


def test_a_planned_failure_concerns_the_host_that_it_names(console):
    here = console({}, {"name": "esx-02.example"})
    here.world.command_faults.fail_command("hostname", host="esx-02.example", rc=9)
    assert here.run("hostname").rc == 0


UNSPOKEN = ["if true; then echo a; fi", "echo a; for x in 1; do echo b; done", "while true; do x; done"]


@pytest.mark.parametrize("line", UNSPOKEN)
def test_what_the_shell_does_not_speak_fails_as_a_whole(console, line):
    output = console().run(line)
    assert (output.rc, output.stdout) == (2, "")
