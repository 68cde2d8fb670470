# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import tomllib

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.toml_text import TomlError, parse, read

DEBIAN = """
version = 2

[plugins]
  [plugins."io.containerd.grpc.v1.cri"]
    [plugins."io.containerd.grpc.v1.cri".cni]
      bin_dir = "/usr/lib/cni" # where Debian has them
      conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.internal.v1.opt"]
    path = "/var/lib/containerd/opt"
"""
SOUND = {
    "nothing": "",
    "a comment alone": "# nothing\n",
    "containerd of Debian": DEBIAN,
    "no end of line": "a = 1",
    "ends of lines of Windows": "a = 1\r\nb = 2\r\n[c]\r\nd = 3\r\n",
    "numbers": "a = 1_000\nb = -0.5\nc = 0xff\nd = 0o755\ne = 0b11\nf = 6e3\n",
    "booleans": "a = true\nb = false\n",
    "texts": "a = \"x\\ty \\u00e9\"\nb = 'C:\\dir'\nc = \"\"\"one\ntwo\"\"\"\nd = '''a'b'''\n",
    "characters at the edges": 'a = "\\ud7ff\\ue000\\U0010FFFF"\n',
    "a text that goes on": 'a = """one \\\n   two"""\n',
    "lists": 'a = ["x", "y",]\nb = [\n  1, # one\n  2\n]\nc = [[1], []]\n',
    "tables in one line": 'a = { b = "x", c = { d = 1 } }\ne = {}\n',
    "names with dots": "a.b.c = 1\na.\"x.y\" = 2\n'quoted name' = 3\n",
    "lists of tables": '[[registry]]\nlocation = "a"\n[[registry]]\nlocation = "b"\n[registry.more]\nc = 1\n',
    "a hash in a text": 'a = "#1" # and a comment\n',
}
BROKEN = {
    "no value": ("a =\n", "line 1"),
    "no name": ("= 1\n", "line 1"),
    "a text without an end": ('b = 1\na = "x\n', "line 2"),
    "a list without an end": ("a = [1, 2\n", "line 2"),
    "set twice": ("a = 1\na = 2\n", "line 2: a is set twice"),
    "a value as a table": ("a = 1\n[a.b]\n", "line 2"),
    "two on a line": ("a = 1 b = 2\n", "line 1"),
    "no end of a table's name": ("[a\n", "line 1"),
    "an unknown escape": ('a = "\\q"\n', "line 1"),
    "json": ('{"a": 1}', "line 1"),
    "a value as a list of tables": ("a = 1\n[[a]]\n", "line 2: a is no list of tables"),
    "a table as a list of tables": ("[a]\n[[a]]\n", "line 2: a is no list of tables"),
    "a value as a part of a name": ("a = 1\na.b = 2\n", "line 2: a is a value and no table"),
    "a name with a space": ("a b = 1\n", "line 1: '=' is missing"),
    "no comma in a list": ("a = [\n  1\n  2\n]\n", "line 3: ',' or ']' is missing"),
    "no comma in a table": ("a = { b = 1 c = 2 }\n", "line 1: ',' or '}' is missing"),
    "a list without a bracket": ("a = [1,\n", "line 2: a value is missing"),
    "a text in quotes without an end": ("a = 'x\n", "line 1: the text has no end"),
    "a long text without an end": ('a = """x\ny\n', "the text has no end"),
    "half a character": ('a = "\\ud800"\n', r"line 1: \\ud800 is no character"),
    "the last half of a character": ('a = "\\udfff"\n', r"line 1: \\udfff is no character"),
    "a character beyond the last": ('a = "\\U00110000"\n', r"line 1: \\U00110000 is no character"),
    "a short escape": ('a = "\\u12"\n', r"line 1: \\u12 is no character"),
    "words behind a table": ("[a] b\n", "line 1: the line does not end here"),
}


@pytest.mark.parametrize("text", SOUND.values(), ids=SOUND)
def test_text_means_what_it_means_to_another_reader(text):
    assert read(text) == tomllib.loads(text)


@pytest.mark.parametrize("text, said", BROKEN.values(), ids=BROKEN)
def test_a_broken_text_is_refused_with_its_line(text, said):
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads(text)
    with pytest.raises(TomlError, match=said):
        read(text)
    with pytest.raises(ValueError, match=r"line \d|end of document"):
        parse(text)


@pytest.mark.parametrize("date", ["2026-11-25", "2026-11-25T10:00:00Z", "2026-11-25 10:00:00.5+01:00"])
def test_a_date_is_a_text(date):
    assert read(f"a = {date}\nb = [{date}, 1]\n") == {"a": date, "b": [date, 1]}


@pytest.mark.parametrize(
    "written, value",
    [
        ("{ }", {}),
        ("{}", {}),
        ('"""\nx"""', "x"),
        ('"""\r\nx"""', "x"),
        ('"""\n\nx"""', "\nx"),
        ("'''\r\n\nx'''", "\nx"),
        ('"""x"""', "x"),
    ],
)
def test_blanks_at_the_beginning_of_a_value_are_left_out(written, value):
    assert read(f"a = {written}\n") == {"a": value}
