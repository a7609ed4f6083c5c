#!/bin/sh
# Calls the next model of a list when one fails, and gets an equal call's response from the cache.
#
# Needs:  curl
# Run:    KEY=sk-assay-… sh examples/fallback-and-cache.sh
# Prints: three responses with their headers: Service-Fallback-Index is 1, because the second model of the list answered;
#         Service-Cache is MISS, then HIT (in a second run within a minute both are HIT)
set -eu
: "${KEY:?is the API key that npm start has printed}"
GATEWAY=${GATEWAY:-http://127.0.0.1:8787}

curl -sS -i --fail-with-body "$GATEWAY/v1/chat/completions" \
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \
  -d '{"model": "openai/no-such-model,gpt-4o-mini,gpt-4o", "messages": [{"role": "user", "content": "Hello"}]}'
echo

for _ in 1 2; do
  curl -sS -i --fail-with-body "$GATEWAY/v1/chat/completions" \
    -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \
    -H 'Service-Cache-Enabled: true' -H 'Cache-Control: max-age=60' \
    -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "What is the capital of France?"}]}'
  echo
done
