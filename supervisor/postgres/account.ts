/**
 * PostgreSQL refuses to run as root. When Assay runs as root, the server runs under another account. It keeps one right of
 * root's, to traverse closed directories, only when this account cannot reach its files, as in a checkout under /root.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

export type Account = {
  /** The user that the server runs as; null where the system has no such numbers. */
  uid: number | null;
  /** Returns the command that runs `command` under this account, and the options to spawn it with. */
  run(
    command: string,
    parameters: string[],
  ): { command: string; parameters: string[]; uid?: number; gid?: number };
  /** Gives a file or directory to the account. */
  own(path: string): void;
};

const sameAccount: Account = {
  uid: process.getuid?.() ?? null,
  run: (command, parameters) => ({ command, parameters }),
  own: () => {},
};

/** The distribution's account for PostgreSQL, else the account that owns nothing. initdb needs an account with a name. */
const ACCOUNT_NAMES = ['postgres', 'nobody'];

function output(command: string, parameters: string[]): string | null {
  try {
    return execFileSync(command, parameters, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}

function findIds(): { uid: number; gid: number } {
  for (const name of ACCOUNT_NAMES) {
    const uid = Number(output('id', ['-u', name]) ?? '');
    const gid = Number(output('id', ['-g', name]) ?? '');
    if (uid > 0 && gid > 0) return { uid, gid };
  }
  throw new Error(
    `PostgreSQL does not run as root and there is no account ${ACCOUNT_NAMES.join(' or ')} to run it under: ` +
      'start Assay as another user, or set DATABASE_URL',
  );
}

const OTHERS_MAY_PASS = 0o001;

function isReachableByOthers(path: string): boolean {
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    if ((statSync(directory).mode & OTHERS_MAY_PASS) === 0) return false;
    if (directory === dirname(directory)) return true;
  }
}

/**
 * Returns the account that the server runs under.
 * @param paths files and directories that the account must reach
 * @throws Error with a sentence when there is no such account or it cannot reach them
 */
export function chooseAccount(paths: string[]): Account {
  if (process.getuid?.() !== 0) return sameAccount;
  const { uid, gid } = findIds();
  const own = (path: string) => chownSync(path, uid, gid);
  if (paths.every(isReachableByOthers))
    return { uid, own, run: (command, parameters) => ({ command, parameters, uid, gid }) };
  if (output('setpriv', ['--version']) === null) {
    throw new Error(
      `PostgreSQL does not run as root and another account cannot reach ${paths.join(' and ')}: ` +
        'move Assay and DATA_DIR out of closed directories, start it as another user, or set DATABASE_URL',
    );
  }
  const flags = [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
  ];
  return {
    uid,
    own,
    run: (command, parameters) => ({ command: 'setpriv', parameters: [...flags, command, ...parameters] }),
  };
}
