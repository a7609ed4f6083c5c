import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Account } from './account.ts';

/** The major version of the binaries in package.json, which cannot open a cluster of another major version. */
const MAJOR_VERSION = '18';
export const SUPERUSER = 'assay';

/** Returns the superuser's password: made once, readable only by the owner of the data directory. */
function readOrMakePassword(dataDir: string): string {
  const path = join(dataDir, 'postgres.password');
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  const password = randomBytes(24).toString('base64url');
  writeFileSync(path, `${password}\n`, { mode: 0o600 });
  return password;
}

function refuseOtherVersion(cluster: string): void {
  const version = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  if (version === MAJOR_VERSION) return;
  throw new Error(
    `${cluster} was made by PostgreSQL ${version}, but this build of Assay contains ${MAJOR_VERSION}: ` +
      'dump it with the build that made it, and restore it into a new DATA_DIR',
  );
}

function runInitdb(account: Account, initdb: string, cluster: string, passwordFile: string): Promise<void> {
  const parameters = [
    `--pgdata=${cluster}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Unicode rules from PostgreSQL itself: the same on every system, and no locale need be installed on it.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-instructions',
  ];
  const { command, parameters: all, ...ids } = account.run(initdb, parameters);
  return new Promise((resolve, reject) => {
    const child = spawn(command, all, { ...ids, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
    let complaint = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      complaint += chunk.toString();
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`Cannot make a PostgreSQL cluster in ${cluster}: ${complaint.trim()}`));
    });
  });
}

/**
 * Makes the cluster of a data directory unless it exists, and returns its path and its superuser's password. A cluster is
 * made under another name and renamed when it is complete, so that an interrupted start leaves nothing half made.
 */
export async function initialize(
  dataDir: string,
  account: Account,
  initdb: string,
): Promise<{ cluster: string; password: string }> {
  const cluster = join(dataDir, 'postgres');
  const password = readOrMakePassword(dataDir);
  if (existsSync(cluster)) {
    refuseOtherVersion(cluster);
    return { cluster, password };
  }
  const unfinished = join(dataDir, 'postgres.new');
  const passwordFile = join(dataDir, 'postgres.password.new');
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  account.own(unfinished);
  account.own(passwordFile);
  try {
    await runInitdb(account, initdb, unfinished, passwordFile);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(unfinished, cluster);
  return { cluster, password };
}
