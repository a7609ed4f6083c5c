// Bundles dashboard/ to files with a hash in their names, each beside its compressed forms. Plain JavaScript that runs under
// whatever Node the machine has: setup.mjs calls it, and the build of the image.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { digestOf, filesIn } from '../digest.mjs';
import { groupSources } from './groups.mjs';
import { lexerOnly } from './lexer-only.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const source = join(root, 'dashboard');
/** Not in git, like the two directories that a build needs in passing. */
const DIST = join(source, 'dist');
const NEXT = `${DIST}.next`;
const LAST = `${DIST}.last`;

const TYPES = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};
/** The best is worth its time for what everybody loads: 0.1 s. For 1.7 MB of the API reference it would take 3 s to save 8 %. */
const { BROTLI_MAX_QUALITY } = constants;
const REFERENCE_QUALITY = 9;

/** What all bundles share. Those of the main one are split: a page is fetched when it is opened. */
const COMMON = {
  absWorkingDir: source,
  outdir: DIST,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  target: 'es2024',
  minify: true,
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'warning',
};

/** Returns a digest of all that a build depends on: the sources, the pure code that they may import, and the libraries. */
function digestOfSources() {
  return digestOf(root, [
    ...filesIn(source, [DIST, NEXT, LAST]),
    ...filesIn(join(root, 'core')),
    ...filesIn(dirname(fileURLToPath(import.meta.url))),
    join(root, 'package-lock.json'),
  ]);
}

/** Whether dashboard/dist is what the sources make. */
export function isBuilt() {
  const stamp = join(DIST, 'digest');
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === digestOfSources();
}

/** Returns a file of the manifest, after writing it with its compressed forms. */
function emit(name, contents, { quality = BROTLI_MAX_QUALITY, ...more } = {}) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
  writeFileSync(join(NEXT, name), contents);
  writeFileSync(join(NEXT, `${name}.br`), brotliCompressSync(contents, { params }));
  writeFileSync(join(NEXT, `${name}.gz`), gzipSync(contents, { level: 9 }));
  return { name, type: TYPES[name.slice(name.lastIndexOf('.') + 1)], ...more };
}

/** Copies a file as it is. */
function copy(path, more) {
  const contents = readFileSync(path);
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 8).toUpperCase();
  return emit(basename(path).replace(/\.(?=\w+$)/, `-${hash}.`), contents, more);
}

/**
 * Returns the files of a bundle. `source` is set where a bundle or a chunk begins with that source; `imports` are the files
 * that the browser fetches with it.
 */
async function bundle(build, options, more) {
  const { outputFiles, metafile } = await build({ ...COMMON, ...options });
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  return outputFiles.map(({ path, contents }) => {
    const name = basename(path);
    const { entryPoint = null, imports = [] } = outputs.get(name) ?? {};
    const needed = imports.filter(({ kind }) => kind === 'import-statement');
    return emit(name, contents, {
      ...more,
      source: entryPoint,
      imports: needed.map(({ path }) => basename(path)),
    });
  });
}

/** Returns the files of the API reference: a library as it is published, and the script that starts it. */
async function referenceFiles(build) {
  const library = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  // The page has an origin of its own, so its files are another origin's.
  const more = { isShared: true };
  const copied = ['swagger-ui-bundle.js', 'swagger-ui.css'].map((name) =>
    copy(join(library, name), { ...more, quality: REFERENCE_QUALITY }),
  );
  const start = await bundle(build, { entryPoints: ['reference/start.ts'], format: 'iife' }, more);
  return [...copied, ...start];
}

/** Web workers by the name that dashboard/workers/start.ts starts them by. Each is one file. */
const WORKERS = { record: 'workers/record.ts', markdown: 'workers/markdown.ts' };

/** Returns the files of the workers. A worker that is no module needs no export. */
async function workerFiles(build) {
  return await bundle(build, {
    entryPoints: Object.values(WORKERS),
    format: 'iife',
    plugins: [lexerOnly],
  });
}

/** Returns the addresses of the workers by their names, which pages are built with. */
function workerUrls(files) {
  const urls = Object.entries(WORKERS).map(([name, path]) => {
    const { name: file } = files.find(({ source }) => source === path);
    return [name, `/assets/${file}`];
  });
  return Object.fromEntries(urls);
}

const MAIN = 'main.tsx';
/**
 * Has V8 compile all functions of a file while it is fetched, in another thread, instead of one by one when they are first called:
 * docs/decisions/0045-dashboard.md has what that saves. Other engines read a comment.
 */
const COMPILE_EAGERLY = '//# allFunctionsCalledOnLoad';
/** The pages that people open first, by their paths: a browser fetches them with the entry, not after it. */
const LANDING_PAGES = { '/': 'pages/overview/overview.tsx', '/requests': 'pages/requests/requests.tsx' };

/** Returns the names of the files that a source needs at once, its own first. */
function closureOf(files, source) {
  const found = new Set([files.find((file) => file.source === source && file.type === TYPES.js).name]);
  for (const name of found)
    for (const one of files.find((file) => file.name === name).imports ?? []) found.add(one);
  return [...found];
}

/** Returns the files of the pages. */
async function pageFiles(build, workerUrls) {
  const options = {
    entryPoints: [MAIN],
    format: 'esm',
    splitting: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { WORKER_URLS: JSON.stringify(workerUrls) },
    banner: { js: COMPILE_EAGERLY },
  };
  const { metafile } = await build({ ...COMMON, ...options });
  const entries = { main: MAIN, landingPages: Object.values(LANDING_PAGES) };
  return await bundle(build, { ...options, plugins: [groupSources(source, metafile, entries)] });
}

async function writeFiles() {
  const { build } = await import('esbuild');
  const workers = await workerFiles(build);
  const pages = await pageFiles(build, workerUrls(workers));
  const [library, libraryStyle, start] = await referenceFiles(build);
  const icon = copy(join(source, 'icon.svg'), { isShared: true });
  const [script, ...shared] = closureOf(pages, MAIN);
  const landingPages = Object.entries(LANDING_PAGES).map(([path, source]) => [
    path,
    closureOf(pages, source),
  ]);
  const style = pages.find(({ type }) => type === TYPES.css);
  return {
    script,
    preloads: shared,
    landingPages: Object.fromEntries(landingPages),
    style: style.name,
    icon: icon.name,
    reference: { scripts: [library.name, start.name], style: libraryStyle.name },
    files: [...pages, ...workers, icon, library, libraryStyle, start],
  };
}

/** Builds to a directory beside the final one, and takes its place at once: a killed build is begun again. */
export async function buildDashboard() {
  const digest = digestOfSources();
  for (const directory of [NEXT, LAST]) rmSync(directory, { recursive: true, force: true });
  mkdirSync(NEXT);
  const manifest = await writeFiles();
  writeFileSync(join(NEXT, 'manifest.json'), JSON.stringify(manifest));
  writeFileSync(join(NEXT, 'digest'), digest);
  if (existsSync(DIST)) renameSync(DIST, LAST);
  renameSync(NEXT, DIST);
  rmSync(LAST, { recursive: true, force: true });
}
