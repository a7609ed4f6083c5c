import t from 'tap';
import { isKeySafe } from '../../../dashboard/pages/login/is-key-safe.ts';
import { browserName } from '../../../dashboard/pages/settings/browser-name.ts';
import { takeLinkToken } from '../../../dashboard/state/link-token.ts';

t.test('the token of a link is taken out of the address, and the rest of the address stays', (t) => {
  const replaced: unknown[] = [];
  const history = { state: { of: 'the page' }, replaceState: (...given: unknown[]) => replaced.push(given) };
  const location = { pathname: '/requests', search: '?q=a', hash: '#login=abc' };
  t.equal(takeLinkToken({ location, history }), 'abc');
  t.strictSame(replaced, [[{ of: 'the page' }, '', '/requests?q=a']]);
  for (const hash of ['', '#', '#page', '#xlogin=abc']) {
    t.equal(takeLinkToken({ location: { ...location, hash }, history }), null, hash);
  }
  t.equal(replaced.length, 1, 'other fragments stay');
  t.end();
});

t.test('a key is asked for over TLS and on loopback only', (t) => {
  const safe = (url: string) => isKeySafe(new URL(url));
  for (const url of ['https://a.example', 'http://localhost:8585', 'http://127.0.0.1', 'http://[::1]:1']) {
    t.ok(safe(url), url);
  }
  for (const url of ['http://a.example', 'http://192.168.1.5:8585', 'http://localhost.evil.example']) {
    t.notOk(safe(url), url);
  }
  t.end();
});

t.test('a browser is named by what only it says of itself', (t) => {
  const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';
  const cases = [
    [`Mozilla/5.0 (X11; Linux x86_64) ${CHROME}`, 'Chrome 156 on Linux'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Edg/156.0.0.0`, 'Edge 156 on Windows'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox 145 on Linux'],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15',
      'Safari 26 on macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1',
      'Safari 26 on iOS',
    ],
    ['', 'Unknown browser'],
    ['<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['x'.repeat(100), 'x'.repeat(60)],
  ] as const;
  for (const [userAgent, name] of cases) t.equal(browserName(userAgent), name);
  t.end();
});
