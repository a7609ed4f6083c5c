import { BlockList } from 'node:net';
import fc from 'fast-check';
import t from 'tap';
import { isInRanges, isPublicAddress, parseRange } from '#platform/outbound/address.ts';
import { parseAllowList } from '#platform/outbound/mod.ts';

/** IANA's registries of special-purpose addresses, and Azure's platform address. */
const SPECIAL_4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32'.split(
    ' ',
  );
const SPECIAL_6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20 2620:4f:8000::/48'.split(' ');

function listOf(ranges: string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [base = '', bits] = range.split('/');
    list.addSubnet(base, Number(bits), family);
  }
  return list;
}
const special4 = listOf(SPECIAL_4, 'ipv4');
const special6 = listOf(SPECIAL_6, 'ipv6');
const global6 = listOf(['2000::/3'], 'ipv6');

const text4 = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
const text6 = (groups: number[]) => groups.map((group) => group.toString(16)).join(':');

function expected4(address: string): boolean {
  return !special4.check(address, 'ipv4');
}

function expected6(groups: number[]): boolean {
  const head = groups.slice(0, 6).join();
  const low4 = text4(((groups[6]! << 16) | groups[7]!) >>> 0);
  if (head === '0,0,0,0,0,65535' || head === `${0x64},${0xff9b},0,0,0,0`) return expected4(low4);
  const address = text6(groups);
  const isatap = (groups[4] === 0 || groups[4] === 0x200) && groups[5] === 0x5efe;
  return global6.check(address, 'ipv6') && !special6.check(address, 'ipv6') && !isatap;
}

/** The first and the last address of a range, and those just outside. */
function edges4(range: string): number[] {
  const [base = '', bits] = range.split('/');
  const first = base.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(bits));
  return [first - 1, first, first + size - 1, first + size].filter((value) => value >= 0 && value < 2 ** 32);
}

t.test("an IPv4 address is public unless it is in IANA's special-purpose registry", (t) => {
  for (const value of SPECIAL_4.flatMap(edges4)) {
    const address = text4(value);
    t.equal(isPublicAddress(address), expected4(address), address);
  }
  fc.assert(
    fc.property(fc.nat(2 ** 32 - 1), (value) => isPublicAddress(text4(value)) === expected4(text4(value))),
    { numRuns: 2_000 },
  );
  t.end();
});

t.test(
  'an IPv6 address is public if global unicast, not special-purpose, and with any IPv4 part public',
  (t) => {
    const group = fc.integer({ min: 0, max: 0xffff });
    const heads = [
      [0, 0, 0, 0, 0, 0xffff],
      [0x64, 0xff9b, 0, 0, 0, 0],
      [0x64, 0xff9b, 1, 0, 0, 0],
      [0, 0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0xffff, 0],
      [0x2001, 0],
      [0x2001, 0xdb8],
      [0x2001, 0x1ff],
      [0x2001, 0x200],
      [0x2002],
      [0x2003],
      [0x2620, 0x4f, 0x8000],
      [0x3fff, 0x0fff],
      [0x3fff, 0x1000],
      [0x2a00, 1, 2, 3, 0, 0x5efe],
      [0x2a00, 1, 2, 3, 0x200, 0x5efe],
      [0x1fff],
      [0x4000],
      [0xfc00],
      [0xfe80],
      [0xfec0],
      [0xff02],
    ];
    const any = fc
      .tuple(fc.constantFrom([], ...heads), fc.array(group, { minLength: 8, maxLength: 8 }))
      .map(([head, rest]) => [...head, ...rest].slice(0, 8));
    fc.assert(
      fc.property(any, (groups) => isPublicAddress(text6(groups)) === expected6(groups)),
      { numRuns: 5_000 },
    );
    t.end();
  },
);

t.test('isPublicAddress refuses the addresses that attacks use', (t) => {
  const refused =
    '127.0.0.1 127.255.255.255 0.0.0.0 10.1.2.3 172.31.0.1 192.168.1.1 169.254.169.254 100.100.100.200 192.0.0.192 168.63.129.16 255.255.255.255 224.0.0.1 :: ::1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:a9fe:a9fe ::127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::a00:1 2002:7f00:1:: 2002:a9fe:a9fe:: 2001:0:5ef5:79fd::1 fe80::1 fe80::1%lo fd00:ec2::254 fd20:ce::254 ff02::1 2001:db8::1 ::ffff:0:127.0.0.1 localhost 127.1 2130706433 0x7f.1'.split(
      ' ',
    );
  for (const address of refused) t.equal(isPublicAddress(address), false, address);
  const open =
    '8.8.8.8 1.1.1.1 172.32.0.1 100.128.0.1 2606:4700:4700::1111 ::ffff:8.8.8.8 64:ff9b::808:808'.split(' ');
  for (const address of open) t.equal(isPublicAddress(address), true, address);
  t.end();
});

t.test('an allow list accepts ranges, addresses and host names, and refuses lookalikes', (t) => {
  const parsed = parseAllowList([
    '127.0.0.0/8',
    '::1',
    '10.1.2.3',
    'fd00::/8',
    'Scorer.Internal',
    'localhost',
  ]);
  t.ok('allow' in parsed);
  if (!('allow' in parsed)) return t.end();
  const { allow } = parsed;
  for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '::1', '10.1.2.3', 'fd12::1', '8.8.8.8']) {
    t.ok(allow.admits(address), address);
  }
  for (const address of ['10.1.2.4', '::2', 'fe80::1', '169.254.169.254', 'scorer.internal', '']) {
    t.notOk(allow.admits(address), address);
  }
  t.ok(allow.hasHost('SCORER.internal.'));
  t.notOk(allow.hasHost('a.scorer.internal'));
  for (const entry of [
    '',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0/8',
    '10.0.0.0/8/8',
    '::/129',
    'http://x',
    'a b',
    '*.x',
    '127.1',
    '0x7f000001',
    'a:80',
    '[::1]',
    'fe80::1%lo',
  ]) {
    t.same(parseAllowList([entry]), { badEntry: entry }, entry);
  }
  t.equal(isInRanges('nothing', [parseRange('0.0.0.0/0')!]), false);
  t.end();
});
