# Logs a call that did not go through the gateway: a model on this machine, a batch, another company's proxy.
#
# Needs:  Python alone
# Run:    KEY=sk-assay-… python3 examples/log-a-call-made-elsewhere.py
# Prints: the id of the record, then its provider, model, tokens, cost and duration
import json
import os
import urllib.error
import urllib.request
from datetime import datetime, timedelta, timezone

API = os.environ.get("API", "http://127.0.0.1:8585")
HEADERS = {"Authorization": f"Bearer {os.environ['KEY']}", "Content-Type": "application/json"}


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    try:
        return json.load(urllib.request.urlopen(urllib.request.Request(API + path, data, HEADERS)))["data"]
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{error.code} {error.read().decode()}")


ended = datetime.now(timezone.utc)
begun = ended - timedelta(milliseconds=700)
message = {"role": "assistant", "content": "Hi"}
answer = {"choices": [{"message": message}], "usage": {"prompt_tokens": 8, "completion_tokens": 2}}
logged = call("/v1/log/request", {
    "provider": "openai",
    "model": "gpt-4o-mini",
    "request": {"body": {"messages": [{"role": "user", "content": "Hello"}]}, "created_at": begun.isoformat()},
    "response": {"body": answer, "status": 200, "created_at": ended.isoformat()},
    "user_id": "ada",
})
print(logged["request_id"])

record = call(f"/v1/request/{logged['request_id']}")
for field in ["provider", "model", "total_tokens", "cost", "delay_ms"]:
    print(field, record[field])
