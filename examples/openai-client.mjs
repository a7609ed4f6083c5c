// The OpenAI client through Assay: a streamed completion, with the user and a property of the call in headers.
//
// Needs:  the package openai, which npm start has installed here
// Run:    KEY=sk-assay-… node examples/openai-client.mjs
// Prints: the words of the completion as they come, then the id of the call's record
import OpenAI from 'openai';

const { KEY, GATEWAY = 'http://127.0.0.1:8787' } = process.env;
const openai = new OpenAI({ baseURL: `${GATEWAY}/v1`, apiKey: KEY });

const { data: stream, response } = await openai.chat.completions
  .create(
    {
      model: 'gpt-4o-mini',
      stream: true,
      messages: [{ role: 'user', content: 'Write a haiku about logs' }],
    },
    { headers: { 'Service-User-Id': 'ada', 'Service-Property-Plan': 'pro' } },
  )
  .withResponse();

for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');
console.log(`\nLogged as ${response.headers.get('service-request-id')}`);
