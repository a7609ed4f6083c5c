/** The thread of sender.ts: everything that makes, sends and takes large bodies, so that it does not hold up who is tested. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
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

/** Takes any body, reads nothing of it, and answers. */
const provider = createServer((incoming, response) => {
  incoming.resume().once('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(incoming.url?.endsWith('/messages') ? MESSAGE : COMPLETION);
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
  return { status: incoming.statusCode, text, sentBytes: body.length, ms: performance.now() - startedAt };
}

const port = parentPort!;
port.on('message', (sending: Sending) => {
  send(sending).then(
    (sent) => port.postMessage(sent),
    (error: Error) =>
      port.postMessage({ status: 0, text: error.message, sentBytes: 0, ms: 0 } satisfies Sent),
  );
});
port.postMessage({ providerUrl: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1` });
