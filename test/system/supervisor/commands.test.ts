import t, { type Test } from 'tap';
import { runMain, startAssay, temporaryDataDir } from '../../support/assay.ts';
import { databaseFor } from '../../support/world.ts';

type Environment = Record<string, string>;

async function command(environment: Environment, ...parameters: string[]) {
  const run = runMain(parameters, environment);
  const { code } = await run.ended;
  return { code, stdout: run.stdout(), stderr: run.stderr() };
}

/** Makes, lists and revokes keys and organizations, wherever the database is. */
async function exercise(t: Test, environment: Environment): Promise<void> {
  const created = await command(
    environment,
    'keys',
    'create',
    '--organization',
    'acme',
    '--scopes',
    'gateway,read',
  );
  t.equal(created.code, 0, created.stderr);
  const [key = ''] = created.stdout.split('\n');
  t.match(key, /^sk-assay-[0-9A-Za-z]{43}$/, 'the key is the first line');

  const listed = await command(environment, 'keys', 'list', '--organization', 'acme');
  t.match(listed.stdout, new RegExp(`${key.slice(0, 12)} .*acme .*gateway,read`));
  t.notMatch(listed.stdout, key, 'the key itself is not shown again');

  const tier = await command(environment, 'organizations', 'set-tier', 'acme', 'pro');
  t.match(tier.stdout, /acme .*tier pro, logs per 5 s: 8334/);
  const budget = (usd: string) => command(environment, 'organizations', 'set-evaluation-budget', 'acme', usd);
  t.match((await budget('2.50')).stdout, /acme .*judges may cost a day: 2\.5 USD\n$/);
  t.match((await budget('0.000000001')).stdout, /: 1e-9 USD\n$/);
  t.match((await budget('none')).stdout, /: no limit\n$/);
  const organizations = await command(environment, 'organizations', 'list');
  t.match(organizations.stdout, /acme +pro +8334/);

  const keyId = /Key (\S+) of the new organization acme;/.exec(created.stdout)?.[1] ?? '';
  const revoked = await command(environment, 'keys', 'revoke', keyId);
  t.equal(revoked.code, 0, revoked.stderr);
  t.match((await command(environment, 'keys', 'list')).stdout, new RegExp(`${keyId} .*Z +\\d{4}-.*Z`));
}

t.test('keys and organizations are managed through DATABASE_URL', async (t) => {
  const database = await databaseFor(t);
  await exercise(t, { DATABASE_URL: database.url });
});

t.test('API keys are managed in DATA_DIR while Assay is stopped and while it runs', async (t) => {
  const { path: dataDir, remove } = temporaryDataDir();
  t.teardown(remove);
  await exercise(t, { DATA_DIR: dataDir });
  const assay = await startAssay({
    dataDir,
    environment: { BOOTSTRAP_API_KEY: 'an-operators-own-key-0123456789' },
  });
  t.teardown(() => assay.stop());
  t.equal(assay.key, 'an-operators-own-key-0123456789', 'the operator’s key is added to what there is');
  const made = await command(
    { DATA_DIR: dataDir },
    'keys',
    'create',
    '--organization',
    'globex',
    '--scopes',
    'read',
  );
  const [key = ''] = made.stdout.split('\n');
  const query = () =>
    fetch(`${assay.apiUrl}/v1/request/query`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"filter":"all"}',
    }).then((response) => response.status);
  t.equal(await query(), 200, 'a new key is good at once');
  await command({ DATA_DIR: dataDir }, 'keys', 'revoke', /Key (\S+) of/.exec(made.stdout)?.[1] ?? '');
  t.equal(await query(), 401, 'a revoked one no more');
});

t.test('an invalid keys or organizations command is refused with one sentence', async (t) => {
  const database = await databaseFor(t);
  const environment = { DATABASE_URL: database.url };
  const cases: [string[], RegExp][] = [
    [
      ['gatewya'],
      /^error: command-argument value 'gatewya' is invalid.*Allowed choices are gateway, api, ingest, evaluators\.\n$/,
    ],
    [
      ['keys', 'create', '--organization', 'a'],
      /^error: required option '--scopes <scopes>' not specified\n$/,
    ],
    [
      ['keys', 'create', '--organization', 'a', '--scopes', 'all'],
      /^error: .*"all" is not one of gateway, read, write\.\n$/,
    ],
    [
      ['keys', 'create', '--organization', 'a', '--scopes', 'read', '--tier', 'gold'],
      /^error: .*Allowed choices are free, pro, enterprise\.\n$/,
    ],
    [
      ['keys', 'create', '--organization', 'a', '--scopes', 'read', '--logs-per-5s', '0'],
      /^error: .*"0" is not a whole number of at least 1\.\n$/,
    ],
    [['keys', 'revoke', 'sk-assay-xyz'], /^There is no key with the id or prefix "sk-assay-xyz"\n$/],
    [['organizations', 'set-tier', 'nobody', 'pro'], /^There is no organization called "nobody"\n$/],
    [['keys', 'list', '--organization', 'nobody'], /^There is no organization called "nobody"\n$/],
    ...['minus', '1e3', '1000000', '0.0000000001', 'free'].map((usd): [string[], RegExp] => [
      ['organizations', 'set-evaluation-budget', 'nobody', usd],
      /is not a budget: it must be none, or dollars below 1000000 with at most 9 decimals\n$/,
    ]),
    [
      ['organizations', 'set-evaluation-budget', 'nobody', '1'],
      /^There is no organization called "nobody"\n$/,
    ],
    [
      ['organizations', 'set-tier', 'nobody', 'gold'],
      /^"gold" is not a tier: it must be one of free, pro, enterprise\n$/,
    ],
  ];
  for (const [parameters, sentence] of cases) {
    const { code, stderr } = await command(environment, ...parameters);
    t.equal(code, 1, parameters.join(' '));
    t.match(stderr, sentence);
  }
});
