// Receives a webhook: creates one, verifies the test message, and answers.
//
// Needs:  OUTBOUND_ALLOW=127.0.0.1 for Assay, because this receiver is on the same machine; npm install standardwebhooks
// Run:    KEY=sk-assay-… node examples/receive-webhooks.mjs
// Prints: the message
// Leaves: nothing. The webhook is deleted.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const { KEY, API = 'http://127.0.0.1:8585' } = process.env;

async function call(method, path, body) {
  const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' };
  const response = await fetch(API + path, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()).data;
}

const server = createServer(async (request, response) => {
  try {
    // Throws unless the signature is right and the message is not old.
    const { type, data } = new Webhook(webhook.secret).verify(await text(request), request.headers);
    console.log('received', type, JSON.stringify(data));
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(400).end(error.message);
  }
});
await once(server.listen(0, '127.0.0.1'), 'listening');

const url = `http://127.0.0.1:${server.address().port}/`;
const webhook = await call('POST', '/v1/webhook', { url, events: ['alert.fired'] });
await call('POST', `/v1/webhook/${webhook.id}/test`);
const [, response] = await once(server, 'request');
await once(response, 'finish');
await call('DELETE', `/v1/webhook/${webhook.id}`);
server.close();
