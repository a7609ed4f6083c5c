/** First calls through the gateway, for a terminal and three clients. Pure. */

export type Snippet = { name: string; code: string };

/** Stands for the API key, which the page does not know. */
export const KEY_PLACE = 'sk-assay-…';

/** The gateway's address unless it is configured otherwise. */
export const USUAL_GATEWAY = 'http://127.0.0.1:8787';

/**
 * @param gateway the gateway's address, without a slash at its end
 * @param key a key that may be shown
 */
export function snippetsFor(gateway: string, key: string = KEY_PLACE): Snippet[] {
  return [
    {
      name: 'curl',
      code: `curl ${gateway}/v1/chat/completions \\
  -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
  -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'`,
    },
    {
      name: 'OpenAI, JavaScript',
      code: `import OpenAI from 'openai';

const openai = new OpenAI({ baseURL: '${gateway}/v1', apiKey: '${key}' });
const completion = await openai.chat.completions.create({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'Hello' }],
});
console.log(completion.choices[0].message.content);`,
    },
    {
      name: 'OpenAI, Python',
      code: `from openai import OpenAI

client = OpenAI(base_url="${gateway}/v1", api_key="${key}")
completion = client.chat.completions.create(
    model="gpt-4o-mini",
    messages=[{"role": "user", "content": "Hello"}],
)
print(completion.choices[0].message.content)`,
    },
    {
      name: 'Anthropic, JavaScript',
      code: `import Anthropic from '@anthropic-ai/sdk';

const anthropic = new Anthropic({ baseURL: '${gateway}', apiKey: '${key}' });
const message = await anthropic.messages.create({
  model: 'claude-sonnet-4-5',
  max_tokens: 200,
  messages: [{ role: 'user', content: 'Hello' }],
});
console.log(message.content[0].text);`,
    },
  ];
}
