import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Account } from './account.ts';

/** The major version of the binaries in package.json, which cannot open a cluster of another major version. */
const MAJOR_VERSION = '18';
export const SUPERUSER = 'assay';

/** Returns the superuser's password, as an earlier start has kept it; null where none has, or its disk was full. */
function readPassword(path: string): string | null {
  return (existsSync(path) && readFileSync(path, 'utf8').trim()) || null;
}

/** Makes the superuser's password, readable only by the owner of the data directory; a crash or a full disk leaves no half of it. */
function makePassword(path: string): string {
  const password = randomBytes(24).toString('base64url');
  const draft = `${path}.draft`;
  writeFileSync(draft, `${password}\n`, { mode: 0o600, flush: true });
  renameSync(draft, path);
  return password;
}

/** Names both users: PostgreSQL itself names neither, or says only that a file cannot be read. */
function refuseOtherOwner(cluster: string, account: Account): void {
  const { uid } = statSync(cluster);
  if (account.uid === null || uid === account.uid) return;
  throw new Error(
    `${cluster} belongs to user ${uid}, but PostgreSQL runs as user ${account.uid} here, as after a copy without owners: ` +
      `chown -R ${account.uid} ${cluster}`,
  );
}

function readVersion(cluster: string, account: Account): string {
  try {
    return readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      refuseOtherOwner(cluster, account);
      throw error;
    }
    throw new Error(
      `${cluster} is no PostgreSQL cluster, it has no PG_VERSION: restore it from a backup, or move it away to begin with an empty one`,
      { cause: error },
    );
  }
}

function refuseOtherVersion(cluster: string, account: Account): void {
  const version = readVersion(cluster, account);
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

/** The beginning of the names of clusters that are being made. Earlier builds gave them this name without anything behind it. */
const UNFINISHED = 'postgres.new';

/** Removes what interrupted starts have left. What cannot be removed, because its initdb still writes there, is left to the next start. */
function removeUnfinished(dataDir: string): void {
  for (const name of readdirSync(dataDir).filter((file) => file.startsWith(UNFINISHED))) {
    try {
      rmSync(join(dataDir, name), { recursive: true, force: true });
    } catch {
      // An initdb whose start was killed runs for another second.
    }
  }
}

/**
 * Makes the cluster of a data directory unless it exists, and returns its path and its superuser's password. A cluster is
 * made under a name of its own and renamed when it is complete, so that an interrupted start leaves nothing half made, and its
 * initdb, which goes on, does not disturb the next start's.
 */
export async function initialize(
  dataDir: string,
  account: Account,
  initdb: string,
): Promise<{ cluster: string; password: string }> {
  const cluster = join(dataDir, 'postgres');
  const keptAt = join(dataDir, 'postgres.password');
  const kept = readPassword(keptAt);
  removeUnfinished(dataDir);
  if (existsSync(cluster)) {
    refuseOtherVersion(cluster, account);
    refuseOtherOwner(cluster, account);
    if (kept === null)
      throw new Error(`${keptAt} does not hold the password of ${cluster}: restore it from a backup`);
    return { cluster, password: kept };
  }
  const password = kept ?? makePassword(keptAt);
  const unfinished = mkdtempSync(join(dataDir, `${UNFINISHED}-`)); // 0700
  const passwordFile = join(dataDir, 'postgres.password.new');
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
