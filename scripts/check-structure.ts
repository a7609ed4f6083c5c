/**
 * `npm run check` runs this: prints every breach of the layout's rules as `file:line rule`, and ends with 1 if there is one.
 * Biome finds circles of imports (noImportCycles in biome.json).
 *
 * Usage: check-structure.ts [root]
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findMissingNames } from './structure/named-files.ts';
import { channelNames, findBreaches } from './structure/rules.ts';
import { readSource } from './structure/source.ts';
import { findMisplacedTests } from './structure/test-places.ts';
import { findUnusedExports } from './structure/unused-exports.ts';

const SOURCES = [
  'main.ts',
  '{core,platform,gateway,api,ingest,sinks,evaluators,supervisor,scripts,test}/**/*.ts',
  'dashboard/**/*.{ts,tsx}',
  'examples/*.mjs',
];

/** Files whose comments are read beside those of the sources. SQL of migrations never changes. */
const COMMENTED = ['platform/postgres/functions/*.sql', 'dashboard/styles/*.css', 'scripts/**/*.mjs'];
/** Files that comments may name beside these. */
const NAMED = ['docs/**/*.md', 'platform/postgres/migrations/*.sql', 'examples/*', 'test/**/*.mjs'];

const root = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '..');

const find = (patterns: string[]) =>
  globSync(patterns, { cwd: root }).map((path) => path.split(sep).join('/'));
const read = (path: string) => ({ path, text: readFileSync(join(root, path), 'utf8') });

const paths = find(SOURCES);
const sources = paths.map(read);
const commented = find(COMMENTED).map(read);
const files = sources.map(({ path, text }) => readSource(path, text));
const modules = new Set(paths.filter((path) => path.endsWith('/mod.ts')).map((path) => dirname(path)));
const { dependencies = {}, devDependencies = {} } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
const packages = new Set([...Object.keys(dependencies), ...Object.keys(devDependencies)]);
const breaches = [
  ...findBreaches({ files, modules, channels: channelNames(files), packages }),
  ...findUnusedExports(files),
  ...findMisplacedTests(paths),
  ...findMissingNames(
    [...sources, ...commented],
    [...paths, ...commented.map(({ path }) => path), ...find(NAMED)],
  ),
].sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));

const say = (line: string) => process.stdout.write(`${line}\n`);
for (const { path, line, rule } of breaches) say(`${path}:${line} ${rule}`);
say(`Checked the structure of ${files.length} files: ${breaches.length} breaches`);
process.exitCode = breaches.length === 0 ? 0 : 1;
