import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import {
  operatorSentence,
  type ProcessEdge,
  type Role,
  runRole,
  stopInOrder,
  stopTogether,
} from '#platform/process/lifecycle.ts';

/** A process whose signals the test sends and whose end it sees. */
function watchedProcess() {
  const listeners = new Map<string, (signal: NodeJS.Signals) => void>();
  const lines: string[] = [];
  let end: (code: number) => void = () => {};
  const exits: number[] = [];
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  const edge: ProcessEdge = {
    on: (signal, listener) => listeners.set(signal, listener),
    exit(code) {
      exits.push(code);
      end(code);
    },
    writeLine: (line) => lines.push(line),
  };
  return { edge, lines, exits, ended, send: (signal: NodeJS.Signals) => listeners.get(signal)?.(signal) };
}

const roleThat = (stop: () => Promise<void>): (() => Promise<Role>) => {
  return async () => ({ name: 'test', address: null, stop });
};

t.test('a signal stops the role, and the process ends with 0', async (t) => {
  const { edge, ended, send, lines } = watchedProcess();
  let stopped = false;
  const start = roleThat(async () => {
    stopped = true;
  });
  await Promise.all([runRole(start, { deadlineMs: 1_000, edge, onReady: () => send('SIGTERM') }), ended]);
  t.equal(await ended, 0);
  t.ok(stopped);
  t.same(lines, []);
});

t.test('a role that fails to start prints one sentence and ends with 1', async (t) => {
  const { edge, ended, lines } = watchedProcess();
  const start = () => Promise.reject(new Error('Cannot listen on port 1\n    at somewhere'));
  await runRole(start, { deadlineMs: 1_000, edge });
  t.equal(await ended, 1);
  t.same(lines, ['Cannot listen on port 1']);
});

t.test('a start that hangs is ended at the deadline after a signal', async (t) => {
  const { edge, ended, send, lines } = watchedProcess();
  const start = () => {
    send('SIGTERM');
    return new Promise<Role>(() => {});
  };
  await runRole(start, { deadlineMs: 20, edge });
  t.equal(await ended, 1);
  t.same(lines, ['It was told to stop and did not start within 20 ms: it ends now']);
});

t.test('a signal during the start stops the role as soon as it has started', async (t) => {
  const { edge, ended, send } = watchedProcess();
  let stopped = false;
  const start = async (): Promise<Role> => {
    send('SIGINT');
    await sleep(20);
    const stop = async () => {
      stopped = true;
    };
    return { name: 'test', address: null, stop };
  };
  await runRole(start, { deadlineMs: 1_000, edge });
  t.equal(await ended, 0);
  t.ok(stopped);
});

t.test('a second signal ends the process at once', async (t) => {
  const { edge, ended, send } = watchedProcess();
  const start = roleThat(() => new Promise(() => {}));
  void runRole(start, { deadlineMs: 1_000, edge, onReady: () => send('SIGTERM') });
  await sleep(150);
  send('SIGINT');
  t.equal(await ended, 130);
});

t.test('signals in the same moment count as one', async (t) => {
  const { edge, exits, send, ended } = watchedProcess();
  const start = roleThat(() => sleep(50));
  void runRole(start, { deadlineMs: 1_000, edge, onReady: () => send('SIGINT') });
  await sleep(10);
  send('SIGINT');
  send('SIGTERM');
  t.equal(await ended, 0);
  t.same(exits, [0]);
});

t.test('a stop that takes too long ends at the deadline, with 1', async (t) => {
  const { edge, ended, lines, send } = watchedProcess();
  const start = roleThat(() => new Promise(() => {}));
  await runRole(start, { deadlineMs: 30, edge, onReady: () => send('SIGTERM') });
  t.equal(await ended, 1);
  t.same(lines, ['The test did not stop within 30 ms: it ends now']);
});

t.test('a role stops when its supervisor is gone', async (t) => {
  const { edge, ended } = watchedProcess();
  await runRole(
    roleThat(async () => {}),
    { deadlineMs: 1_000, edge, abandoned: Promise.resolve() },
  );
  t.equal(await ended, 0);
});

t.test('the steps of a stop run in order, even if an earlier one fails', async (t) => {
  const done: string[] = [];
  const step = (what: string, fails = false) => ({
    what,
    run: async () => {
      done.push(what);
      if (fails) throw new Error('stuck');
    },
  });
  await t.rejects(stopInOrder([step('one'), step('two', true), step('three'), step('four', true)]), {
    message: 'two: stuck; four: stuck',
  });
  t.same(done, ['one', 'two', 'three', 'four']);
});

t.test('steps of a stop that run together begin at once, and each failure is named', async (t) => {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const waits = { what: 'one', run: () => begun };
  const fails = {
    what: 'two',
    run: async () => {
      resolve();
      throw new Error('stuck');
    },
  };
  await t.rejects(stopTogether([waits, fails, fails]), { message: 'two: stuck; two: stuck' });
});

t.test('an error without a message is described by its first cause', async (t) => {
  t.equal(operatorSentence(new AggregateError([new Error('connect refused')])), 'connect refused');
  t.equal(operatorSentence(new Error('')), 'it failed without saying why');
});
