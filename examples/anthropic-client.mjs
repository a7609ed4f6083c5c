// The Anthropic client reaches a model of OpenAI: Assay translates the call, and the response back.
//
// Needs:  the package @anthropic-ai/sdk, which npm start has installed here
// Run:    KEY=sk-assay-… node examples/anthropic-client.mjs
// Prints: the model and the text of the message, its tokens, then the id of the call's record
import Anthropic from '@anthropic-ai/sdk';

const { KEY, GATEWAY = 'http://127.0.0.1:8787' } = process.env;
const anthropic = new Anthropic({ baseURL: GATEWAY, apiKey: KEY });

const { data: message, response } = await anthropic.messages
  .create({
    model: 'gpt-4o-mini',
    max_tokens: 200,
    messages: [{ role: 'user', content: 'Write a haiku about logs' }],
  })
  .withResponse();

for (const block of message.content)
  if (block.type === 'text') console.log(`${message.model}: ${block.text}`);
console.log(`${message.usage.input_tokens} tokens in, ${message.usage.output_tokens} out`);
console.log(`Logged as ${response.headers.get('service-request-id')}`);
