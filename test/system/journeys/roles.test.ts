/**
 * Every role by itself, two of most, joined by NATS and Postgres alone: as operators run it on more than one machine.
 */
import { rm } from 'node:fs/promises';
import OpenAI from 'openai';
import t from 'tap';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { isReady, type Run, type Runtime, runMain, temporaryDataDir, waitFor } from '../../support/assay.ts';
import { freePort } from '../../support/free-port.ts';
import { natsIsMissing, startNats } from '../../support/nats.ts';
import { databaseFor, scriptedProvider } from '../../support/world.ts';

const skip = natsIsMissing();
const CALLS = 60;

for (const runtime of ['node', 'deno'] as const satisfies Runtime[]) {
  t.test(
    `under ${runtime}, two gateways, an API and two ingests share NATS and Postgres`,
    { skip },
    async (t) => {
      const database = await databaseFor(t);
      const provider = await scriptedProvider(t);
      const nats = await startNats();
      const runs: Run[] = [];
      const directories: string[] = [];
      t.teardown(async () => {
        for (const run of runs) run.process.kill('SIGKILL');
        await Promise.all(runs.map((run) => run.ended));
        await nats[Symbol.asyncDispose]();
        for (const directory of directories) await rm(directory, { recursive: true, force: true });
      });
      const organization = await createOrganization(database.sql, { name: 'acme' });
      const { key, record } = await createKey(database.sql, {
        organizationId: organization.organizationId,
        scopes: ['gateway', 'read', 'write'],
        name: 'test',
      });

      const environment = {
        DATABASE_URL: database.url,
        NATS_URL: nats.url,
        OPENAI_API_KEY: 'sk-operator',
        OPENAI_BASE_URL: provider.url,
        LOG_LEVEL: 'warn',
      };
      /** A role on a machine of its own: nothing but the two addresses in common. */
      const start = async (role: string, portVariable: string) => {
        const data = temporaryDataDir();
        directories.push(data.path);
        const port = await freePort();
        const run = runMain(
          [role],
          { ...environment, DATA_DIR: data.path, [portVariable]: `${port}` },
          runtime,
        );
        runs.push(run);
        return { url: `http://127.0.0.1:${port}`, run };
      };
      const [gateway1, gateway2, api, ingest1, ingest2] = await Promise.all([
        start('gateway', 'GATEWAY_PORT'),
        start('gateway', 'GATEWAY_PORT'),
        start('api', 'API_PORT'),
        start('ingest', 'INGEST_PORT'),
        start('ingest', 'INGEST_PORT'),
      ]);
      for (const { url, run } of [gateway1, gateway2, api, ingest1, ingest2]) {
        await waitFor('every role to be ready', () => isReady(url), 60_000).catch((error: Error) => {
          throw new Error(`${error.message}\n${run.stderr()}`);
        });
      }

      const clients = [gateway1, gateway2].map(
        ({ url }) => new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 }),
      );
      const ids: string[] = [];
      for (let index = 0; index < CALLS; index += 1) {
        const { response } = await clients[index % 2]!.chat.completions.create({
          model: 'gpt-4o-mini',
          messages: [{ role: 'user', content: `call ${index}` }],
        }).withResponse();
        ids.push(response.headers.get('service-request-id')!);
        if (index === CALLS / 2) ingest1.run.process.kill('SIGKILL');
      }
      const call = async (path: string, body: unknown) => {
        const response = await fetch(api.url + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        return (await response.json()) as { data: never; error: string | null };
      };
      const logged = await call('/v1/log/request', {
        provider: 'openai',
        model: 'gpt-4o-mini',
        request: { body: { messages: [] }, created_at: new Date().toISOString() },
        response: { body: { choices: [] }, status: 200, created_at: new Date().toISOString() },
      });
      ids.push((logged.data as { request_id: string }).request_id);
      const found = async () => {
        const { data } = await call('/v1/request/query', { filter: 'all', limit: 100 });
        return (data as { request_id: string }[]).map((record) => record.request_id).sort();
      };
      await waitFor('every call to be found', async () => (await found()).length >= ids.length, 30_000);
      t.same(
        await found(),
        [...ids].sort(),
        'each once, the death of an ingest in the middle notwithstanding',
      );

      const revoke = runMain(['keys', 'revoke', record.keyId], environment);
      t.match(await revoke.ended, { code: 0 }, revoke.stderr());
      const refused = ({ url }: { url: string }) =>
        fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'gpt-4o-mini', messages: [] }),
        }).then((response) => response.status === 401);
      await waitFor(
        'both gateways to refuse the key',
        async () => (await refused(gateway1)) && (await refused(gateway2)),
        // Sooner than a key is read again without an announcement.
        20_000,
      );

      for (const { run } of [gateway1, gateway2, api, ingest2]) {
        run.process.kill('SIGTERM');
        t.match(await run.ended, { code: 0 }, run.stderr());
      }
    },
  );
}
