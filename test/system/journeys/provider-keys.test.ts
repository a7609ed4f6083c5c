/**
 * An organization's own provider key, from the API of one process to the provider's call of another: used within a
 * second, and nowhere on the disk, in no log and in no answer.
 */
import { spawnSync } from 'node:child_process';
import OpenAI from 'openai';
import t from 'tap';
import { startAssay, waitFor } from '../../support/assay.ts';
import { scriptedProvider } from '../../support/world.ts';

const KEYS = ['sk-acme-71c0d5e2b94f4a8f', 'sk-acme-52aa90be17c36d40'];

t.test('a stored key is used by the gateway within a second, and is nowhere to be read', async (t) => {
  const provider = await scriptedProvider(t);
  const assay = await startAssay({
    environment: { OPENAI_BASE_URL: provider.url, OPENAI_API_KEY: 'sk-operator', LOG_LEVEL: 'trace' },
  });
  t.teardown(() => assay.stop());
  const client = new OpenAI({ baseURL: `${assay.gatewayUrl}/v1`, apiKey: assay.key!, maxRetries: 0 });
  const answers: string[] = [];
  const keySent = async () => {
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    answers.push(JSON.stringify(await client.chat.completions.create({ model: 'gpt-4o-mini', messages })));
    return provider.requests.at(-1)?.headers.authorization;
  };
  const change = async (method: string, body?: object) => {
    const response = await fetch(`${assay.apiUrl}/v1/provider-keys/openai`, {
      method,
      headers: { authorization: `Bearer ${assay.key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    answers.push(await response.text());
    t.equal(response.status, 200, answers.at(-1) ?? '');
  };
  const isUsedSoon = async (key: string) => {
    // Sooner than a key is read again without an announcement.
    await waitFor(key, async () => (await keySent()) === `Bearer ${key}`, 20_000);
    t.pass(`${key.slice(0, 9)}…`);
  };

  t.equal(await keySent(), 'Bearer sk-operator');
  for (const key of KEYS) {
    await change('PUT', { key });
    await isUsedSoon(key);
  }
  assay.kill('gateway');
  await waitFor('the gateway to be back', () => keySent().then(Boolean, () => false));
  t.equal(await keySent(), `Bearer ${KEYS[1]}`, 'a gateway that starts knows it');
  await change('DELETE');
  await isUsedSoon('sk-operator');

  await waitFor('the records', async () => {
    const response = await fetch(`${assay.apiUrl}/v1/request/count/query`, {
      method: 'POST',
      headers: { authorization: `Bearer ${assay.key}`, 'content-type': 'application/json' },
      body: '{"filter":"all"}',
    });
    return ((await response.json()) as { data: number }).data >= 6;
  });
  for (const key of KEYS) {
    t.notMatch(assay.stderr() + assay.stdout(), key);
    t.notMatch(answers.join('\n'), key);
    // Tables, write-ahead log, outbox: everything that is on the disk.
    const { status, stdout } = spawnSync('grep', ['-rlF', key, assay.dataDir], { encoding: 'utf8' });
    t.same([status, stdout], [1, ''], 'no file has it');
  }
});
