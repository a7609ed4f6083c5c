/** The program's bundle, made of a copy of the sources. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';

const ROOT = join(import.meta.dirname, '../../..');
const COPIED = [
  'main.ts',
  'package.json',
  'package-lock.json',
  'patches',
  'core',
  'platform',
  'gateway',
  'api',
  'ingest',
  'sinks',
  'evaluators',
  'supervisor',
  'scripts',
];

/** Copies the sources, and returns what builds and runs their bundle. */
function copySources(t: Test) {
  const root = t.testdir();
  for (const path of COPIED) cpSync(join(ROOT, path), join(root, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const node = (...parameters: string[]) =>
    execFileSync(process.execPath, parameters, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  return {
    root,
    build: () => node('scripts/build-program.mjs'),
    /** Builds in a process of its own; returns how that ended. */
    buildBeside: async () => {
      const child = spawn(process.execPath, ['scripts/build-program.mjs'], { cwd: root, stdio: 'ignore' });
      const [code] = await once(child, 'exit');
      return code;
    },
    /** The directories of builds, the one that runs first. */
    builds: () => {
      const [, latest = ''] = /'\.\/(\w+)\/main\.js'/.exec(readFileSync(join(root, 'dist/main.js'), 'utf8'))!;
      const directories = readdirSync(join(root, 'dist'), { withFileTypes: true }).filter((one) =>
        one.isDirectory(),
      );
      const others = directories.map(({ name }) => name).filter((name) => name !== latest);
      return [latest, ...others];
    },
    help: () => node('--disable-warning=ExperimentalWarning', 'dist/main.js', '--help'),
    version: () => node('--disable-warning=ExperimentalWarning', 'dist/main.js', '--version'),
  };
}

t.test('the bundle follows the sources, and the one before stays for a program that runs', async (t) => {
  const { root, build, builds, help, version } = copySources(t);
  build();
  const [first] = builds();
  t.same(builds(), [first]);
  t.match(help(), /An LLM gateway/);
  t.equal(version(), `${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version}\n`);

  writeFileSync(join(root, 'core', 'unrelated.ts'), 'export {};\n');
  build();
  t.same(builds(), [first], 'a source that the program does not import changes nothing');

  const main = join(root, 'main.ts');
  writeFileSync(main, readFileSync(main, 'utf8').replace('An LLM gateway', 'Another gateway'));
  build();
  const [second] = builds();
  t.same(builds(), [second, first]);
  t.match(help(), /Another gateway/);

  appendFileSync(main, '// A third.\n');
  const longAgo = new Date(Date.now() - 2 * 86_400_000);
  for (const old of [first, second]) utimesSync(join(root, 'dist', old!), longAgo, longAgo);
  build();
  const [third] = builds();
  t.same(builds(), [third, second], 'of older ones the latest stays');
});

t.test('two that build at the same time make one bundle, and both find it', async (t) => {
  const { buildBeside, builds, help } = copySources(t);
  t.same(await Promise.all([buildBeside(), buildBeside()]), [0, 0]);
  t.equal(builds().length, 1);
  t.match(help(), /An LLM gateway/);
});

t.test('a source that does not compile ends with its place, and the bundle stays as it was', async (t) => {
  const { root, build, builds, help } = copySources(t);
  build();
  const before = builds();
  appendFileSync(join(root, 'main.ts'), 'const = 1;\n');
  t.throws(build, /main\.ts:\d+:6:[\s\S]*Cannot bundle the program/);
  t.same(builds(), before);
  t.match(help(), /An LLM gateway/);
});

t.test('a part of undici that the bundle does not load ends with its name', async (t) => {
  const { root, build } = copySources(t);
  const client = join(root, 'platform/outbound/client.ts');
  writeFileSync(client, readFileSync(client, 'utf8').replace('{ Agent, ', '{ Agent, RetryAgent, '));
  t.throws(build, /does not name the part "RetryAgent" of undici/);
});
