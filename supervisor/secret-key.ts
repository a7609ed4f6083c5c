import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const KEY_BYTES = 32;
/** A key of that length as base64. */
const KEY = /^[A-Za-z0-9+/]{43}=$/;

/**
 * The key that seals evaluators' secrets and provider keys, where the operator gave none: made once, and kept in DATA_DIR.
 * Whoever moves the database takes it along.
 * @throws Error with a sentence when the file holds something else: another key would open nothing that was sealed
 */
export function ensureSecretKey(dataDir: string): string {
  const path = join(dataDir, 'secret.key');
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  if (!existsSync(path)) makeKey(path);
  const key = readFileSync(path, 'utf8').trim();
  if (KEY.test(key)) return key;
  throw new Error(
    `${path} does not hold the key that evaluators' secrets and provider keys are sealed with: restore it from a backup, or delete it and enter them again`,
  );
}

/** Gets its name once it is whole, so that nobody ever reads, nor a crash leaves, half a key; who comes second takes the first's. */
function makeKey(path: string): void {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, randomBytes(KEY_BYTES).toString('base64'), { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
}
