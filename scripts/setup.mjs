// Installs the locked dependencies when they are missing or out of date, so that `npm start` and `npm test` need no
// step before them. Plain JavaScript that runs under whatever Node the machine has.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { patchPostgres } from './patch-postgres.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'node_modules', '.assay-lock');
const digest = createHash('sha256');
for (const file of ['package-lock.json', 'scripts/patch-postgres.mjs'])
  digest.update(readFileSync(join(root, file)));
const wanted = digest.digest('hex');
const installed = existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;

if (!installed) {
  process.stderr.write('Installing dependencies (first run, about a minute) …\n');
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
  patchPostgres(pathToFileURL(`${root}/`));
  writeFileSync(stamp, wanted);
}
