# Receives a webhook: creates one, verifies the test message, and answers.
#
# Needs:  OUTBOUND_ALLOW=127.0.0.1 for Assay, because this receiver is on the same machine. Python alone
# Run:    KEY=sk-assay-… python3 examples/receive-webhooks.py
# Prints: the message
# Leaves: nothing. The webhook is deleted.
import base64, hashlib, hmac, http.server, json, os, time, urllib.request

API = os.environ.get("API", "http://127.0.0.1:8585")
HEADERS = {"Authorization": f"Bearer {os.environ['KEY']}", "Content-Type": "application/json"}


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(API + path, data, HEADERS, method=method)
    return json.load(urllib.request.urlopen(request))["data"]


def is_genuine(secret, headers, body):
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = hmac.digest(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256)
    expected = "v1," + base64.b64encode(digest).decode()
    is_fresh = abs(time.time() - int(headers["webhook-timestamp"])) < 300
    return is_fresh and any(hmac.compare_digest(one, expected) for one in headers["webhook-signature"].split(" "))


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        genuine = is_genuine(webhook["secret"], self.headers, body)
        print("received" if genuine else "refused", json.loads(body)["type"])
        self.send_response(204 if genuine else 400)
        self.end_headers()


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
webhook = call("POST", "/v1/webhook", {"url": f"http://127.0.0.1:{server.server_port}/", "events": ["alert.fired"]})
call("POST", f"/v1/webhook/{webhook['id']}/test")
server.handle_request()
call("DELETE", f"/v1/webhook/{webhook['id']}")
