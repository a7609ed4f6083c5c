/** The thread of sender.ts: everything that makes, sends and takes large bodies, so that it does not hold up who is tested. */
import { once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { parentPort } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { bodyOf } from './families.ts';
import type { Sending, Sent } from './sender.ts';

const COMPLETION = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const MESSAGE = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
});

/** What is asked for embeddings: many, and hard to parse. */
const EMBEDDINGS_BYTES = 7 * 1024 * 1024;
const embeddings = () =>
  bodyOf(
    'empty arrays',
    EMBEDDINGS_BYTES,
    '{"object":"list","error":null,"data":',
    ',"model":"text-embedding-3-small","usage":{"prompt_tokens":1,"total_tokens":1}}',
  );

function answerTo(path = ''): string | Buffer {
  if (path.endsWith('/embeddings')) return embeddings();
  return path.endsWith('/messages') ? MESSAGE : COMPLETION;
}

/** Events of a response whose text is `count` words, as OpenAI writes them. */
function* responseEvents(count: number): Generator<string> {
  const response = { id: 'resp_1', object: 'response', model: 'gpt-4o-mini', error: null };
  const event = (data: { type: string; [name: string]: unknown }) =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  yield event({ type: 'response.created', response: { ...response, status: 'in_progress', output: [] } });
  const item = { id: `msg_${'0'.repeat(48)}`, type: 'message', role: 'assistant', content: [] };
  yield event({ type: 'response.output_item.added', output_index: 0, item });
  const delta = event({
    type: 'response.output_text.delta',
    item_id: item.id,
    output_index: 0,
    content_index: 0,
    delta: ' word',
    logprobs: [],
    obfuscation: 'abcdefghijk',
  });
  for (let words = 0; words < count; words += 1) yield delta;
  const content = [{ type: 'output_text', text: ' word'.repeat(count) }];
  const usage = { input_tokens: 10, output_tokens: count, total_tokens: count + 10 };
  const whole = { ...response, status: 'completed', output: [{ ...item, content }], usage };
  yield event({ type: 'response.completed', response: whole });
}

async function sendStream(response: ServerResponse, count: number): Promise<void> {
  response.setHeader('content-type', 'text/event-stream');
  let text = '';
  for (const event of responseEvents(count)) {
    text += event;
    if (text.length < CHUNK_CHARACTERS) continue;
    if (!response.write(text)) await once(response, 'drain');
    text = '';
  }
  response.end(text);
}

const CHUNK_CHARACTERS = 64 * 1024;

/** Takes any body, reads nothing of it but the length of a stream, and answers. */
const provider = createServer(async (incoming, response) => {
  if (incoming.url?.endsWith('/responses') === true) {
    const { max_output_tokens: count } = JSON.parse(await readText(incoming)) as {
      max_output_tokens: number;
    };
    await sendStream(response, count);
    return;
  }
  incoming.resume().once('end', () => {
    response.setHeader('content-type', 'application/json');
    const answer = answerTo(incoming.url);
    if (incoming.headers['accept-encoding'] === 'gzip') {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(answer));
    } else response.end(answer);
  });
});
provider.listen(0, '127.0.0.1');
await once(provider, 'listening');

let last: { key: string; body: Buffer } | null = null;

function madeBody({ family, bytes, head, tail, isPacked, isTorn }: Sending): Buffer {
  const key = JSON.stringify([family, bytes, head, tail, isPacked, isTorn]);
  if (last?.key === key) return last.body;
  const whole = bodyOf(family, bytes, head, tail);
  const body = isTorn ? whole.subarray(0, -1) : whole;
  last = { key, body: isPacked ? gzipSync(body) : body };
  return last.body;
}

async function send(sending: Sending): Promise<Sent> {
  const body = madeBody(sending);
  const outgoing = request(sending.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': body.length,
      ...(sending.isPacked && { 'content-encoding': 'gzip' }),
      ...sending.headers,
    },
  });
  const startedAt = performance.now();
  outgoing.end(body);
  const [incoming] = await once(outgoing, 'response');
  let text = '';
  for await (const chunk of incoming) text += chunk;
  const { statusCode: status, headers } = incoming;
  const kept = sending.lastCharacters === undefined ? text : text.slice(-sending.lastCharacters);
  return { status, headers, text: kept, sentBytes: body.length, ms: performance.now() - startedAt };
}

const port = parentPort!;
port.on('message', (sending: Sending) => {
  send(sending).then(
    (sent) => port.postMessage(sent),
    (error: Error) =>
      port.postMessage({ status: 0, headers: {}, text: error.message, sentBytes: 0, ms: 0 } satisfies Sent),
  );
});
port.postMessage({ providerUrl: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1` });
