# Exports the calls of the last seven days, one record a line, and sums their cost by model. Any number of records: they
# are read as they come.
#
# Needs:  Python alone
# Run:    KEY=sk-assay-… python3 examples/export-a-week.py
# Prints: for each model the number of its calls and their cost in USD, the dearest first
import json
import os
import urllib.error
import urllib.request
from collections import Counter
from datetime import datetime, timedelta, timezone

API = os.environ.get("API", "http://127.0.0.1:8585")
HEADERS = {"Authorization": f"Bearer {os.environ['KEY']}", "Content-Type": "application/json"}

since = datetime.now(timezone.utc) - timedelta(days=7)
body = {"format": "ndjson", "filter": {"request": {"created_at": {"gte": since.isoformat()}}}}
request = urllib.request.Request(f"{API}/v1/request/export", json.dumps(body).encode(), HEADERS)

calls, costs = Counter(), Counter()
try:
    with urllib.request.urlopen(request) as lines:
        for line in lines:
            record = json.loads(line)
            calls[record["model"]] += 1
            costs[record["model"]] += record["cost"] or 0
except urllib.error.HTTPError as error:
    raise SystemExit(f"{error.code} {error.read().decode()}")

for model, cost in costs.most_common():
    print(f"{model}: {calls[model]} calls, {cost:.6f} USD")
