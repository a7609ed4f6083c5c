/** The stored prompts of a process: known ones survive an outage of Postgres, and changes reach every process. */
import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { PROMPT_CHANGES_SUBJECT } from '#core/contracts/channels.ts';
import { announceChange, type NatsAddress } from '#platform/nats/mod.ts';
import { createPromptDirectory, type PromptDirectory, type PromptReference } from '#platform/prompts/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { natsIsMissing } from '../../../support/nats.ts';
import { storePrompt } from '../../../support/stored-prompt.ts';
import { changesOf, createWorld, databaseFor, movableClock, silentLog } from '../../../support/world.ts';

// Keeps a server of this file's own running between tests, where there is no shared one.
await databaseFor(t);

const PRODUCTION = { environment: 'production' };

/** Creates one organization with one prompt, and a directory behind a proxy that has not been asked yet. */
async function setting(t: Test, nats: NatsAddress | null = null) {
  const world = await createWorld(t);
  const { sql } = world;
  const { organizationId } = await world.organization({ name: 'acme' });
  const { promptId, versionId } = await storePrompt(sql, organizationId, { body: { n: 1 } });
  const proxy = await world.proxy();
  const { clock, advance } = movableClock();
  const behindProxy = world.connect({ url: proxy.url, statementTimeoutMs: 2_000 });
  const directory = createPromptDirectory({
    sql: behindProxy,
    ...changesOf(behindProxy, nats),
    clock,
    log: silentLog,
  });
  t.teardown(() => directory.stop());
  const reference: PromptReference = { organizationId, promptId, ...PRODUCTION };
  const change = (version: [number, number], environments?: string[]) =>
    storePrompt(sql, organizationId, { promptId, version, body: { n: version[1] }, environments });
  return { world, sql, organizationId, promptId, versionId, proxy, directory, advance, reference, change };
}

const versionOf = async (directory: PromptDirectory, reference: PromptReference) =>
  (await directory.find(reference))?.version ?? null;

/** Asks until the answer comes at once, from memory: so it is there, and the directory listens. */
async function warm(directory: PromptDirectory, reference: PromptReference): Promise<void> {
  await waitFor('the prompt to be known', async () => {
    const found = directory.find(reference);
    await found;
    return !(found instanceof Promise);
  });
}

t.test('a version is found by its id or an environment, and parsed once', async (t) => {
  const { directory, reference, change, organizationId, promptId, versionId } = await setting(t);
  const second = await change([1, 1], ['staging']);
  await warm(directory, reference);
  t.match(directory.find(reference), { promptId, version: '1.0', template: { members: [{ name: 'n' }] } });
  t.equal(directory.find(reference), directory.find(reference), 'the same object for every call');
  t.equal(await versionOf(directory, { organizationId, promptId, versionId }), '1.0');
  t.equal(await versionOf(directory, { organizationId, promptId, versionId: second.versionId }), '1.1');
  t.equal(await versionOf(directory, { organizationId, promptId, environment: 'staging' }), '1.1');
  t.equal(await versionOf(directory, { organizationId, promptId, environment: 'Staging' }), null);
  t.equal(await versionOf(directory, { organizationId, promptId, environment: `v ${versionId}` }), null);
});

t.test(
  'a prompt of another organization, a deleted prompt and a deleted version are not found',
  async (t) => {
    const { world, sql, directory, reference, organizationId, promptId, versionId } = await setting(t);
    const other = await world.organization({ name: 'other' });
    t.equal(await versionOf(directory, { ...reference, organizationId: other.organizationId }), null);
    t.equal(await versionOf(directory, reference), '1.0');
    await sql`update assay.prompt_versions set deleted_at = now() where version_id = ${versionId}`;
    await waitFor('the version to be gone', async () => (await versionOf(directory, reference)) === null);
    t.equal(await versionOf(directory, { organizationId, promptId, versionId }), null);
  },
);

t.test('a version that moves to an environment is used there at once', async (t) => {
  const { sql, directory, reference, change, promptId } = await setting(t);
  await warm(directory, reference);
  const { versionId } = await change([2, 7], []);
  t.equal(await versionOf(directory, reference), '1.0');
  await warm(directory, reference);
  await sql`update assay.prompt_environments set version_id = ${versionId} where prompt_id = ${promptId}`;
  const changedAt = performance.now();
  await waitFor('the new version', async () => (await versionOf(directory, reference)) === '2.7');
  // Far below the 30 seconds after which a cached version is read again.
  t.ok(performance.now() - changedAt < 4_000);
});

t.test(
  'a known prompt is used for an hour while Postgres is away, and an unknown one is a 503',
  async (t) => {
    const { directory, reference, proxy, advance, change } = await setting(t);
    await change([1, 1], ['staging']);
    await warm(directory, reference);
    await proxy.cut();
    advance(40_000);
    t.equal(await versionOf(directory, reference), '1.0');
    await t.rejects(Promise.resolve(directory.find({ ...reference, environment: 'staging' })), {
      code: 'store_unavailable',
      message: 'The stored prompt cannot be read now: its store is unavailable',
    });
    advance(3_500_000);
    t.equal(await versionOf(directory, reference), '1.0');
    advance(200_000);
    await t.rejects(Promise.resolve(directory.find(reference)), { code: 'store_unavailable' }, 'not longer');
  },
);

t.test('a change during a disconnection is seen after it', async (t) => {
  const { directory, reference, proxy, change } = await setting(t);
  await warm(directory, reference);
  await proxy.cut();
  await change([1, 1]);
  t.equal(await versionOf(directory, reference), '1.0');
  await proxy.restore();
  await waitFor('the new version', async () => (await versionOf(directory, reference)) === '1.1');
});

t.test('made-up prompts of one organization keep no prompt of another out', async (t) => {
  const { world, directory, reference } = await setting(t);
  const { organizationId } = await world.organization({ name: 'globex' });
  const madeUp = Array.from({ length: 1_500 }, () =>
    directory.find({ organizationId, promptId: randomUUID(), ...PRODUCTION }),
  );
  const all = Promise.allSettled(madeUp);
  t.equal(await versionOf(directory, reference), '1.0');
  const refused = (await all).flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  t.ok(refused.length > 0 && refused.length < 500, 'its own are refused beyond a thousand that wait');
  t.same(new Set(refused), new Set(['store_unavailable']));
});

t.test(
  'a change without a Postgres notification is seen when it is announced over NATS',
  { skip: natsIsMissing() },
  async (t) => {
    const outer = await createWorld(t);
    const nats = await outer.nats();
    const address = { servers: [nats.url], credentialsFile: null };
    const { sql, directory, reference, change } = await setting(t, address);
    await warm(directory, reference);
    // As behind a pooler in transaction mode: no notification arrives.
    for (const table of ['prompts', 'prompt_versions', 'prompt_environments'])
      await sql.unsafe(`drop trigger ${table}_changed on assay.${table}`);
    await change([1, 1]);
    t.equal(await versionOf(directory, reference), '1.0', 'nothing has told the directory yet');
    await waitFor('the announcement to arrive', async () => {
      await announceChange({ subject: PROMPT_CHANGES_SUBJECT, address, name: 'test', log: silentLog });
      return (await versionOf(directory, reference)) === '1.1';
    });
  },
);
