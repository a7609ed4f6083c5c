import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readConfig } from '#platform/config/mod.ts';
import { ensureSecretKey } from '../../../supervisor/secret-key.ts';
import { runMain, sentences } from '../../support/assay.ts';
import { databaseFor } from '../../support/world.ts';

const MODULE = new URL('../../../supervisor/secret-key.ts', import.meta.url).href;

t.test('ensureSecretKey creates a valid SECRET_KEY that only its owner can read', async (t) => {
  const dataDir = join(t.testdir(), 'not', 'yet', 'there');
  const key = ensureSecretKey(dataDir);
  const read = readConfig({ SECRET_KEY: key });
  t.same(read.ok && read.config.secretKeys.map(({ length }) => length), [32]);
  t.equal(statSync(join(dataDir, 'secret.key')).mode & 0o777, 0o600);
  t.equal(readFileSync(join(dataDir, 'secret.key'), 'utf8').trim(), key);
  t.same(readdirSync(dataDir), ['secret.key'], 'and nothing is left beside it');
});

t.test('the secret key is created at the first start and read at every later one', async (t) => {
  const dataDir = t.testdir();
  const key = ensureSecretKey(dataDir);
  t.equal(ensureSecretKey(dataDir), key);
  writeFileSync(join(dataDir, 'secret.key'), `${key}\n`);
  t.equal(ensureSecretKey(dataDir), key, 'also when an editor has ended its line');
});

t.test('each installation has its own secret key', async (t) => {
  const root = t.testdir({ a: {}, b: {} });
  t.not(ensureSecretKey(join(root, 'a')), ensureSecretKey(join(root, 'b')));
});

const GOOD = Buffer.alloc(32, 7).toString('base64');
const CORRUPT: [string, string | Buffer][] = [
  ['is empty, as after a full disk', ''],
  ['was cut', GOOD.slice(0, 40)],
  ['holds more than a key', GOOD + GOOD],
  ['has a character that no key has', `*${GOOD.slice(1)}`],
  ['holds bytes that are no text', Buffer.alloc(44, 0xff)],
];

for (const [what, content] of CORRUPT) {
  t.test(`a secret key file that ${what} is reported in one sentence and left unchanged`, async (t) => {
    const dataDir = t.testdir();
    const path = join(dataDir, 'secret.key');
    writeFileSync(path, content);
    t.throws(() => ensureSecretKey(dataDir), {
      message: `${path} does not hold the key that seals evaluators' secrets and provider keys: restore it from a backup, or delete it and enter them again`,
    });
    t.ok(readFileSync(path).equals(Buffer.from(content)), 'who has a backup can still compare');
  });
}

t.test('Assay does not start with a corrupt secret key file, and says just that', async (t) => {
  const database = await databaseFor(t);
  const dataDir = t.testdir({ 'secret.key': 'no key' });
  const environment = { GATEWAY_PORT: '0', API_PORT: '0', DATA_DIR: dataDir, DATABASE_URL: database.url };
  const run = runMain([], environment);
  t.teardown(() => run.process.kill('SIGKILL'));
  t.same(await run.ended, { code: 1, signal: null });
  t.match(sentences(run.stderr()), [/^\S+secret\.key does not hold the key /]);
});

const DIRECTORIES = 500;

/** A process that on a signal of the test creates the keys of directories 0, 1, 2 … below `root`. */
async function maker(root: string) {
  const program = `
    import { ensureSecretKey } from ${JSON.stringify(MODULE)};
    process.stdout.write('ready');
    process.stdin.once('data', () => {
      const keys = Array.from({ length: ${DIRECTORIES} }, (_, index) => {
        try { return ensureSecretKey(${JSON.stringify(root)} + '/' + index); } catch (error) { return error.message; }
      });
      process.stdout.write(JSON.stringify(keys), () => process.exit());
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return async () => {
    const parts: Buffer[] = [];
    child.stdout.on('data', (part) => parts.push(part));
    child.stdin.write('go');
    await once(child, 'close');
    return JSON.parse(Buffer.concat(parts).toString()) as string[];
  };
}

t.test('processes that start at once read the same complete secret key', async (t) => {
  const root = t.testdir();
  const makers = await Promise.all([maker(root), maker(root), maker(root)]);
  const seen = await Promise.all(makers.map((make) => make()));
  const dataDirs = Array.from({ length: DIRECTORIES }, (_, index) => join(root, String(index)));
  const kept = dataDirs.map((dataDir) => readFileSync(join(dataDir, 'secret.key'), 'utf8').trim());
  for (const keys of seen) {
    t.same(
      keys.filter((key, index) => key !== kept[index]),
      [],
      'all are those that were kept',
    );
  }
  t.equal(new Set(kept).size, DIRECTORIES);
  t.same([...new Set(dataDirs.flatMap((dataDir) => readdirSync(dataDir)))], ['secret.key']);
});
