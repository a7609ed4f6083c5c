// Installs the locked dependencies and bundles the dashboard and the program, each when it is missing or out of date, so that `npm start` and
// `npm test` need no step before them. Plain JavaScript that runs under whatever Node the machine has.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const stamp = join(modules, '.assay-lock');
/** Named `package+version.patch`, with `+` for `/` in a scope; the install's `postinstall` script applies them. */
const patches = readdirSync(join(root, 'patches')).sort();

const digest = createHash('sha256');
for (const file of ['package-lock.json', ...patches.map((name) => join('patches', name))]) {
  digest.update(readFileSync(join(root, file)));
}
const wanted = digest.digest('hex');
const installed = existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;

if (!installed) {
  process.stderr.write('Installing dependencies (first run, about a minute) …\n');
  // A patch applies to the published package, not to one that an earlier patch changed: npm installs these again.
  for (const name of patches) {
    const directory = name.slice(0, name.lastIndexOf('+')).replace('+', '/');
    rmSync(join(modules, directory), { recursive: true, force: true });
  }
  // Not `npm ci`: it refuses a lock file made where the registry has not every platform's optional packages. This
  // installs the locked versions too, and writes neither package.json nor the lock.
  const npm = spawnSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (npm.status !== 0) {
    process.stderr.write('Cannot install the dependencies: npm install failed; its message is above\n');
    process.exit(1);
  }
  writeFileSync(stamp, wanted);
}

await import('./build-dashboard.mjs');
await import('./build-program.mjs');
