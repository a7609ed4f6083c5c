import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { FailingOutboxes, onFiles } from '#platform/log-pipeline/outbox/mod.ts';
import { temporaryRoot } from '../../../../support/outbox.ts';

/** One outbox, attempts at it, and what they log. */
function setUp(t: Test) {
  const root = temporaryRoot(t);
  mkdirSync(join(root, 'one'));
  const lines: { level: number; msg: string; retryMs?: number }[] = [];
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) });
  let now = 0;
  const failing = new FailingOutboxes({ root, log, monotonic: () => now });
  let attempts = 0;
  const attempt = (code: string | null, what = 'read') =>
    failing.attempt(what, 'one', () =>
      onFiles(() => {
        attempts += 1;
        if (code !== null) throw Object.assign(new Error(`${code}: it failed`), { code });
        return 'done';
      }),
    );
  return {
    root,
    failing,
    attempt,
    lines,
    attempts: () => attempts,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

t.test('an outbox that fails is tried again for ever, after pauses that grow to five minutes', async (t) => {
  const { attempt, attempts, lines, pass, failing } = setUp(t);
  for (let second = 0; second < 3_600; second += 1) {
    t.equal(await attempt('EIO'), null);
    pass(1_000);
  }
  // 1 + 2 + … + 256 are 511 seconds.
  t.equal(attempts(), 10 + 10);
  t.equal(lines.length, attempts(), 'each is told once');
  const pauses = lines.slice(0, 11).map(({ retryMs }) => retryMs! / 1_000);
  t.same(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  t.equal(failing.count, 1);
  pass(300_000);
  t.equal(await attempt(null), 'done');
  t.equal(failing.count, 0);
  t.match(lines.at(-1), { level: 30, msg: 'can read an outbox again' });
  await attempt('EIO');
  t.match(lines.at(-1), { level: 50, retryMs: 1_000 });
});

t.test('one kind of work that succeeds does not end the pause of another', async (t) => {
  const { attempt, attempts, failing } = setUp(t);
  await attempt('EIO', 'trim');
  t.equal(await attempt(null), 'done');
  t.ok(failing.has('one'));
  t.equal(await attempt(null, 'trim'), null);
  t.equal(attempts(), 2);
});

t.test('an error of the whole process is thrown, and no outbox is left alone for it', async (t) => {
  const { attempt, failing } = setUp(t);
  await t.rejects(attempt('EMFILE'), { code: 'EMFILE' });
  t.equal(failing.count, 0);
});

t.test('an outbox that was removed meanwhile does not count as failing', async (t) => {
  const { root, attempt, failing, lines, pass } = setUp(t);
  await attempt('EIO');
  failing.keepOnly([]);
  t.equal(failing.count, 0);
  rmdirSync(join(root, 'one'));
  pass(1_000);
  t.equal(await attempt('ENOENT'), null);
  t.equal(failing.count, 0);
  t.equal(lines.length, 1);
});
