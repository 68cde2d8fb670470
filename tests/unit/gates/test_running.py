"""What a gate tells of a test that never ended."""

from __future__ import annotations

from gates.running import ROOT, waited_in

DUMP = f"""\
.....Timeout (0:15:00)!
Thread 0x00007ff4a88be6c0 (most recent call first):
  File "/usr/lib/python3.11/selectors.py", line 415 in select
  File "{ROOT}/tests/twin/src/vsphere_twin/https.py", line 170 in run

Thread 0x00007ff4b0000000 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 1119 in join
  File "{ROOT}/tests/guests/watching.py", line 71 in __exit__
  File "{ROOT}/tests/guests/test_secrets.py", line 57 in run
  File "{ROOT}/.build/venv/lib/python3.11/site-packages/_pytest/python.py", line 100 in pytest_pyfunc_call
"""


def test_the_place_where_a_test_waited_is_that_of_the_main_thread():
    assert waited_in(DUMP) == "a test waited in tests/guests/watching.py:71, tests/guests/test_secrets.py:57"


def test_a_log_without_a_limit_names_no_place():
    assert waited_in("..F\nE  Timeout (never)\n1 failed in 0.10s\n") == ""
