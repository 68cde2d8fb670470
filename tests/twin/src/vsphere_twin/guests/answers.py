"""The line between a guest and the model: one socket for each VM, one line of JSON there and one back."""

from __future__ import annotations

import json
import logging
import socketserver
import threading

from ..https import Threads

LOG = logging.getLogger(__name__)
TOOLS = "vmtoolsd"


class Line(Threads, socketserver.UnixStreamServer):
    """Socket of one VM; reported(what) receives the reports of VMware Tools."""

    request_queue_size = 64

    def __init__(self, path, world, vm, reported):
        path.unlink(missing_ok=True)
        super().__init__(str(path), _Handler)
        path.chmod(0o666)  # users of the guest ask too
        self.world, self.vm, self.reported = world, vm, reported
        self._thread = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.2}, name=f"line-{vm.moid}", daemon=True
        )
        self._thread.start()

    def stop(self):
        """Stop answering."""
        self.shutdown()
        self.server_close()
        self._thread.join()


class _Handler(socketserver.StreamRequestHandler):
    def handle(self):
        line = self.rfile.readline()
        if not line.strip():
            return
        try:
            answer = self._answer(json.loads(line))
        except Exception as problem:
            # A program of the guest must not hang because of a defect in the model: the log names the line.
            LOG.exception("A guest's question has no answer: %s", line[:200])
            answer = {"stdout": "", "stderr": f"the lab failed: {problem!r}\n", "status": 70, "files": {}, "delay_s": 0}
        try:
            self.wfile.write(json.dumps(answer).encode() + b"\n")
        except BrokenPipeError:
            LOG.debug("A guest did not wait for its answer.")

    def _answer(self, request):
        from .programs import calls

        if request["argv"][0] == TOOLS:
            self.server.reported(json.loads(request["stdin"]))
            return {"stdout": "", "stderr": "", "status": 0, "files": {}, "delay_s": 0}
        return calls.answer(self.server.world, self.server.vm, request)
