import t from 'tap';
import { readAcceptEncoding } from '#platform/http-server/compression/accept-encoding.ts';

t.test('the best coding is the one of the highest weight, then the cheapest of equal size', async (t) => {
  const CASES: [string | null, string | null, boolean][] = [
    [null, null, true],
    ['', null, true],
    ['gzip', 'gzip', true],
    ['X-GZIP', 'gzip', true],
    ['gzip, deflate, br', 'br', true],
    ['gzip, deflate, br, zstd', 'zstd', true],
    ['zstd;q=0.1, br;q=0.9, gzip;q=0.8', 'br', true],
    ['br ; q=0.5 , gzip;Q=0.8', 'gzip', true],
    ['*', 'zstd', true],
    ['*;q=0.5, zstd;q=0', 'br', true],
    ['deflate, compress', null, true],
    ['gzip;q=0', null, true],
    ['gzip;q=0.5, identity', null, true],
    ['gzip, identity', 'gzip', true],
    ['identity;q=0', null, false],
    ['gzip, identity;q=0', 'gzip', false],
    ['gzip;q=0.001, *;q=0', 'gzip', false],
    ['*;q=0', null, false],
    ['*;q=0, identity', null, true],
    ['gzip;q=2', null, true],
    ['gzip;q=x, br', 'br', true],
    ['gzip;level=1', null, true],
    [',,;,', null, true],
    [`${'a,'.repeat(30_000)}gzip`, 'gzip', true],
  ];
  for (const [header, coding, isIdentityAccepted] of CASES) {
    t.strictSame(readAcceptEncoding(header), { coding, isIdentityAccepted }, String(header).slice(0, 60));
  }
});
