// Puts together what the image holds, in two layers: `node scripts/image/build.mjs dependencies <directory>` installs
// what production needs, `… sources <directory>` copies what runs. The Dockerfile calls it, and so do the tests, where
// no container engine is at hand. Plain JavaScript, as setup.mjs is.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** What runs. It runs as it is: nothing is built. */
const SOURCES = [
  'LICENSE',
  'package.json',
  'main.ts',
  'core',
  'platform',
  'gateway',
  'api',
  'ingest',
  'evaluators',
  'supervisor',
  'scripts/image/healthcheck.ts',
];

/** Of packages, what no program reads when it runs. */
const UNUSED = [
  /\.d\.[cm]?ts$/,
  /\.map$/,
  /\.test\.[a-z]+$/,
  /\/\.[^/]+$/,
  /\/node_modules\/(?:@[^/]+\/)?[^/]+\/(?:tests?|benchmarks?)$/,
  // Three times what is used of it.
  /\/gpt-tokenizer\/(?:cjs|data|src)$/,
];

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

/** Calls `visit` with every path below `directory`, each directory before what is in it. */
function walk(directory, visit) {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    visit(path);
    if (existsSync(path) && statSync(path).isDirectory()) walk(path, visit);
  }
}

/** Another user than the one who builds reads the files, whatever the umask of the checkout was. */
function openToAll(directory) {
  let bytes = 0;
  walk(directory, (path) => {
    const found = statSync(path);
    chmodSync(path, found.isDirectory() ? 0o755 : 0o644);
    if (found.isFile()) bytes += found.size;
  });
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** The packages below `directory`, as `node_modules/name` to version. */
function installedPackages(directory, prefix = '') {
  const found = new Map();
  const modules = join(directory, prefix, 'node_modules');
  if (!existsSync(modules)) return found;
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((part) => `${name}/${part}`) : [name],
  );
  for (const name of names.filter((name) => !name.startsWith('.'))) {
    const place = `${prefix}node_modules/${name}`;
    found.set(place, JSON.parse(readFileSync(join(directory, place, 'package.json'), 'utf8')).version);
    for (const [inner, version] of installedPackages(directory, `${place}/`)) found.set(inner, version);
  }
  return found;
}

/** Of the lock file, what production needs: neither development's packages nor the embedded PostgreSQL. */
function lockedPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const needed = Object.entries(packages).filter(
    ([place, { dev, optional, devOptional }]) => place !== '' && !dev && !optional && !devOptional,
  );
  return new Map(needed.map(([place, { version }]) => [place, version]));
}

/** npm is believed for nothing: what lies there must be the locked packages, all of them, and no other. */
function requireLocked(directory) {
  const installed = installedPackages(directory);
  const locked = lockedPackages();
  const missing = [...locked].filter(([place, version]) => installed.get(place) !== version);
  const others = [...installed].filter(([place, version]) => locked.get(place) !== version);
  if (missing.length + others.length === 0) return;
  const list = (entries) => entries.map(([place, version]) => `${place} ${version}`).join(', ') || 'nothing';
  fail(`The installed packages are not the locked ones: ${list(missing)} missing, ${list(others)} beyond`);
}

function npm(directory, parameters) {
  const { status } = spawnSync('npm', parameters, {
    cwd: directory,
    // patch-package passes over patches of development's packages then.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0)
    fail(`Cannot install the dependencies: npm ${parameters[0]} failed; its message is above`);
}

function buildDependencies(directory) {
  mkdirSync(directory, { recursive: true });
  const inputs = ['package.json', 'package-lock.json', 'patches'];
  for (const path of inputs) cpSync(join(root, path), join(directory, path), { recursive: true });
  // Not `npm ci`, for setup.mjs's reason. No package that production needs has a script to run. What npm has kept it
  // need not ask for, so that tests pass without a network; the lock's digests hold either way.
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const flags = [
    '--no-save',
    '--omit=dev',
    '--omit=optional',
    '--ignore-scripts',
    '--prefer-offline',
    ...quiet,
  ];
  npm(directory, ['install', ...flags]);
  requireLocked(directory);
  npm(directory, ['run', '--silent', 'postinstall']);
  // 3.2 MB of the image's size, and nothing in it is needed again.
  npm(directory, ['uninstall', ...flags, 'patch-package']);
  const count = installedPackages(directory).size;
  walk(directory, (path) => {
    const isUnused = UNUSED.some((pattern) => pattern.test(path));
    // npm leaves the directory of a scope behind, empty, when it removes the packages in it.
    const isEmpty = !isUnused && statSync(path).isDirectory() && readdirSync(path).length === 0;
    if (isUnused || isEmpty) rmSync(path, { recursive: true });
  });
  for (const path of inputs) rmSync(join(directory, path), { recursive: true });
  return `${count} packages, ${openToAll(directory)}`;
}

function buildSources(directory) {
  // What a Python that was tried out by hand leaves beside its sources.
  const filter = (path) => !path.endsWith('__pycache__');
  for (const path of SOURCES) cpSync(join(root, path), join(directory, path), { recursive: true, filter });
  return `sources, ${openToAll(directory)}`;
}

const [step, directory] = process.argv.slice(2);
const build = { dependencies: buildDependencies, sources: buildSources }[step];
if (build === undefined || directory === undefined) {
  fail('Usage: node scripts/image/build.mjs dependencies|sources <directory>');
}
if (existsSync(directory) && readdirSync(directory).length > 0) fail(`${directory} is not empty`);
process.stdout.write(`${build(resolve(directory))}\n`);
