// Digests of files, by which bundles are found out of date.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Yields the files below a directory. @param except directories that are left out */
export function* filesIn(directory, except = []) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (!entry.isDirectory()) yield path;
    else if (!except.includes(path)) yield* filesIn(path, except);
  }
}

/** Returns a digest of the names and contents of files. @param paths absolute, below `root` */
export function digestOf(root, paths) {
  const digest = createHash('sha256');
  for (const path of [...paths].sort())
    digest.update(`${path.slice(root.length)}\0`).update(readFileSync(path));
  return digest.digest('hex');
}
