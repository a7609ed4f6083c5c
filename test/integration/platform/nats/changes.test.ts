/** One connection of a process, on which all of its parts watch for changes. */
import t, { type Test } from 'tap';
import { ERASURES_SUBJECT, KEY_CHANGES_SUBJECT, PROMPT_CHANGES_SUBJECT } from '#core/contracts/channels.ts';
import { announceChange, createChangeWatcher } from '#platform/nats/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { waitFor } from '../../../support/assay.ts';
import { freePort } from '../../../support/free-port.ts';
import { natsIsMissing, startNats } from '../../../support/nats.ts';
import { silentLog } from '../../../support/world.ts';

type Subject = Parameters<typeof announceChange>[0]['subject'];

async function setUp(t: Test, log: Logger = silentLog) {
  const monitorPort = await freePort();
  const nats = await startNats({ config: `http: 127.0.0.1:${monitorPort}` });
  t.teardown(() => nats[Symbol.asyncDispose]());
  const address = { servers: [nats.url], credentialsFile: null };
  const watcher = createChangeWatcher({ address, name: 'watching', log });
  const heard: string[] = [];
  return {
    nats,
    watcher,
    heard,
    watch: (name: string, subject: Subject) => {
      const watching = watcher.watch({ subject, onChange: () => heard.push(name) });
      t.teardown(() => watching.stop());
      return watching;
    },
    announce: (subject: Subject) => announceChange({ subject, address, name: 'announcing', log: silentLog }),
    /** Returns the subjects of each connection that watches. */
    connections: async () => {
      const answer = await fetch(`http://127.0.0.1:${monitorPort}/connz?subs=1`);
      const { connections } = (await answer.json()) as {
        connections: { name?: string; subscriptions_list?: string[] }[];
      };
      return connections
        .filter(({ name }) => name === 'watching')
        .map(({ subscriptions_list: subjects = [] }) => subjects.toSorted());
    },
  };
}

t.test('what watches for changes over NATS', { skip: natsIsMissing() }, async (t) => {
  t.test('two watches share one connection, and each is told of its own changes', async (t) => {
    const { watch, announce, connections, heard } = await setUp(t);
    watch('keys', KEY_CHANGES_SUBJECT);
    watch('prompts', PROMPT_CHANGES_SUBJECT);
    const both = [KEY_CHANGES_SUBJECT, PROMPT_CHANGES_SUBJECT];
    await waitFor('both to watch', async () => (await connections())[0]?.length === 2);
    t.same(await connections(), [both]);
    await announce(PROMPT_CHANGES_SUBJECT);
    await waitFor('the announcement', () => heard.length > 0);
    await announce(KEY_CHANGES_SUBJECT);
    await waitFor('the other announcement', () => heard.length > 1);
    t.same(heard, ['prompts', 'keys']);
  });

  t.test('after a lost connection every watch is told, since it may have missed a change', async (t) => {
    const { nats, watch, connections, heard } = await setUp(t);
    watch('keys', KEY_CHANGES_SUBJECT);
    watch('prompts', PROMPT_CHANGES_SUBJECT);
    await waitFor('both to watch', async () => (await connections())[0]?.length === 2);
    await nats.kill();
    await nats.restart();
    await waitFor('both to be told', () => heard.length > 1);
    t.same(heard, ['keys', 'prompts']);
    t.equal((await connections()).length, 1);
  });

  t.test('a watch that joins or stops does not disturb the others', async (t) => {
    const { watch, announce, connections, heard } = await setUp(t);
    const keys = watch('keys', KEY_CHANGES_SUBJECT);
    await waitFor('the first to watch', async () => (await connections())[0]?.length === 1);
    watch('erasures', ERASURES_SUBJECT);
    await waitFor('the second to watch', async () => (await connections())[0]?.length === 2);
    await keys.stop();
    await waitFor('the first to have stopped', async () => (await connections())[0]?.length === 1);
    t.same(await connections(), [[ERASURES_SUBJECT]]);
    await announce(KEY_CHANGES_SUBJECT);
    await announce(ERASURES_SUBJECT);
    await waitFor('the announcement', () => heard.length > 0);
    t.same(heard, ['erasures']);
  });

  t.test('the connection ends with its last watch, and the next one opens another', async (t) => {
    const { watch, announce, connections, heard } = await setUp(t);
    const stopped = [watch('keys', KEY_CHANGES_SUBJECT), watch('prompts', PROMPT_CHANGES_SUBJECT)];
    await waitFor('both to watch', async () => (await connections())[0]?.length === 2);
    await Promise.all(stopped.map((one) => one.stop()));
    await waitFor('the connection to be closed', async () => (await connections()).length === 0);
    watch('keys again', KEY_CHANGES_SUBJECT);
    await waitFor('it to watch', async () => (await connections()).length === 1);
    await announce(KEY_CHANGES_SUBJECT);
    await waitFor('the announcement', () => heard.length > 0);
    t.same(heard, ['keys again']);
  });

  t.test('a callback that throws is logged, and the other watches are told', async (t) => {
    const logged: unknown[] = [];
    const log = Object.assign(Object.create(silentLog), { error: (what: object) => logged.push(what) });
    const { watcher, watch, announce, connections, heard } = await setUp(t, log);
    const fail = () => {
      throw new Error('a defect');
    };
    const failing = watcher.watch({ subject: KEY_CHANGES_SUBJECT, onChange: fail });
    t.teardown(() => failing.stop());
    watch('keys', KEY_CHANGES_SUBJECT);
    await waitFor('both to watch', async () => (await connections())[0]?.length === 2);
    await announce(KEY_CHANGES_SUBJECT);
    await announce(KEY_CHANGES_SUBJECT);
    await waitFor('both announcements', () => heard.length > 1);
    t.same(logged, Array(2).fill({ subject: KEY_CHANGES_SUBJECT, error: 'a defect' }));
  });
});

t.test(
  'a subject that the user may not watch is named in the log, once',
  { skip: natsIsMissing() },
  async (t) => {
    const permissions = `permissions { publish: ["assay.>"], subscribe: ["_INBOX.>"] }`;
    const config = `authorization { users: [{ user: u, password: p, ${permissions} }] }`;
    const nats = await startNats({ config });
    t.teardown(() => nats[Symbol.asyncDispose]());
    const logged: object[] = [];
    const log = Object.assign(Object.create(silentLog), { warn: (what: object) => logged.push(what) });
    const address = { servers: [`nats://u:p@127.0.0.1:${nats.port}`], credentialsFile: null };
    const watcher = createChangeWatcher({ address, name: 'watching', log });
    let told = 0;
    const onChange = () => {
      told += 1;
    };
    const watching = watcher.watch({ subject: KEY_CHANGES_SUBJECT, onChange });
    await waitFor('the warning', () => logged.length > 0);
    await watching.stop();
    t.match(logged, [{ subject: KEY_CHANGES_SUBJECT, error: /Permissions Violation for Subscription/ }]);
    t.equal(told, 0, 'a refusal is no change');
  },
);

t.test('without an address there is nothing to watch, nor to stop', async () => {
  const watcher = createChangeWatcher({ address: null, name: 'watching', log: silentLog });
  const watching = watcher.watch({ subject: KEY_CHANGES_SUBJECT, onChange: () => {} });
  await watching.stop();
});
