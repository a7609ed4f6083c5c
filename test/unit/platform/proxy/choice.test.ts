/** Which calls go through which proxy. */
import fc from 'fast-check';
import t from 'tap';
import { createProxyChoice, parseNoProxy, parseProxyAddress } from '#platform/proxy/mod.ts';

const PROXY = parseProxyAddress('http://proxy.test:3128')!;
const TLS_PROXY = parseProxyAddress('https://proxy.test')!;

/** Whether a call to an address goes through a proxy, under a NO_PROXY. */
function isProxied(noProxy: string, address: string): boolean {
  return createProxyChoice({ https: PROXY, http: PROXY, noProxy })(new URL(address)) !== null;
}

const CASES: [noProxy: string, direct: string[], proxied: string[]][] = [
  ['', [], ['https://api.openai.com', 'http://10.0.0.1', 'http://[fd00::1]:8000']],
  ['*', ['https://api.openai.com', 'http://10.0.0.1:1', 'https://[2001:db8::1]'], []],
  ['none.test, *', ['https://api.openai.com'], []],
  ['*:8443', ['https://a.test:8443'], ['https://a.test']],
  [
    'example.com',
    ['https://example.com', 'https://EXAMPLE.com.', 'https://a.example.com', 'https://a.b.example.com:444'],
    ['https://badexample.com', 'https://example.com.test', 'https://com'],
  ],
  ['.example.com', ['https://example.com', 'https://a.example.com'], ['https://badexample.com']],
  ['*.example.com', ['https://a.example.com'], ['https://example.com']],
  ['Example.COM.', ['https://a.example.com'], []],
  ['münchen.test', ['https://xn--mnchen-3ya.test', 'https://a.münchen.test'], []],
  [
    'a.test:8443 ,\tb.test:443  c.test',
    ['https://a.test:8443', 'https://b.test', 'http://c.test'],
    ['https://a.test', 'http://b.test', 'http://a.test'],
  ],
  ['10.0.0.7', ['http://10.0.0.7', 'http://[::ffff:10.0.0.7]'], ['http://10.0.0.70', 'http://x.10.0.0.test']],
  ['10.0.0.7:8000', ['http://10.0.0.7:8000'], ['http://10.0.0.7']],
  ['10.0.0.0/8', ['http://10.255.255.255'], ['http://11.0.0.0', 'http://ten.test']],
  ['fd00::/8', ['http://[fdff::1]:8000'], ['http://[fe00::1]']],
  ['[fd00::1]:8443', ['https://[fd00::1]:8443'], ['https://[fd00::1]']],
  ['fd00::1', ['https://[fd00:0::1]:8443'], ['https://[fd00::2]']],
];

for (const [noProxy, direct, proxied] of CASES) {
  t.test(`NO_PROXY of "${noProxy}" exempts what it names and nothing else`, async (t) => {
    for (const address of direct) t.equal(isProxied(noProxy, address), false, `${address} is direct`);
    for (const address of proxied) t.equal(isProxied(noProxy, address), true, `${address} is proxied`);
  });
}

t.test('addresses of this machine are never called through a proxy', async (t) => {
  for (const host of [
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    '127.0.0.1',
    '127.9.9.9',
    '[::1]',
    '0.0.0.0',
    '[::]',
  ])
    for (const scheme of ['http', 'https']) t.equal(isProxied('', `${scheme}://${host}:8787`), false, host);
  for (const host of ['localhost.test', 'notlocalhost', '128.0.0.1', '[::2]'])
    t.equal(isProxied('', `http://${host}:8787`), true, host);
});

t.test('a name is exempt exactly when an entry is one of the names that end it', async () => {
  const label = fc.constantFrom('a', 'b', 'ab', 'test');
  const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
  fc.assert(
    fc.property(fc.array(name, { maxLength: 3 }), name, (entries, host) => {
      const labels = host.split('.');
      const endings = labels.map((_, from) => labels.slice(from).join('.'));
      return (
        isProxied(entries.join(','), `https://${host}`) !== entries.some((entry) => endings.includes(entry))
      );
    }),
  );
});

t.test('an invalid NO_PROXY entry is reported by its place', async (t) => {
  const bad = [
    '10.0.0.0/33',
    '169.254/16',
    '192.168.*',
    '<local>',
    'a:b',
    'a:0',
    'a:65536',
    '[a]',
    'http://a.test',
    'a/b',
    '.',
    '*.',
    'a..b',
    'user@a',
    'fe80::1%eth0',
    '/8',
  ];
  for (const entry of bad) t.same(parseNoProxy(`a.test, ${entry}`), { badEntry: 2 }, entry);
});

t.test('https and http calls go through the proxy of their own scheme, or through none', async (t) => {
  const of = (settings: Parameters<typeof createProxyChoice>[0], address: string) =>
    createProxyChoice(settings)(new URL(address));
  const both = { https: TLS_PROXY, http: PROXY, noProxy: '' };
  t.equal(of(both, 'https://a.test'), TLS_PROXY);
  t.equal(of(both, 'http://a.test'), PROXY);
  t.equal(of({ ...both, https: null }, 'https://a.test'), null);
  t.equal(of({ ...both, http: null }, 'http://a.test'), null);
});

t.test('a proxy is an http or https address, with credentials or without', async (t) => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  const read: [string, unknown][] = [
    ['http://proxy.test:3128', { isTls: false, host: 'proxy.test', port: 3128, authorization: null }],
    ['proxy.test:3128', { isTls: false, host: 'proxy.test', port: 3128, authorization: null }],
    ['proxy.test', { isTls: false, host: 'proxy.test', port: 80, authorization: null }],
    ['HTTPS://Proxy.test/', { isTls: true, host: 'proxy.test', port: 443, authorization: null }],
    ['http://[fd00::1]:8080', { isTls: false, host: 'fd00::1', port: 8080, authorization: null }],
    [
      'http://ada:p%40ss%3Aw%C3%B6rd@p:1',
      { isTls: false, host: 'p', port: 1, authorization: basic('ada:p@ss:wörd') },
    ],
    ['ada@p', { isTls: false, host: 'p', port: 80, authorization: basic('ada:') }],
    ['socks5://p:1080', null],
    ['http://', null],
    ['http://p/path', null],
    ['http://p?query', null],
    ['http://p:99999', null],
    ['http://ada:%ff@p', null],
    ['two words', null],
  ];
  for (const [text, expected] of read) t.same(parseProxyAddress(text), expected, text);
});
