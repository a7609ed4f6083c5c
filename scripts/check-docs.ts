/** Checks the links and the file names in the documents: prints each breach as `file:line rule`, and ends with 1. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readDocuments } from './docs/read-documents.ts';
import { findBreaches } from './docs/rules.ts';

const documents = readDocuments(join(dirname(fileURLToPath(import.meta.url)), '..'));
const breaches = findBreaches(documents);
for (const { path, line, rule } of breaches) process.stdout.write(`${path}:${line} ${rule}\n`);
process.stdout.write(`Checked ${documents.texts.size} documents: ${breaches.length} breaches\n`);
process.exitCode = breaches.length === 0 ? 0 : 1;
