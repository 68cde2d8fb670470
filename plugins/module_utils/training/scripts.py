# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Scripts for /bin/sh: on guests before, during and after a run, and as the first process of its containers.

All of it is POSIX shell with coreutils, so that neither guests nor images need anything else.
"""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.guest import adapters
from ansible_collections.aiready.vsphere.plugins.module_utils.training.launch import PROGRAMS

# Exit statuses of WORKER: the reason for the end of a container.
NO_SSHD, UNHEARD, TOO_LONG, SSHD_ENDED, NO_STATUS, NO_PROGRAMS = 90, 91, 92, 93, 94, 95

# $1: command of the engine, $2: image, $3: folder for runs, $4: ports of the run. Changes nothing.
LOOK = (
    r"""
LC_ALL=C; export LC_ALL
"""
    + adapters.REPORT
    + r"""
for one in /dev/infiniband/*; do [ -e "$one" ] && echo "rdma $one"; done
nvidia-smi -L 2>/dev/null | sed -n 's/^GPU /gpu /p'
where=$3; while [ ! -e "$where" ]; do where=$(dirname "$where"); done
if [ ! -w "$where" ]; then echo "work closed"
elif [ "$(df -Pk "$where" | awk 'NR == 2 {print $4}')" -lt 16384 ]; then echo "work full"
fi
ports=; for one in $4; do ports="$ports $(printf '%04X %d' "$one" "$one")"; done
awk -v ports="$ports" 'BEGIN {n = split(ports, one, " "); for (i = 1; i < n; i += 2) port[one[i]] = one[i + 1]}
  $4 == "0A" {split($2, at, ":"); if (at[2] in port) {print "taken " port[at[2]]; delete port[at[2]]}}' \
  /proc/net/tcp /proc/net/tcp6 2>/dev/null
if said=$("$1" info 2>&1 >/dev/null); then echo "engine $("$1" --version 2>/dev/null | head -n 1)"
else echo "said $(printf '%s' "$said" | tail -n 3 | tr '\n' ' ')"; exit 0
fi
"$1" image inspect "$2" >/dev/null 2>&1 && echo "image $("$1" image inspect "$2" | base64 | tr -d '\n')"
form='{{index .Config.Labels "aiready.training"}} {{.State.Running}}'; seen=
for one in $("$1" ps -aq --filter label=aiready.training 2>/dev/null); do
  reported=$("$1" inspect --format "$form" "$one" 2>/dev/null) || continue
  beat=$3/${reported%% *}/in/beat; silent=-
  [ -e "$beat" ] && silent=$(($(date +%s) - $(stat -c %Y "$beat")))
  echo "left $one $reported $silent"
  seen="$seen ${reported%% *} "
done
for one in "$3"/*/in/beat; do
  [ -e "$one" ] || continue
  run=${one%/in/beat}; run=${run##*/}; silent=$(($(date +%s) - $(stat -c %Y "$one")))
  case "$seen" in *" $run "*) ;; *) [ "$silent" -ge 60 ] && echo "left - $run false $silent";; esac
done
exit 0
"""
)

# No arguments. Prints the traffic counters of all interfaces and RDMA ports.
COUNTERS = r"""
for one in /sys/class/net/*; do
  [ -e "$one/statistics/rx_bytes" ] || continue
  echo "net ${one##*/} $(cat "$one/statistics/rx_bytes") $(cat "$one/statistics/tx_bytes")"
done
for port in /sys/class/infiniband/*/ports/*; do
  [ -e "$port/counters/port_rcv_data" ] || continue
  device=${port%/ports/*}
  echo "rdma ${device##*/} $(cat "$port/counters/port_rcv_data") $(cat "$port/counters/port_xmit_data")"
done
exit 0
"""

# $1: folder of the run. Its files come by standard input as a tar archive, so that no list of processes shows a key.
DELIVER = r"""
umask 077; mkdir -p "$1/in" "$1/out" && tar -x -m -f - -C "$1/in"
"""

# $1: command of the engine, $2: container, $3: folder of the run, $4: the heartbeat of the controller,
# $5: from which byte of the output, $6: how many bytes at most.
POLL = r"""
{ printf '%s\n' "$4" > "$3/in/beat"; } 2>/dev/null
# In this order: whatever a launcher wrote before its status is in the output that is read after it.
# To ask the engine takes more processor time than all the rest, and the ranks need it: a process that sees this very
# folder is the first one of the container, and runs. For the same reason no program is started where the shell will do.
pid=; { read -r pid < "$3/in/pid"; } 2>/dev/null
if [ -n "$pid" ] && [ "$3/out" -ef "/proc/$pid/root/aiready-out" ]; then state='true 0 false'
else
  form='{{.State.Running}} {{.State.ExitCode}} {{.State.OOMKilled}} {{.State.Pid}}'
  if reported=$("$1" inspect --format "$form" "$2" 2>/dev/null); then
    state=${reported% *}
    { printf '%s\n' "${reported##* }" > "$3/in/pid"; } 2>/dev/null
  else state=gone
  fi
fi
status=; { read -r status < "$3/out/status"; } 2>/dev/null
room=$(stat -f -c '%a %S' "$3/out" 2>/dev/null) && room=$((${room% *} * ${room#* } / 1024))
printf 'room %s\nstate %s\nstatus %s\nsize %s\n' "$room" "$state" "$status" \
  "$(wc -c < "$3/out/output" 2>/dev/null || echo 0)"
[ -e "$3/out/ready" ] && echo 'ready yes'
said=; [ -s "$3/out/said" ] && said=$(tail -n 3 "$3/out/said" | tr '\n' ' ')
printf 'said %s\n' "$said"
if [ "$6" -gt 0 ] && [ -e "$3/out/output" ]; then
  printf 'output %s\n' "$(tail -c "+$(($5 + 1))" "$3/out/output" | head -c "$6" | base64 -w 0)"
fi
exit 0
"""

# $1: command of the engine, $2: folder for runs, $3: a run. Prints how many of its containers remain.
STOP = r"""
for _try in 1 2 3; do
  found=$("$1" ps -aq --filter "label=aiready.training=$3" 2>/dev/null)
  [ -z "$found" ] && break
  "$1" rm -f $found >/dev/null 2>&1
done
rm -rf "${2:?}/${3:?}"
rmdir "$2" 2>/dev/null
echo "left $("$1" ps -aq --filter "label=aiready.training=$3" 2>/dev/null | wc -l)"
"""

# The first process of a container. $1: seconds without a heartbeat after which a run ends, $2: seconds in all.
# It counts its own seconds, since the clock of a guest may be set meanwhile.
WORKER = rf"""#!/bin/sh
say() {{ echo "$*" >> /aiready-out/said; }}
trap 'exit {NO_STATUS}' TERM
if [ -d /aiready/programs ]; then
  {{ mkdir -p {PROGRAMS} && cp -R /aiready/programs/. {PROGRAMS} && chmod -R 755 {PROGRAMS}; }} 2>> /aiready-out/said ||
    exit {NO_PROGRAMS}
fi
sshd=
if [ -e /aiready/sshd_config ]; then
  program=$(command -v sshd || echo /usr/sbin/sshd)
  [ -x "$program" ] || {{ say "the image has no sshd"; exit {NO_SSHD}; }}
  mkdir -p /run/sshd
  "$program" -D -e -f /aiready/sshd_config 2>> /aiready-out/sshd &
  sshd=$!
fi
: > /aiready-out/ready
seconds=0 silent=0 last=
while :; do
  beat=; {{ read -r beat < /aiready/beat; }} 2>/dev/null
  if [ "$beat" = "$last" ]; then silent=$((silent + 1)); else silent=0 last=$beat; fi
  [ "$silent" -ge "$1" ] && {{ say "nobody asked for this run in $silent seconds"; exit {UNHEARD}; }}
  [ "$seconds" -ge "$2" ] && {{ say "this run took $seconds seconds"; exit {TOO_LONG}; }}
  if [ -n "$sshd" ] && ! kill -0 "$sshd" 2>/dev/null; then
    say "sshd ended: $(tail -n 2 /aiready-out/sshd | tr '\n' ' ')"; exit {SSHD_ENDED}
  fi
  seconds=$((seconds + 1))
  sleep 1
done
"""

# Starts the launcher and writes its exit status. If that cannot be written, the container ends.
START = r"""#!/bin/sh
cd /aiready-out || exit 1
/bin/sh /aiready/run > /aiready-out/output 2>&1 < /dev/null
status=$?
{ echo "$status" > /aiready-out/status.new && mv /aiready-out/status.new /aiready-out/status; } || kill -TERM 1
"""
