"""A webhook endpoint for the demo: checks every signature as a stranger would."""

import base64
import hashlib
import hmac
import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """Counts webhooks by event type; one that is not signed by us is answered 401."""

    def __init__(self, *, port: int, secret: str) -> None:
        self.received: Counter[str] = Counter()
        self.refused = 0
        self._seen: set[str] = set()
        self._key = base64.b64decode(secret.removeprefix("whsec_"))
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def take(self, headers: dict[str, str], body: bytes) -> int:
        """Return the HTTP status for a webhook: 204 taken (once or again), 401 not signed by us."""
        webhook_id = headers.get("webhook-id", "")
        signed = f"{webhook_id}.{headers.get('webhook-timestamp', '')}.".encode() + body
        expected = base64.b64encode(hmac.digest(self._key, signed, hashlib.sha256)).decode()
        signatures = headers.get("webhook-signature", "").split()
        if not any(hmac.compare_digest(f"v1,{expected}", given) for given in signatures):
            self.refused += 1
            return 401
        if webhook_id not in self._seen:
            self._seen.add(webhook_id)
            self.received[str(json.loads(body).get("type", "(no type)"))] += 1
        return 204

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", "0"))
                headers = {name.lower(): value for name, value in self.headers.items()}
                self.send_response(receiver.take(headers, self.rfile.read(length)))
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                del format, args

        return Handler
