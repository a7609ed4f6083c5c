// Assembles the image in two layers: `node scripts/image/build.mjs dependencies <directory>` installs the dependencies of
// production, `… sources <directory>` copies the sources and the dashboard, bundled from them. Before that `… bundler node_modules`
// installs what is bundled and what bundles into the checkout, which is not in the image. The Dockerfile calls all three, and so do tests, which need no
// container engine. Plain JavaScript, like setup.mjs.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { buildDashboard } from '../dashboard/build.mjs';

const root = join(import.meta.dirname, '../..');

/** The sources in the image, which run without a build, and the dashboard as browsers get it. */
const SOURCES = [
  'LICENSE',
  'package.json',
  'main.ts',
  'core',
  'platform',
  'gateway',
  'api',
  'ingest',
  'sinks',
  'evaluators',
  'supervisor',
  'dashboard/dist',
  'scripts/image/healthcheck.ts',
];

/** Files of packages that no program reads at run time. */
const UNUSED = [
  /\.d\.[cm]?ts$/,
  /\.map$/,
  /\.test\.[a-z]+$/,
  /\/\.[^/]+$/,
  /\/node_modules\/(?:@[^/]+\/)?[^/]+\/(?:tests?|benchmarks?)$/,
  // Three times the size of its files that are used.
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

/** Makes the files readable for every user, whatever the umask of the checkout: the image's user did not build it. */
function openToAll(directory) {
  let bytes = 0;
  walk(directory, (path) => {
    const found = statSync(path);
    chmodSync(path, found.isDirectory() ? 0o755 : 0o644);
    if (found.isFile()) bytes += found.size;
  });
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Returns the packages below `directory`: `node_modules/name` to version. */
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

const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));

/** Returns the lock file's packages of production: without those of development and the embedded PostgreSQL. */
function lockedPackages() {
  const { packages } = readJson('package-lock.json');
  const needed = Object.entries(packages).filter(
    ([place, { dev, optional, devOptional }]) => place !== '' && !dev && !optional && !devOptional,
  );
  return new Map(needed.map(([place, { version }]) => [place, version]));
}

/** Checks that npm has installed exactly the locked packages. */
function requireLocked(directory) {
  const installed = installedPackages(directory);
  const locked = lockedPackages();
  const missing = [...locked].filter(([place, version]) => installed.get(place) !== version);
  const others = [...installed].filter(([place, version]) => locked.get(place) !== version);
  if (missing.length + others.length === 0) return;
  const list = (entries) => entries.map(([place, version]) => `${place} ${version}`).join(', ') || 'nothing';
  fail(`The installed packages are not the locked ones: ${list(missing)} missing, ${list(others)} beyond`);
}

const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

function npm(directory, parameters) {
  const { status } = spawnSync('npm', parameters, {
    cwd: directory,
    // patch-package then skips patches of development packages.
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
  // Not `npm ci`, for the reason in setup.mjs. No package of production has an install script. npm may take packages from its
  // cache, so that tests pass without a network; the lock's digests hold either way.
  const flags = [
    '--no-save',
    '--omit=dev',
    '--omit=optional',
    '--ignore-scripts',
    '--prefer-offline',
    ...QUIET,
  ];
  npm(directory, ['install', ...flags]);
  requireLocked(directory);
  npm(directory, ['run', '--silent', 'postinstall']);
  // patch-package would add 3.2 MB to the image, which does not need it again.
  npm(directory, ['uninstall', ...flags, 'patch-package']);
  const count = installedPackages(directory).size;
  walk(directory, (path) => {
    const isUnused = UNUSED.some((pattern) => pattern.test(path));
    // npm leaves the empty directory of a scope when it removes the packages in it.
    const isEmpty = !isUnused && statSync(path).isDirectory() && readdirSync(path).length === 0;
    if (isUnused || isEmpty) rmSync(path, { recursive: true });
  });
  for (const path of inputs) rmSync(join(directory, path), { recursive: true });
  return `${count} packages, ${openToAll(directory)}`;
}

/**
 * Installs the packages that are bundled, and the bundler, in their locked versions, by a project with nothing else: 29 MB,
 * where all packages of development are a gigabyte.
 */
function installBundler(directory) {
  const lock = readJson('package-lock.json');
  const locked = readJson('scripts/dashboard/packages.json').map((name) => [
    name,
    lock.packages[`node_modules/${name}`].version,
  ]);
  const project = { name: 'bundler', private: true, dependencies: Object.fromEntries(locked) };
  const packages = { ...lock.packages, '': project };
  // Beside the place: in the checkout npm would install its own packages.
  const place = `${directory}.project`;
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), JSON.stringify(project));
  writeFileSync(join(place, 'package-lock.json'), JSON.stringify({ ...lock, name: 'bundler', packages }));
  npm(place, ['install', '--ignore-scripts', '--prefer-offline', ...QUIET]);
  const installed = installedPackages(place);
  const wrong = locked.filter(([name, version]) => installed.get(`node_modules/${name}`) !== version);
  if (wrong.length > 0) fail(`The bundler's packages are not the locked ones: ${wrong.join(', ')}`);
  renameSync(join(place, 'node_modules'), directory);
  rmSync(place, { recursive: true });
  return `${installed.size} packages to bundle`;
}

async function buildSources(directory) {
  await buildDashboard();
  // Caches that a Python run by hand leaves beside its sources.
  const filter = (path) => !path.endsWith('__pycache__');
  for (const path of SOURCES) cpSync(join(root, path), join(directory, path), { recursive: true, filter });
  return `sources, ${openToAll(directory)}`;
}

const [step, directory] = process.argv.slice(2);
const build = { dependencies: buildDependencies, bundler: installBundler, sources: buildSources }[step];
if (build === undefined || directory === undefined) {
  fail('Usage: node scripts/image/build.mjs dependencies|bundler|sources <directory>');
}
if (existsSync(directory) && readdirSync(directory).length > 0) fail(`${directory} is not empty`);
process.stdout.write(`${await build(resolve(directory))}\n`);
