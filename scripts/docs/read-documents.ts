import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { Documents } from './rules.ts';

/** Generated folders, which are not part of the repository. */
const SKIPPED = new Set(['.git', '.data', '.tap', 'node_modules', 'coverage']);

function filesUnder(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (SKIPPED.has(entry.name)) return [];
    return entry.isDirectory() ? filesUnder(root, path) : [path];
  });
}

/** Reads README, CHANGELOG, everything in docs and the list of examples, and lists the files that they may name. */
export function readDocuments(root: string): Documents {
  const files = filesUnder(root);
  const documents = files.filter((path) => /^(?:README|CHANGELOG|docs\/.*|examples\/README)\.md$/.test(path));
  return { files, texts: new Map(documents.map((path) => [path, readFileSync(join(root, path), 'utf8')])) };
}
