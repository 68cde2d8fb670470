# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Scripts that pair_test runs with /bin/sh on guests: POSIX shell with coreutils and util-linux, without Python.

Each program runs in its own session, so that one signal ends all of it, and has a time limit.
"""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.guest import adapters

_HEAD = r"""
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C; export PATH LC_ALL
# Whether a program lives whose process group is in a file. A zombie does not live.
lives() {
  [ -e "$1" ] && sed 's/.*) //' /proc/[0-9]*/stat 2>/dev/null |
    awk -v group="$(cat "$1")" '$3 == group && $1 != "Z" && $1 != "X" {found = 1} END {exit !found}'
}
"""

# $1: folder for runs, then names of programs. Changes nothing.
LOOK = (
    _HEAD
    + adapters.REPORT
    + r"""
where=$1; shift
for run in "$where"/*; do
  [ -d "$run" ] || continue
  state=dead
  for file in "$run"/*/*.pid; do
    lives "$file" && state=alive
  done
  echo "left ${run##*/} $state"
done
while [ ! -e "$where" ]; do where=$(dirname "$where"); done
if [ ! -w "$where" ]; then echo "work closed"
elif [ "$(df -Pk "$where" | awk 'NR == 2 {print $4}')" -lt 4096 ]; then echo "work full"
fi
for tool in "$@"; do
  command -v "$tool" >/dev/null || continue
  case "$tool" in
    iperf3) said=$(iperf3 --version 2>&1 | head -n 1);;
    ib_*) said=$("$tool" --version 2>&1 | head -n 1);;
    ping) said=$(ping -V 2>&1 | head -n 1);;
    rping) said=$(dpkg-query -W -f '${Version}' rdmacm-utils 2>/dev/null ||
      rpm -q --qf '%{VERSION}-%{RELEASE}' librdmacm-utils 2>/dev/null);;
    *) said=;;
  esac
  echo "tool $tool $said"
done
exit 0
"""
)

# $1: folder of one side, $2: number of the program, $3: seconds it may take, $4: its command line, $5: its port.
_ONE = r"""
one() {
  setsid sh -c '
echo $$ > "$1/$2.pid"
env -i PATH="$PATH" HOME="${HOME:-/}" LC_ALL=C timeout --foreground -k 2 "$3" \
  sh -c "port=$5; exec $4" > "$1/$2.out" 2>&1 < /dev/null
echo $? > "$1/$2.new"; mv "$1/$2.new" "$1/$2.status"; rm -f "$1/$2.pid"
' sh "$@" > /dev/null 2>&1 < /dev/null &
}
report() {
  for out in "$1"/*.out; do
    [ -e "$out" ] || continue
    number=${out##*/}; number=${number%.out}
    echo "status $number $(cat "$1/$number.status" 2>/dev/null || echo none)"
    echo "output $number $(head -c 1048576 "$out" | base64 | tr -d '\n')"
  done
}
# A program that ignores TERM is killed. The wait is limited, because a busy guest needs time.
end() {
  for step in TERM:3 KILL:50; do
    for file in "$1"/*.pid; do
      lives "$file" && kill -s "${step%:*}" -- "-$(cat "$file")" 2>/dev/null
    done
    turns=${step#*:}
    while [ "$turns" -gt 0 ]; do
      turns=$((turns - 1)); alive=
      for file in "$1"/*.pid; do lives "$file" && alive=yes; done
      [ -z "$alive" ] && return
      sleep 0.1
    done
  done
}
"""

# $1: folder of the side, $2: seconds, $3: first port, $4: how many there are, $5: tcp or cm, the sign of a listening
# server; then a command line for each server, in which $port is its port. Returns while the servers run.
SERVE = (
    _HEAD
    + _ONE
    + r"""
folder=$1 limit=$2 port=$3 last=$(($3 + $4 - 1)) how=$5; shift 5
umask 077
if ! mkdir -p "$folder"; then echo "trouble cannot create $folder"; exit 0; fi
listening() {
  awk '$4 == "0A" {split($2, at, ":"); print at[2]}' /proc/net/tcp /proc/net/tcp6 2>/dev/null | tr '\n' ' '
}
taken=" $(listening)"; number=0; ports=
for line in "$@"; do
  while :; do
    if [ "$port" -gt "$last" ]; then echo "trouble all ports up to $last are in use"; end "$folder"; exit 0; fi
    case "$taken" in *" $(printf '%04X' "$port") "*) port=$((port + 1));; *) break;; esac
  done
  number=$((number + 1))
  one "$folder" "$number" "$limit" "$line" "$port"
  ports="$ports $port"; echo "port $number $port"
  port=$((port + 1))
done
turns=0
while [ "$turns" -lt 100 ]; do
  turns=$((turns + 1)); sleep 0.1
  ended=
  for file in "$folder"/*.status; do [ -e "$file" ] && ended=yes; done
  [ -n "$ended" ] && break
  if [ "$how" = cm ]; then [ "$turns" -ge 10 ] && break; continue; fi
  now=" $(listening)"; ready=yes
  for one in $ports; do case "$now" in *" $(printf '%04X' "$one") "*) ;; *) ready=;; esac; done
  [ -n "$ready" ] && break
done
[ -n "$ended" ] && echo "ended"
exit 0
"""
)

# $1: folder of the side, $2: seconds; then a command line for each client. Returns when all have ended.
CALL = (
    _HEAD
    + _ONE
    + r"""
folder=$1 limit=$2; shift 2
umask 077
if ! mkdir -p "$folder"; then echo "trouble cannot create $folder"; exit 0; fi
number=0
for line in "$@"; do
  number=$((number + 1))
  one "$folder" "$number" "$limit" "$line" 0
done
wait
report "$folder"
rm -rf "${folder:?}"; rmdir "${folder%/*}" "${folder%/*/*}" 2>/dev/null
exit 0
"""
)

# $1: folder of the side. Ends servers that still run shortly after their client ended.
COLLECT = (
    _HEAD
    + _ONE
    + r"""
folder=$1 turns=0
while [ "$turns" -lt 20 ]; do
  turns=$((turns + 1)); running=
  for file in "$folder"/*.pid; do lives "$file" && running=yes; done
  [ -z "$running" ] && break
  sleep 0.1
done
end "$folder"
report "$folder"
rm -rf "${folder:?}"; rmdir "${folder%/*}" "${folder%/*/*}" 2>/dev/null
exit 0
"""
)

# $1: folder for runs, $2: a run. Prints the number of its remaining programs.
STOP = (
    _HEAD
    + _ONE
    + r"""
for side in "${1:?}/${2:?}"/*; do [ -d "$side" ] && end "$side"; done
left=0
for file in "$1/$2"/*/*.pid; do
  lives "$file" && left=$((left + 1))
done
[ "$left" -eq 0 ] && rm -rf "${1:?}/${2:?}"
rmdir "$1" 2>/dev/null
echo "left $left"
"""
)
