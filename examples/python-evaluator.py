# Python scores the answers of the past: makes an evaluator, counts what it would score, and scores it.
#
# Needs:  Python alone
# Run:    KEY=sk-assay-… python3 examples/python-evaluator.py
# Prints: how many calls match, how many of the newest 20 were scored, and their mean score
# Leaves: the scores. The evaluator is deleted, so that the example can be run again.
import json
import os
import time
import urllib.error
import urllib.request

API = os.environ.get("API", "http://127.0.0.1:8585")
HEADERS = {"Authorization": f"Bearer {os.environ['KEY']}", "Content-Type": "application/json"}


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    try:
        request = urllib.request.Request(API + path, data, HEADERS, method=method)
        return json.load(urllib.request.urlopen(request))["data"]
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{error.code} {error.read().decode()}")


CODE = "def evaluate(input, output):\n    return len(output.split())"
definition = {"name": "Words (example)", "scoring_type": "PYTHON", "code_template": {"code": CODE}}
evaluator = call("POST", "/v1/evaluator", definition)
path = f"/v1/evaluator/{evaluator['id']}"
try:
    history = {"filter": {"response": {"status": {"equals": 200}}}, "limit": 20}
    print("would score", call("POST", f"{path}/run", {**history, "dryRun": True}))
    run = call("POST", f"{path}/run", history)
    while run["state"] == "running":
        time.sleep(0.2)
        run = call("GET", f"{path}/run/{run['id']}")
    print(run["state"], "completed:", run["completed"], "skipped:", run["skipped"], "failed:", run["failed"])
    print("mean", call("GET", f"{path}/stats")["scores"]["mean"])
finally:
    call("DELETE", path)
