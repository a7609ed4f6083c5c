/** Checks who imports whom, by the rules of the layout: prints each breach as `file:line rule`, and ends with 1. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBreaches, readSource } from './structure/rules.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const SOURCES = ['main.ts', '{core,platform,gateway,api,ingest,evaluators,supervisor}/**/*.ts'];

const paths = globSync(SOURCES, { cwd: root }).map((path) => path.split(sep).join('/'));
const files = paths.map((path) => readSource(path, readFileSync(join(root, path), 'utf8')));
const modules = new Set(paths.filter((path) => path.endsWith('/mod.ts')).map((path) => dirname(path)));
const breaches = findBreaches({ files, modules });
for (const { path, line, rule } of breaches) process.stdout.write(`${path}:${line} ${rule}\n`);
process.stdout.write(`Checked the structure of ${files.length} files: ${breaches.length} breaches\n`);
process.exitCode = breaches.length === 0 ? 0 : 1;
