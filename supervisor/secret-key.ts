import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const KEY_BYTES = 32;
/** The base64 form of a key of KEY_BYTES. */
const KEY = /^[A-Za-z0-9+/]{43}=$/;

/**
 * Returns the key that seals evaluators' secrets and provider keys when the operator set none: created once and kept in
 * DATA_DIR. It must move together with the database.
 * @throws Error with a sentence when the file holds anything else: a new key could not open existing secrets
 */
export function ensureSecretKey(dataDir: string): string {
  const path = join(dataDir, 'secret.key');
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  if (!existsSync(path)) makeKey(path);
  const key = readFileSync(path, 'utf8').trim();
  if (KEY.test(key)) return key;
  throw new Error(
    `${path} does not hold the key that seals evaluators' secrets and provider keys: restore it from a backup, or delete it and enter them again`,
  );
}

/**
 * Writes the whole key under a temporary name and then links it, so that no process reads half a key and no crash leaves
 * one. When two processes do this at once, the first wins and the second uses its key.
 */
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
