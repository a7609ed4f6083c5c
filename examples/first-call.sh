#!/bin/sh
# Makes a call with a property, and finds its record by that property.
#
# Needs:  curl
# Run:    KEY=sk-assay-… sh examples/first-call.sh
# Prints: the completion, then the record of the newest call with the property: its text, tokens, cost, duration
set -eu
: "${KEY:?is the API key that npm start has printed}"
GATEWAY=${GATEWAY:-http://127.0.0.1:8787}
API=${API:-http://127.0.0.1:8585}

curl -sS --fail-with-body "$GATEWAY/v1/chat/completions" \
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \
  -H 'Service-Property-Feature: capitals' \
  -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "What is the capital of France?"}]}'
echo

# A record can be found a moment after its response.
sleep 2

curl -sS --fail-with-body "$API/v1/request/query" \
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \
  -d '{"filter": {"properties": {"Feature": {"equals": "capitals"}}}, "limit": 1}'
echo
