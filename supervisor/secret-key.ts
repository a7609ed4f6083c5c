import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const KEY_BYTES = 32;

/**
 * The key that seals the secrets of evaluators, where the operator gave none: made once, and kept in DATA_DIR. Whoever
 * moves the database takes it along.
 */
export function ensureSecretKey(dataDir: string): string {
  const path = join(dataDir, 'secret.key');
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  try {
    writeFileSync(path, randomBytes(KEY_BYTES).toString('base64'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(path, 'utf8').trim();
}
