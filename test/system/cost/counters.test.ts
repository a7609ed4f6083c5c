/** The counters of cost.test.ts, on a process whose allocations and system calls are known. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { countAllocations, sweepInCollectionsOnly } from '../../bench/cost/allocations.ts';
import { INSPECTABLE, openInspector } from '../../bench/cost/inspector.ts';
import { countSystemCalls, systemCallsAreHidden } from '../../bench/cost/system-calls.ts';
import { tether } from '../../support/tether.ts';

const isElsewhere = process.platform === 'linux' ? false : 'strace and /proc are those of Linux';

/** Starts a process that does nothing by itself. */
async function startIdle(t: Test) {
  const child = spawn(process.execPath, [INSPECTABLE, '-e', 'setInterval(() => {}, 60_000); console.log()'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  tether({ pid: child.pid, ended, signal: 'KILL' });
  let said = '';
  child.stderr.on('data', (text: Buffer) => {
    said += text.toString();
  });
  await once(child.stdout, 'data');
  const inspector = await openInspector(child.pid!, () => said);
  t.teardown(async () => {
    inspector.close();
    child.kill('SIGKILL');
    await ended;
  });
  return { pid: child.pid!, inspector };
}

t.test('bytes are counted within 1 %, through collections', { skip: isElsewhere }, async (t) => {
  const { inspector } = await startIdle(t);
  await sweepInCollectionsOnly(inspector);
  const buffers = await countAllocations(inspector, () =>
    inspector.evaluate(() => {
      for (let made = 0; made < 2_000; made += 1) Buffer.allocUnsafeSlow(50_000);
    }),
  );
  t.ok(Math.abs(buffers.external / 100e6 - 1) < 0.01, `${buffers.external} of 100 million bytes`);
  const objects = await countAllocations(inspector, () =>
    inspector.evaluate(() => {
      const characters = Buffer.alloc(1_000, 'a');
      // A string of 1,000 characters, and 16 bytes for its head: so small that the ends of pages, where the next one does not
      // fit, hardly count. Nothing else is made in a turn, as that depends on how far the loop is compiled.
      for (let made = 0; made < 500_000; made += 1) characters.toString('latin1');
    }),
  );
  t.ok(Math.abs(objects.heap / 508e6 - 1) < 0.01, `${objects.heap} of 508 million bytes`);
});

const isUncountable = isElsewhere || (await systemCallsAreHidden());

t.test('system calls of all threads are counted', { skip: isUncountable }, async (t) => {
  const { pid, inspector } = await startIdle(t);
  const counted = await countSystemCalls(pid, () =>
    inspector.evaluate(async () => {
      const { promises, statSync } = process.getBuiltinModule('node:fs');
      for (let made = 0; made < 500; made += 1) statSync('/');
      for (let made = 0; made < 500; made += 1) await promises.rmdir('/nowhere').catch(() => {});
    }),
  );
  t.equal(counted.get('rmdir'), 500, 'made by the thread pool');
  const stats = (counted.get('statx') ?? 0) + (counted.get('newfstatat') ?? 0);
  t.ok(stats >= 500 && stats < 510, `${stats} of 500 made by the main thread`);
});
