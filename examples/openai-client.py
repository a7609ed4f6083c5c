# The OpenAI client through Assay: a completion, with the user and a property of the call in headers.
#
# Needs:  pip install openai
# Run:    KEY=sk-assay-… python3 examples/openai-client.py
# Prints: the completion, its tokens, then the id of the call's record
import os

from openai import OpenAI

gateway = os.environ.get("GATEWAY", "http://127.0.0.1:8787")
client = OpenAI(base_url=f"{gateway}/v1", api_key=os.environ["KEY"])

response = client.chat.completions.with_raw_response.create(
    model="gpt-4o-mini",
    messages=[{"role": "user", "content": "Write a haiku about logs"}],
    extra_headers={"Service-User-Id": "ada", "Service-Property-Plan": "pro"},
)
completion = response.parse()

print(completion.choices[0].message.content)
print(f"{completion.usage.total_tokens} tokens")
print(f"Logged as {response.headers['Service-Request-Id']}")
