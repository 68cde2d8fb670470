"""The key of a package repository is compared with expected fingerprints; a hostile file ends in a plain sentence."""

from __future__ import annotations

import base64
import hashlib
import time

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.repository_keys import (
    DOCKER,
    LARGEST,
    Unreadable,
    fingerprints,
)

from house.collection import filter_sample, load

key_problems = FilterModule().filters()["key_problems"]
# Made for this test by GnuPG 2.2.40, which printed the fingerprint. It has a subkey.
GNUPG = """-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEawWnyRYJKwYBBAHaRw8BAQdAkHy+/KAxT1i0Dbuz8P2jzI7GRkUsp1tV53vo
vvRGrS20LVBhY2thZ2VzIG9mIGFuIGV4YW1wbGUgPHBhY2thZ2VzQGV4YW1wbGUu
b3JnPoiQBBMWCAA4FiEEE9yq8XjluPeslkdWSKLmpDUpffkFAmsFp8kCGwMFCwkI
BwIGFQoJCAsCBBYCAwECHgECF4AACgkQSKLmpDUpffmgPQD/Q9QYVivPYvCIsU6X
5+hNRJ9wXIoh+LnenNxBUbQH89kBAO4eqwP7nxSCupCA7VzorYEbhw7pV4aUnyr8
7miqVSkKuDgEawWnyhIKKwYBBAGXVQEFAQEHQFc0C3u782tBTPBI8fvlHmn2Xid3
vbIQs3EgHY8P+AI6AwEIB4h4BBgWCAAgFiEEE9yq8XjluPeslkdWSKLmpDUpffkF
AmsFp8oCGwwACgkQSKLmpDUpffltGwD/Y3IMK1+CCqgSBDFnS796/ZX1Nfy5lq7O
PVvhJY0BrH4A/3+Id+iEkQZG6ZSATwEtCJTPyn8Z9xy0tSqVDL/jTkUP
=taDg
-----END PGP PUBLIC KEY BLOCK-----
"""
PRINTED = "13DCAAF178E5B8F7AC96475648A2E6A435297DF9"
BEGIN, END = GNUPG.splitlines()[0], GNUPG.splitlines()[-1]


def packet(tag, body, head=None):
    """A packet with a new-format length of five octets, or with a head of the test's own."""
    return (bytes([0xC0 | tag, 255]) + len(body).to_bytes(4, "big") if head is None else head) + body


def body(seed, size=300):
    return b"\x04" + hashlib.shake_256(seed.encode()).digest(size)


def fingerprint(of):
    return hashlib.sha1(b"\x99" + len(of).to_bytes(2, "big") + of).hexdigest().upper()


def primary(seed):
    return packet(6, body(seed)) + packet(13, seed.encode()) + packet(2, b"signature") + packet(14, body(f"sub{seed}"))


def armored(data, headers=()):
    text = base64.b64encode(data).decode()
    lines = [BEGIN, *headers, "", *(text[at : at + 64] for at in range(0, len(text), 64)), END]
    return "\n".join(lines).encode() + b"\n"


def asked(data, *expected):
    return key_problems(base64.b64encode(data).decode(), list(expected))


A, B = (fingerprint(body(seed)) for seed in "ab")


def test_a_key_of_gnupg_has_the_fingerprint_that_gnupg_prints():
    assert fingerprints(GNUPG.encode()) == [PRINTED]
    assert asked(GNUPG.encode(), PRINTED) == []


def test_another_key_is_named():
    assert asked(GNUPG.encode(), A, B) == [f"The file holds the key {PRINTED}."]


HEADS = {
    "old format, one octet": (b"\x98\xc8", 199),
    "old format, two octets": (b"\x99\x01\x2d", 300),
    "old format, four octets": (b"\x9a\x00\x00\x01\x2d", 300),
    "new format, one octet": (b"\xc6\xbf", 190),
    "new format, two octets": (b"\xc6\xc0\x6d", 300),
    "new format, five octets": (b"\xc6\xff\x00\x00\x01\x2d", 300),
}


@pytest.mark.parametrize("head, size", HEADS.values(), ids=HEADS)
def test_each_form_of_a_length_is_read(head, size):
    key = body("a", size)
    assert fingerprints(packet(6, key, head)) == [fingerprint(key)]


SHAPES = {
    "binary": primary("a") + primary("b"),
    "armored": armored(primary("a") + primary("b")),
    "two blocks": armored(primary("a")) + b"\n" + armored(primary("b"), ["Version: 1", "Comment: other"]),
    "line ends of Windows": armored(primary("a") + primary("b")).replace(b"\n", b"\r\n"),
    "text before it": b"pub   rsa4096 2017-02-22\n\n" + armored(primary("a") + primary("b")),
}


@pytest.mark.parametrize("data", SHAPES.values(), ids=SHAPES)
def test_every_primary_key_of_a_file_has_to_be_expected(data):
    assert fingerprints(data) == [A, B]
    assert asked(data, A, B) == []
    assert asked(data, B) == [f"The file holds the key {A}."]
    assert asked(data, A) == [f"The file holds the key {B}."]


def test_fingerprints_may_have_spaces_and_small_letters():
    assert asked(armored(primary("a")), " ".join(A[at : at + 4] for at in range(0, 40, 4)).lower()) == []


@pytest.mark.parametrize("wrong", ["", A[24:], f"0x{A}", "G" * 40])
def test_what_is_no_fingerprint_matches_nothing(wrong):
    (problem,) = asked(armored(primary("a")), wrong)
    assert problem.endswith("does not have 40 hexadecimal digits.")


def test_nothing_is_compared_where_nothing_is_expected():
    assert asked(b"no key at all") == []


GOOD = armored(primary("a"))
HOSTILE = {
    "empty": b"",
    "spaces": b" \n\n",
    "a page": b"<html>Sign in to the network</html>",
    "no ASCII": "schlüssel".encode(),
    "too large": b"\x99" * (LARGEST + 1),
    "a private key": packet(5, body("a")),
    "a private key, armored": GOOD.replace(b"PUBLIC", b"PRIVATE"),
    "a message": packet(11, b"text"),
    "a subkey first": packet(14, body("a")) + primary("a"),
    "a key in a packet that is not known": primary("a") + packet(60, primary("b")),
    "a partial length": b"\xc6\xe1\x04\x00",
    "an unknown length": b"\x9b" + body("a"),
    "a length that lies": b"\xc6\xff\xff\xff\xff\xff" + body("a"),
    "an end in a length": b"\xc6\xff\x00",
    "an end after a type": b"\xc6",
    "version 3": packet(6, b"\x03" + body("a")),
    "version 6": packet(6, b"\x06" + body("a")),
    "an empty key": packet(6, b""),
    "a key of 64 KiB": packet(6, b"\x04" * 0x10000),
    "garbage after the key": primary("a") + b"garbage",
    "a block without an end": GOOD[: -len(END) - 1],
    "a block in a block": GOOD.replace(b"\n\n", b"\n\n" + GOOD, 1),
    "another block behind it": GOOD + b"-----BEGIN PGP SIGNATURE-----\n",
    "a start with a space before it": GOOD + b" " + GOOD,
    "base64 that is cut": armored(primary("a")).replace(END.encode(), b"A\n" + END.encode()),
    "base64 after its padding": armored(b"\x99")[: -len(END) - 1] + b"mQ==\n" + END.encode(),
    "a line that is no base64": GOOD.replace(b"\n" + END.encode(), b"\n- dash\n" + END.encode()),
    "an empty block": f"{BEGIN}\n\n{END}\n".encode(),
    "headers that do not end": f"{BEGIN}\nmQ==\n{END}\n".encode(),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_ends_in_one_sentence(data):
    with pytest.raises(Unreadable):
        fingerprints(data)
    (problem,) = asked(data, A)
    assert problem.startswith("The file holds no readable OpenPGP key: ")


def test_a_line_that_is_no_header_of_a_block_is_named():
    data = armored(primary("a"), ["Version: 1", "no header"])
    assert asked(data, A) == ["The file holds no readable OpenPGP key: line 3 is not a header of an armored block."]


def test_content_that_is_no_base64_is_refused_too():
    (problem,) = key_problems("%%", [A])
    assert problem.startswith("The file holds no readable OpenPGP key: ")


@pytest.mark.parametrize("data", [b"\xc6\x00", b"\xb4\x00", b"\x0a", BEGIN.encode() + b"\n\n" + END.encode() + b"\n"])
def test_the_largest_file_takes_no_time(data):
    begun = time.monotonic()
    asked(data * (LARGEST // len(data)), A)
    assert time.monotonic() - begun < 10


def test_the_example_is_documented_as_it_is():
    assert filter_sample("key_problems") == [f"The file holds the key {DOCKER['redhat'][0]}."]
    assert DOCKER["debian"][0] in load("plugins/filter/key_problems.yml")["EXAMPLES"].replace(" ", "")
