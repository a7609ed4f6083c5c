/** The link that `npm start` and `npm start -- login-link` print. */
import t from 'tap';
import { takeLoginToken } from '#platform/browser-sessions/mod.ts';
import { createKey, revokeKey } from '#platform/keys/mod.ts';
import { loginLinkCommand } from '../../../supervisor/commands/login-link.ts';
import { greeting } from '../../../supervisor/greeting.ts';
import { dashboardAddress, makeLoginLink, takesLogin } from '../../../supervisor/login-link.ts';
import { configOf, createWorld } from '../../support/world.ts';

const ADDRESS = 'http://127.0.0.1:8585';

t.test('a link logs in as the oldest key that works, can read and is confined to no paths', async (t) => {
  const { sql, organization } = await createWorld(t);
  const { organizationId } = await organization();
  const link = () => makeLoginLink(sql, { address: ADDRESS, key: null, nowMs: Date.now() });
  t.equal(await link(), null, 'there is no key');
  const make = async (wanted: Partial<Parameters<typeof createKey>[1]>) =>
    (await createKey(sql, { organizationId, scopes: ['read'], ...wanted })).record.keyId;
  await make({ scopes: ['gateway', 'write'] });
  await make({ paths: ['/v1/request/*'] });
  await make({ expiresAt: new Date(Date.now() - 1_000) });
  await revokeKey(sql, await make({}));
  t.equal(await link(), null, 'none of these keys will do');
  const first = await make({});
  await make({});
  const text = await link();
  t.match(text, /^http:\/\/127\.0\.0\.1:8585\/#login=[\w-]{43}$/);
  const token = text!.split('=')[1]!;
  t.equal(await takeLoginToken(sql, token, Date.now()), first);
  t.equal(await takeLoginToken(sql, token, Date.now()), null, 'it works once');
});

t.test('a link can be made for a key by its id or prefix, and not for one that cannot log in', async (t) => {
  const { sql, organization } = await createWorld(t);
  const { organizationId } = await organization();
  const linkFor = (key: string) => makeLoginLink(sql, { address: ADDRESS, key, nowMs: Date.now() });
  const { record } = await createKey(sql, { organizationId, scopes: ['read'] });
  t.match(await linkFor(record.keyId), '#login=');
  t.match(await linkFor(record.prefix), '#login=');
  const writer = await createKey(sql, { organizationId, scopes: ['write'] });
  await t.rejects(linkFor(writer.record.keyId), { message: /lacks the scope read/ });
  await revokeKey(sql, record.keyId);
  await t.rejects(linkFor(record.keyId), { message: /is revoked or has expired/ });
  await t.rejects(linkFor('nobody'), { code: 'not_found' });
});

t.test('a link is made where a log-in is taken, and leads to PUBLIC_URL where that is set', async (t) => {
  const cases: [api: string, publicUrl: string | null, takes: boolean, address: string][] = [
    ['http://127.0.0.1:8585', null, true, 'http://127.0.0.1:8585'],
    ['http://localhost:8585', null, true, 'http://localhost:8585'],
    ['http://0.0.0.0:8585', null, true, 'http://127.0.0.1:8585'],
    ['http://[::]:8585', null, true, 'http://[::1]:8585'],
    ['http://192.168.1.5:8585', null, false, 'http://192.168.1.5:8585'],
    ['https://assay.internal:8585', null, false, 'https://assay.internal:8585'],
    ['http://0.0.0.0:8585', 'https://assay.example.com', true, 'https://assay.example.com'],
  ];
  for (const [api, publicUrl, takes, address] of cases) {
    t.equal(takesLogin({ publicUrl }, api), takes, api);
    t.equal(dashboardAddress({ publicUrl }, api), address);
  }
});

t.test('the command says why there can be no link', async (t) => {
  const run = () => Promise.reject(new Error('no database is needed'));
  const cases = [
    [{ API_DASHBOARD: 'false' }, ADDRESS, /^API_DASHBOARD is false/],
    [{ API_PORT: '0' }, 'http://127.0.0.1:0', /^API_PORT is 0/],
    [{}, 'http://192.168.1.5:8585', /^HOST is not loopback/],
  ] as const;
  for (const [environment, api, message] of cases) {
    const command = loginLinkCommand(run, () => ({ config: configOf(environment), api }));
    await t.rejects(command.parseAsync([], { from: 'user' }), { message });
  }
});

t.test('the greeting shows the dashboard in a line of its own, and none without a dashboard', async (t) => {
  const { providers } = configOf({});
  const shown = { gateway: 'http://127.0.0.1:8787', api: ADDRESS, newKey: null, providers };
  const link = `${ADDRESS}/#login=abc   (logs in: works once, for 10 minutes)`;
  t.match(greeting({ ...shown, dashboard: link }), `\n  dashboard  ${link}\n`);
  t.notMatch(greeting({ ...shown, dashboard: null }), 'dashboard');
});
