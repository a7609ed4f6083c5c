/** The variables of proxies, which other programs read too. */
import t from 'tap';
import { readConfig } from '#platform/config/mod.ts';

function proxiesOf(environment: Record<string, string>) {
  const read = readConfig(environment);
  if (!read.ok) throw new Error(read.problems.join('\n'));
  return read.config.proxies;
}

t.test('without variables there are no proxies', async (t) => {
  t.same(proxiesOf({}), { https: null, http: null, noProxy: '' });
  t.same(proxiesOf({ HTTPS_PROXY: '', no_proxy: ' ' }), { https: null, http: null, noProxy: '' });
});

t.test('a proxy variable is read in either case, and the lower-case name wins', async (t) => {
  t.match(proxiesOf({ HTTPS_PROXY: 'http://upper:1', HTTP_PROXY: 'upper:2', NO_PROXY: 'a.test' }), {
    https: { host: 'upper', port: 1 },
    http: { host: 'upper', port: 2 },
    noProxy: 'a.test',
  });
  t.match(
    proxiesOf({
      HTTPS_PROXY: 'upper:1',
      https_proxy: 'lower:1',
      HTTP_PROXY: 'upper:2',
      http_proxy: '',
      no_proxy: 'b',
    }),
    { https: { host: 'lower' }, http: { host: 'upper' }, noProxy: 'b' },
  );
});

t.test('a proxy for one scheme is none for the other', async (t) => {
  t.match(proxiesOf({ HTTP_PROXY: 'p:1' }), { https: null, http: { host: 'p' } });
  t.match(proxiesOf({ HTTPS_PROXY: 'p:1' }), { https: { host: 'p' }, http: null });
});

t.test('every broken proxy variable is reported by the name that was read, and none is quoted', async (t) => {
  const read = readConfig({
    https_proxy: 'socks5://ada:hunter2@p:1',
    HTTP_PROXY: 'http://ada:hunter2@p/path',
    NO_PROXY: 'a.test,hunter2:hunter2',
    API_PORT: 'hunter3',
  });
  if (read.ok) throw new Error('It was taken');
  const form =
    'must be an address like http://user:password@proxy:3128, with http or https and without a path';
  t.same(read.problems, [
    'API_PORT must be a whole number from 0 to 65535, but is "hunter3"',
    `https_proxy ${form}`,
    `HTTP_PROXY ${form}`,
    'NO_PROXY must be hosts, addresses or CIDRs, a port behind them or not, with commas between them, but entry 2 is none of these',
  ]);
});
