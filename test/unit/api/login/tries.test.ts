import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { AssayError } from '#core/contracts/errors.ts';
import { createTries, type LoginRateError, type Tries } from '../../../../api/login/tries.ts';

const wrongKey = () => Promise.reject(new AssayError('invalid_api_key', 'This API key is not valid'));

/** Tries to log in; returns the whole seconds that it is told to wait; 0: the try was made. */
async function waitOf(
  tries: Tries,
  address: string,
  nowMs: number,
  logIn: () => Promise<unknown> = wrongKey,
): Promise<number> {
  try {
    await tries(address, nowMs, logIn);
    return 0;
  } catch (error) {
    return (error as Partial<LoginRateError>).retryAfterS ?? 0;
  }
}

t.test(
  'ten tries may fail in any minute, and the eleventh waits for the first to be a minute ago',
  async (t) => {
    const tries = createTries();
    for (let at = 0; at < 10; at += 1) t.equal(await waitOf(tries, '192.0.2.1', at * 1_000), 0);
    t.equal(await waitOf(tries, '192.0.2.1', 9_500), 51);
    t.equal(await waitOf(tries, '192.0.2.2', 9_500), 0, 'another address is not concerned');
    t.equal(await waitOf(tries, '192.0.2.1', 59_999), 1);
    t.equal(await waitOf(tries, '192.0.2.1', 60_000), 0, 'refused tries do not count');
    t.equal(await waitOf(tries, '192.0.2.1', 60_001), 1);
    await t.rejects(tries('192.0.2.1', 60_001, wrongKey), { code: 'too_many_logins' });
  },
);

t.test('neither tries that succeed count, nor those that fail because the store is away', async (t) => {
  const tries = createTries();
  const away = () => Promise.reject(new AssayError('store_unavailable', 'Away'));
  for (let at = 0; at < 50; at += 1) {
    t.equal(await tries('192.0.2.1', at, async () => 'in'), 'in');
    await t.rejects(tries('192.0.2.1', at, away), { code: 'store_unavailable' });
  }
});

t.test('ten tries of an address may be under way, whatever becomes of them', async (t) => {
  const tries = createTries();
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun = Array.from({ length: 10 }, () => tries('192.0.2.1', 0, () => promise));
  t.equal(await waitOf(tries, '192.0.2.1', 0), 1);
  t.equal(await waitOf(tries, '192.0.2.2', 0), 0);
  resolve();
  await Promise.all(begun);
  t.equal(await waitOf(tries, '192.0.2.1', 0), 0, 'they have ended');
});

t.test('an IPv6 network of 64 bits is one address, and an embedded IPv4 address is itself', async (t) => {
  const same = [
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['fe80::1%eth0', 'fe80::2%eth1'],
    ['', 'nonsense'],
  ];
  for (const [one, other] of same) {
    const tries = createTries();
    for (let at = 0; at < 10; at += 1) await waitOf(tries, one!, 0);
    t.ok((await waitOf(tries, other!, 0)) > 0, `${one} and ${other}`);
    t.equal(await waitOf(tries, '2001:db8:1:3::1', 0), 0);
  }
});

t.test('a flood of addresses takes bounded memory', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const failure = new AssayError('invalid_api_key', 'This API key is not valid');
  const tries = createTries();
  const flood = async (from: number, count: number) => {
    for (let at = from; at < from + count; at += 1) {
      const address = `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`;
      await tries(address, at, () => Promise.reject(failure)).catch(() => {});
    }
    // A collection that was under way keeps what it had marked: the next one takes that.
    for (let round = 0; round < 3; round += 1) {
      await nextTurn();
      collect();
    }
    return process.memoryUsage().heapUsed;
  };
  const before = await flood(0, 20_000);
  t.ok((await flood(20_000, 80_000)) - before < 4 * 2 ** 20, 'of 200 bytes each it were 16 MB');
});
