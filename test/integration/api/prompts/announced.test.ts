/** Changes of prompts reach gateways over NATS, where Postgres's notifications do not. */
import t from 'tap';
import { systemClock } from '#platform/process/clock.ts';
import { createPromptDirectory } from '#platform/prompts/mod.ts';
import { startTestApi } from '../../../support/api.ts';
import { waitFor } from '../../../support/assay.ts';
import { natsIsMissing } from '../../../support/nats.ts';
import { changesOf, createWorld, databaseFor, silentLog } from '../../../support/world.ts';
import { ask, create, PATH, update } from './world.ts';

t.test('every change that a call may notice is announced over NATS', { skip: natsIsMissing() }, async (t) => {
  const database = await databaseFor(t);
  const nats = await (await createWorld(t, database)).nats();
  const api = await startTestApi(t, { database, environment: { NATS_URL: nats.url } });
  const { organizationId } = api.own;
  const directory = createPromptDirectory({
    sql: database.sql,
    ...changesOf(database.sql, { servers: [nats.url], credentialsFile: null }),
    clock: systemClock,
    log: silentLog,
  });
  t.teardown(() => directory.stop());
  // As behind a pooler in transaction mode: no notification arrives.
  for (const table of ['prompts', 'prompt_versions', 'prompt_environments'])
    await database.sql.unsafe(`alter table assay.${table} disable trigger ${table}_changed`);

  const prompt = await create(api);
  const { id: promptId, versionId } = prompt;
  const versionOf = async (named: { environment: string } | { versionId: string }) =>
    (await directory.find({ organizationId, promptId, ...named }))?.version ?? null;
  const production = { environment: 'production' };
  const isKnown = async (named: { environment: string } | { versionId: string }) => {
    await waitFor('the version to be known', async () => {
      const found = directory.find({ organizationId, promptId, ...named });
      await found;
      return !(found instanceof Promise);
    });
  };
  await isKnown(production);
  await waitFor('the first announcement to be heard', async () => {
    await update(api, prompt, production);
    return (await versionOf(production)) !== '1.0';
  });

  const ids = { promptId, promptVersionId: versionId };
  const startedAt = performance.now();
  await isKnown(production);
  await ask(api, `${PATH}/update/environment`, { ...ids, ...production });
  await waitFor('the moved environment', async () => (await versionOf(production)) === '1.0');
  await isKnown(production);
  await ask(api, `${PATH}/remove/environment`, { ...ids, ...production });
  await waitFor('the removed environment', async () => (await versionOf(production)) === null);
  const last = await update(api, prompt, production);
  await isKnown({ versionId });
  t.equal((await api.call(`${PATH}/${promptId}/${versionId}`, { method: 'DELETE' })).status, 200);
  await waitFor('the deleted version', async () => (await versionOf({ versionId })) === null);
  await isKnown({ versionId: last });
  t.equal((await api.call(`${PATH}/${promptId}`, { method: 'DELETE' })).status, 200);
  await waitFor('the deleted prompt', async () => (await versionOf({ versionId: last })) === null);
  // Far below the 30 seconds each, after which a cached version is read again.
  t.ok(performance.now() - startedAt < 15_000);
});
