// Keeps the files of a split bundle few. esbuild makes one for each combination of entries that share something: dozens, of which
// a page would fetch thirty, each compressed by itself.
import { readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';

/** Of the project: of libraries, the parts that are used go where they are needed. */
const isOwn = (source) => /\.tsx?$/.test(source);
const isScript = ([path]) => path.endsWith('.js');

/** Returns the entries of a build that reach each of its sources: the main one, and what is imported when it is wanted. */
function entriesBySource({ outputs }) {
  const reached = new Map();
  for (const [path, { entryPoint }] of Object.entries(outputs).filter(isScript)) {
    if (entryPoint === undefined) continue;
    const found = new Set([path]);
    for (const one of found) {
      for (const { path: next, kind } of outputs[one].imports)
        if (kind === 'import-statement') found.add(next);
      for (const source of Object.keys(outputs[one].inputs).filter(isOwn))
        reached.set(source, (reached.get(source) ?? new Set()).add(entryPoint));
    }
  }
  return reached;
}

/** Names the file of a source by the entries that reach it; null: it is an entry, or in the file of its only one. */
function groupOf(source, entries, { main, landingPages }) {
  if (entries.has(source) || entries.size === 1) return null;
  if (entries.has(main)) return 'main';
  return `shared ${landingPages.filter((entry) => entries.has(entry)).join(' ')}`;
}

/**
 * Returns a plugin for a second build of the same: sources of a group end up in one file, because every entry that needs one of
 * them imports all, and sources that the same entries reach are put together.
 * @param root directory of the build
 * @param metafile of the first build
 * @param entries `main`, which is always loaded, and `landingPages`, which must not load what they do not need
 */
export function groupSources(root, metafile, entries) {
  const sources = new Map();
  const groups = new Map();
  for (const [source, reaching] of entriesBySource(metafile)) {
    const group = groupOf(source, reaching, entries);
    if (group === null) continue;
    sources.set(group, [...(sources.get(group) ?? []), join(root, source)]);
    for (const entry of reaching) groups.set(entry, (groups.get(entry) ?? new Set()).add(group));
  }
  const groupBySource = new Map([...sources].flatMap(([group, own]) => own.map((path) => [path, group])));
  /** Returns the groups that sources of a group import: who fetches the one needs all of the other. */
  const neededBy = (group) => {
    const paths = sources
      .get(group)
      .flatMap((path) => metafile.inputs[relative(root, path)].imports)
      .map(({ path }) => groupBySource.get(join(root, path)));
    return [...new Set(paths)].filter((needed) => needed !== undefined && needed !== group);
  };
  const importing = (paths) => paths.map((path) => `import ${JSON.stringify(path)};\n`).join('');
  return {
    name: 'groups',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^group:/ }, ({ path }) => ({
        path: path.slice('group:'.length),
        namespace: 'group',
      }));
      onLoad({ filter: /./, namespace: 'group' }, ({ path }) => ({
        contents: importing([...neededBy(path).map((group) => `group:${group}`), ...sources.get(path)]),
        resolveDir: root,
      }));
      onLoad({ filter: /\.tsx?$/, namespace: 'file' }, ({ path }) => {
        const own = groups.get(relative(root, path));
        if (own === undefined) return undefined;
        const contents = importing([...own].map((group) => `group:${group}`)) + readFileSync(path, 'utf8');
        return { contents, loader: extname(path).slice(1) };
      });
    },
  };
}
