import t from 'tap';
import { createTries, type LoginRateError } from '../../../../api/login/tries.ts';

/** Whole seconds that a try is told to wait; 0: it is taken. */
function waitOf(countTry: ReturnType<typeof createTries>, address: string, nowMs: number): number {
  try {
    countTry(address, nowMs);
    return 0;
  } catch (error) {
    return (error as LoginRateError).retryAfterS;
  }
}

t.test('ten tries are taken in any minute, and the eleventh waits for the first to be a minute ago', (t) => {
  const countTry = createTries();
  for (let at = 0; at < 10; at += 1) t.equal(waitOf(countTry, '192.0.2.1', at * 1_000), 0);
  t.equal(waitOf(countTry, '192.0.2.1', 9_500), 51);
  t.equal(waitOf(countTry, '192.0.2.2', 9_500), 0, 'another address is not concerned');
  t.equal(waitOf(countTry, '192.0.2.1', 59_999), 1);
  t.equal(waitOf(countTry, '192.0.2.1', 60_000), 0, 'refused tries do not count');
  t.equal(waitOf(countTry, '192.0.2.1', 60_001), 1);
  t.throws(() => countTry('192.0.2.1', 60_001), { code: 'too_many_logins' });
  t.end();
});

t.test('an IPv6 network of 64 bits is one address, and an embedded IPv4 address is itself', (t) => {
  const same = [
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['fe80::1%eth0', 'fe80::2%eth1'],
    ['', 'nonsense'],
  ];
  for (const [one, other] of same) {
    const countTry = createTries();
    for (let at = 0; at < 10; at += 1) countTry(one!, 0);
    t.ok(waitOf(countTry, other!, 0) > 0, `${one} and ${other}`);
    t.equal(waitOf(countTry, '2001:db8:1:3::1', 0), 0);
  }
  t.end();
});

t.test('a flood of addresses takes bounded memory', (t) => {
  const countTry = createTries();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 300_000; at += 1) countTry(`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`, at);
  t.ok(process.memoryUsage().heapUsed - before < 64 * 2 ** 20);
  t.end();
});
