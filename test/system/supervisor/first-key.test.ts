/** A key that the operator has chosen works as soon as a role says that it is ready. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { isReady, startAssay } from '../../support/assay.ts';
import { freePort } from '../../support/free-port.ts';

const KEY = 'an-operators-own-key-0123456789';
const STARTS = 2;

/** Asks a role from before it listens until it is ready; returns the status of a call with the key at that moment. */
async function firstStatus(url: string, path: string, isOver: () => boolean): Promise<number> {
  while (!(await isReady(url).catch(() => false))) {
    if (isOver()) return 0;
    await sleep(5);
  }
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: '{}',
  });
  await answer.text();
  return answer.status;
}

t.test('the first calls after /readyz says 200 are never refused for BOOTSTRAP_API_KEY', async (t) => {
  for (let start = 0; start < STARTS; start += 1) {
    const [gatewayPort, apiPort] = [await freePort(), await freePort()];
    let isOver = false;
    const starting = startAssay({
      environment: {
        BOOTSTRAP_API_KEY: KEY,
        GATEWAY_PORT: String(gatewayPort),
        API_PORT: String(apiPort),
      },
    }).finally(() => {
      isOver = true;
    });
    const statuses = await Promise.all([
      firstStatus(`http://127.0.0.1:${gatewayPort}`, '/v1/chat/completions', () => isOver),
      firstStatus(`http://127.0.0.1:${apiPort}`, '/v1/request/query', () => isOver),
    ]);
    const assay = await starting;
    t.equal(assay.key, KEY, 'the key is printed once everything runs');
    // The bodies are no requests, which is told only to callers whose key is known.
    for (const status of statuses) t.ok(status >= 200 && status < 500 && status !== 401, `it was ${status}`);
    await assay.stop();
  }
});
