import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type DatabaseAddress, readDatabaseAddress } from '#platform/postgres/address/mod.ts';
import { certificateFiles, makeCertificate } from '../../../support/make-certificate.ts';

function addressOf(text: string): DatabaseAddress {
  const reading = readDatabaseAddress(text);
  if ('problem' in reading) throw new Error(reading.problem);
  return reading.value;
}

function problemOf(text: string): string | null {
  const reading = readDatabaseAddress(text);
  return 'problem' in reading ? reading.problem : null;
}

const files = certificateFiles(makeCertificate('db.test'));
t.teardown(files.remove);

t.test('the parts of an address are what libpq takes them for', (t) => {
  const cases: [string, Partial<DatabaseAddress>][] = [
    [
      'postgres://u:p@h:6000/d',
      { host: ['h'], port: [6000], user: 'u', password: 'p', database: 'd', ssl: false },
    ],
    ['postgresql://h', { host: ['h'], port: [5432], user: undefined, database: undefined }],
    ['postgres://u:a%40b%2Fc%25:d@h/My%20db', { user: 'u', password: 'a@b/c%:d', database: 'My db' }],
    ['postgres://u:p@ss@h/d', { host: ['h'], password: 'p@ss' }],
    ['postgres://u@[::1]:6000/d', { host: ['::1'], port: [6000] }],
    ['postgres://u@[fd00::5]/d', { host: ['fd00::5'], port: [5432] }],
    ['postgres://u@/d?host=/run/pg&port=6000', { path: '/run/pg/.s.PGSQL.6000', user: 'u' }],
    ['postgres://%2Frun%2Fpg/d', { path: '/run/pg/.s.PGSQL.5432', database: 'd' }],
    ['postgres://%2Frun%2Fpg/d?sslmode=require', { ssl: false }],
    ['postgres:///?user=u&password=p&dbname=d&host=h', { host: ['h'], user: 'u', password: 'p' }],
    ['postgres://h/d?sslmode=prefer', { ssl: 'prefer' }],
    ['postgres://h/d?sslmode=allow', { ssl: 'prefer' }],
    ['postgres://h/d?ssl=false', { ssl: false }],
    [
      'postgres://h/d?connect_timeout=3&keepalives=1&application_name=x&target_session_attrs=read-write&search_path=x',
      { settings: { search_path: 'x' } },
    ],
  ];
  for (const [text, expected] of cases) t.match(addressOf(text), expected, text);
  t.end();
});

t.test('certificates are checked as sslmode says', (t) => {
  const root = `sslrootcert=${files.certFile}`;
  const cases: [string, { rejectUnauthorized: boolean; checksName: boolean }][] = [
    ['sslmode=require', { rejectUnauthorized: false, checksName: false }],
    [`sslmode=require&${root}`, { rejectUnauthorized: true, checksName: false }],
    [`sslmode=verify-ca&${root}`, { rejectUnauthorized: true, checksName: false }],
    [`sslmode=verify-full&${root}`, { rejectUnauthorized: true, checksName: true }],
    ['sslmode=verify-full&sslrootcert=system', { rejectUnauthorized: true, checksName: true }],
    ['ssl=true', { rejectUnauthorized: true, checksName: true }],
  ];
  for (const [query, { rejectUnauthorized, checksName }] of cases) {
    const { ssl } = addressOf(`postgres://127.0.0.1/d?${query}`);
    if (typeof ssl !== 'object') throw new Error(`${query} gives no TLS`);
    t.equal(ssl.rejectUnauthorized, rejectUnauthorized, query);
    const other = { subject: { CN: 'localhost' }, subjectaltname: 'DNS:localhost' } as never;
    t.equal(ssl.checkServerIdentity?.('localhost', other) instanceof Error, checksName, query);
  }
  t.end();
});

t.test('what cannot be used is named, without a secret', (t) => {
  const noPem = join(files.certFile, '..', 'no.pem');
  writeFileSync(noPem, 'hello');
  t.teardown(() => rmSync(noPem, { force: true }));
  const other = certificateFiles(makeCertificate('other.test'));
  t.teardown(other.remove);
  const cases: [string, RegExp][] = [
    ['mysql://h/d', /^must be an address like/],
    ['h:5432', /^must be an address like/],
    ['postgres://u:secret%zz@h/d', /^must be an address like .*%40 for @$/],
    ['postgres://u:sec#ret@h/d', /^must be an address like .*%40 for @$/],
    ['postgres://u:secret@h:99999/d', /^must have a port from 1 to 65535$/],
    ['postgres://u:secret@a:1,b:2/d', /^must name one host/],
    ['postgres://u:secret@a,b/d', /^must name one host/],
    ['postgres://u:secret@h/d?sslmode=yes', /^must have as sslmode one of disable, /],
    ['postgres://u:secret@h/d?sslmode=prefer&sslrootcert=/x', /^has sslrootcert, which needs sslmode=/],
    [
      'postgres://u:secret@h/d?sslmode=verify-full&sslrootcert=/no/such',
      /^has as sslrootcert no file .*ENOENT/,
    ],
    [`postgres://h/d?sslmode=verify-full&sslrootcert=${noPem}`, /^has as sslrootcert no file/],
    ['postgres://h/d?sslkey=/x', /^has sslkey, which needs sslcert$/],
    [`postgres://h/d?sslcert=${files.certFile}`, /^has sslcert, which needs sslmode=/],
    [
      `postgres://h/d?sslmode=require&sslcert=${files.certFile}&sslkey=${other.keyFile}`,
      /^has an sslkey that cannot be used/,
    ],
    ['postgres://h/d?channel_binding=require', /^has the parameter channel_binding, /],
    ['postgres://h/d?sslcrl=/x', /^has the parameter sslcrl, /],
  ];
  for (const [text, problem] of cases) {
    t.match(problemOf(text), problem, text);
    t.notMatch(problemOf(text), /secret/, text);
  }
  t.end();
});
