// Assembles the image: `node scripts/image/build.mjs packages node_modules` installs into the checkout what is bundled and what
// bundles, and `… program <directory>` makes what the image holds: the program and the dashboard, bundled, with the files that
// they read. The Dockerfile calls both, and so do tests, which need no container engine. Plain JavaScript, like setup.mjs.
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
import { dirname, join, resolve } from 'node:path';
import { buildDashboard } from '../dashboard/build.mjs';
import { buildProgram, UNBUNDLED } from '../program/build.mjs';

const root = join(import.meta.dirname, '../..');

/** What the program reads beside its bundle, and what is read by people. */
const FILES = [
  'LICENSE',
  'api/downloads',
  'package.json',
  'dashboard/dist',
  'dist',
  'evaluators/python',
  'platform/postgres/functions',
  'platform/postgres/migrations',
];
/** Maps of the bundles, sources that are in them, and caches that a Python run by hand leaves behind. */
const UNUSED = /\.map$|\.ts$|__pycache__$/;
const LICENSE = /^(?:(?:un)?licen[cs]e|copying|notice)/i;

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

/** Makes the files readable for every user, whatever the umask of the checkout: the image's user did not build it. */
function openToAll(directory) {
  let bytes = 0;
  for (const name of readdirSync(directory, { recursive: true })) {
    const path = join(directory, name);
    const found = statSync(path);
    chmodSync(path, found.isDirectory() ? 0o755 : 0o644);
    if (found.isFile()) bytes += found.size;
  }
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

/**
 * Installs the packages that are bundled, and the bundler, in their locked versions, by a project with nothing else: all packages
 * of development are a gigabyte. npm may take packages from its cache, so that tests pass without a network; the lock's digests
 * hold either way.
 */
function installPackages(directory) {
  const lock = readJson('package-lock.json');
  const names = [
    ...Object.keys(readJson('package.json').dependencies),
    ...readJson('scripts/dashboard/packages.json'),
  ];
  const locked = [...new Set(names)].map((name) => [name, lock.packages[`node_modules/${name}`].version]);
  const project = { name: 'bundler', private: true, dependencies: Object.fromEntries(locked) };
  const packages = { ...lock.packages, '': project };
  // Beside the place: in the checkout npm would install its own packages.
  const place = `${directory}.project`;
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), JSON.stringify(project));
  writeFileSync(join(place, 'package-lock.json'), JSON.stringify({ ...lock, name: 'bundler', packages }));
  npm(place, ['install', '--ignore-scripts', '--prefer-offline', ...QUIET]);
  const installed = installedPackages(place);
  const wrong = [...installed].filter(([path, version]) => lock.packages[path]?.version !== version);
  const missing = locked.filter(([name]) => !installed.has(`node_modules/${name}`));
  if (wrong.length + missing.length > 0)
    fail(`The installed packages are not the locked ones: ${[...missing, ...wrong].join(', ')}`);
  renameSync(join(place, 'node_modules'), directory);
  rmSync(place, { recursive: true });
  npm(root, ['run', '--silent', 'postinstall']);
  return `${installed.size} packages to bundle`;
}

/** Copies the licences of all that may be bundled, which has to be passed on with them. A package without one names it. */
function copyLicenses(directory) {
  for (const path of installedPackages(root).keys()) {
    const files = readdirSync(join(root, path)).filter((name) => LICENSE.test(name));
    const place = join(directory, path.replaceAll('node_modules/', ''));
    for (const name of files.length === 0 ? ['package.json'] : files)
      cpSync(join(root, path, name), join(place, name), { recursive: true });
  }
  // The image has Node's program as well; the official images have its licence here.
  const ofNode = join(dirname(process.execPath), '../LICENSE');
  if (existsSync(ofNode)) cpSync(ofNode, join(directory, 'node/LICENSE'));
}

async function makeProgram(directory) {
  await buildDashboard();
  await buildProgram();
  const filter = (path) => !UNUSED.test(path);
  // The embedded PostgreSQL is not in the image.
  const unbundled = UNBUNDLED.map((name) => `node_modules/${name}`).filter((path) =>
    existsSync(join(root, path)),
  );
  const paths = [...FILES, ...unbundled];
  for (const path of paths) cpSync(join(root, path), join(directory, path), { recursive: true, filter });
  copyLicenses(join(directory, 'licenses'));
  return `the program, ${openToAll(directory)}`;
}

const [step, directory] = process.argv.slice(2);
const build = { packages: installPackages, program: makeProgram }[step];
if (build === undefined || directory === undefined) {
  fail('Usage: node scripts/image/build.mjs packages|program <directory>');
}
if (existsSync(directory) && readdirSync(directory).length > 0) fail(`${directory} is not empty`);
process.stdout.write(`${await build(resolve(directory))}\n`);
