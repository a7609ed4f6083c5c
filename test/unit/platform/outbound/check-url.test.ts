import t from 'tap';
import { checkOutboundUrl, parseAllowList } from '#platform/outbound/mod.ts';

const listed = (...entries: string[]) => {
  const parsed = parseAllowList(entries);
  if ('badEntry' in parsed) throw new Error(parsed.badEntry);
  return parsed.allow;
};
const nothing = listed();

t.test('an outbound URL that is invalid or has another scheme is refused', (t) => {
  const others =
    'file:///etc/passwd gopher://example.com/_x ftp://example.com dict://example.com:11211 data:text/plain,x javascript:1 ldap://example.com unix:///run/x.sock //example.com example.com http:// http://a:99999 http://exa%00mple.com http://good.com%40evil.com https://a%2eb%2f.com'.split(
      ' ',
    );
  for (const url of [...others, '', ' ', 'http://']) {
    t.equal(checkOutboundUrl(url, nothing), 'must be a whole http or https address', url);
  }
  t.match(checkOutboundUrl(`https://example.com/${'x'.repeat(2_048)}`, nothing), /at most 2048 characters/);
  t.end();
});

t.test('user names and passwords are refused, and not quoted', (t) => {
  for (const url of [
    'https://user@example.com',
    'https://user:hunter2@example.com',
    'https://:hunter2@example.com',
    'https://127.0.0.1:80@example.com',
  ]) {
    t.equal(checkOutboundUrl(url, nothing), 'must not hold a user name or a password', url);
  }
  t.end();
});

t.test('addresses in every spelling, and names of local things, are refused', (t) => {
  const local =
    'http://127.0.0.1 http://127.1 http://2130706433 http://0x7f000001 http://017700000001 http://0177.0.0.1 http://127.0.0.1. http://%31%32%37.0.0.1 http://①②⑦.0.0.1 http://0 http://[::1] http://[::ffff:127.0.0.1] http://[0:0:0:0:0:ffff:7f00:1] http://[64:ff9b::7f00:1] http://[2002:7f00:1::] http://169.254.169.254/latest/meta-data/ http://[fd00:ec2::254]/ http://10.0.0.1:8080 http://192.168.0.1 http://172.16.0.1 http://100.64.0.1 http://localhost http://LOCALHOST. http://loc%61lhost http://a.localhost http://metadata.google.internal http://metadata http://postgres:5432 http://printer.local http://db.lan http://router.home.arpa https://host.docker.internal'.split(
      ' ',
    );
  for (const url of local) t.match(checkOutboundUrl(url, nothing), /^must lead to a public host/, url);
  t.end();
});

t.test('public addresses are taken, at any port', (t) => {
  for (const url of [
    'https://example.com',
    'http://example.com:8080/a?b=c#d',
    'https://8.8.8.8',
    'https://[2606:4700:4700::1111]:22/',
    'https://bücher.example',
    'HTTPS://EXAMPLE.COM.',
  ]) {
    t.equal(checkOutboundUrl(url, nothing), null, url);
  }
  t.end();
});

t.test("an outbound URL is accepted if the operator's allow list admits it", (t) => {
  const allow = listed('127.0.0.0/8', '::1', 'scorer', 'eval.corp');
  for (const url of [
    'http://127.0.0.1:1',
    'http://2130706433',
    'http://[::1]:2',
    'http://scorer/',
    'http://EVAL.corp./x',
  ]) {
    t.equal(checkOutboundUrl(url, allow), null, url);
  }
  for (const url of [
    'http://10.0.0.1',
    'http://localhost',
    'http://other',
    'http://x.eval.corp',
    'http://scorer@127.0.0.1',
    'file:///scorer',
  ]) {
    t.ok(checkOutboundUrl(url, allow), url);
  }
  t.end();
});
