import t from 'tap';
import { notServedSentence } from '../../../../gateway/routes/not-served.ts';

/** What unmodified clients call, and what their users are told to change. */
const TABLE: [who: string, method: string, path: string, told: RegExp][] = [
  [
    "Anthropic's client, its base URL with /v1",
    'POST',
    '/v1/v1/messages',
    /but \/v1\/messages: .* \/v1 too much/,
  ],
  ['the AI SDK, its base URL without /v1', 'POST', '/messages', /but \/v1\/messages: .* end in \/v1/],
  [
    "OpenAI's client, its base URL with the path of a call",
    'POST',
    '/v1/v1/chat/completions',
    /but \/v1\/chat\/completions: .* \/v1 too much/,
  ],
  [
    "OpenAI's client, the address of a call for its base URL",
    'POST',
    '/v1/chat/completions/chat/completions',
    /but \/chat\/completions: .* \/v1\/chat\/completions too much/,
  ],
  [
    'the same, for embeddings',
    'POST',
    '/v1/chat/completions/embeddings',
    /but \/embeddings: .* \/v1\/chat\/completions too much/,
  ],
  [
    'the same, for Responses',
    'POST',
    '/v1/responses/responses',
    /but \/responses: .* \/v1\/responses too much/,
  ],
  [
    "Anthropic's client, the address of a call for its base URL",
    'POST',
    '/v1/messages/v1/messages',
    /but \/v1\/messages: .* \/v1\/messages too much/,
  ],
  [
    "Groq's client",
    'POST',
    '/openai/v1/chat/completions',
    /but \/v1\/chat\/completions: .* \/openai too much/,
  ],
  [
    "Azure's client",
    'POST',
    '/openai/deployments/gpt-4o/chat/completions',
    /but \/chat\/completions: .* \/openai\/deployments\/gpt-4o too much/,
  ],
  [
    "Google's client",
    'POST',
    '/v1beta/models/gemini-2.5-pro:generateContent',
    /Google's own API is not served/,
  ],
  ['the same', 'POST', '/v1beta/models/gemini-2.5-pro:streamGenerateContent', /Google's own API/],
  ['the same', 'POST', '/v1/models/gemini-embedding-001:batchEmbedContents', /Google's own API/],
  ['a poll of a response in the background', 'GET', '/v1/responses/resp_1', /no stored responses/],
  ['another', 'POST', '/v1/responses/resp_1/cancel', /no stored responses/],
  ['a stored chat completion', 'GET', '/v1/chat/completions/chatcmpl-1', /no stored responses/],
  ["OpenAI's files", 'GET', '/v1/files', /no stored responses, files/],
  ["Anthropic's batches", 'POST', '/v1/messages/batches', /batches/],
  ['images', 'POST', '/v1/images/generations', /images or audio/],
];

for (const [who, method, path, told] of TABLE) {
  t.test(`${who}: ${method} ${path} is told what to change`, async (t) => {
    const sentence = notServedSentence(method, path) ?? '';
    t.ok(sentence.startsWith(`There is no ${method} ${path} here`));
    t.match(sentence, told);
  });
}

t.test('other paths are told nothing of the kind', async (t) => {
  for (const path of ['/', '/v1', '/v1/nothing', '/v1/fim/completions', '/v1/request/query', '/v1/modelsx'])
    t.equal(notServedSentence('POST', path), null, path);
  t.equal(notServedSentence('GET', '/v1/v1/chat/completions'), null);
});

t.test('a long path costs little', async (t) => {
  for (const path of [
    '/'.repeat(60_000),
    '/v1'.repeat(20_000),
    `${'/deployments/a'.repeat(4_000)}/messages`,
  ]) {
    const beganMs = performance.now();
    for (let call = 0; call < 20; call += 1) notServedSentence('POST', path);
    const eachMs = (performance.now() - beganMs) / 20;
    t.ok(eachMs < 5, `${eachMs} ms`);
  }
});
