/** The rules of the layout. Each looks at one file and returns what breaks it. */
import { dirname, join, normalize, sep } from 'node:path';
import * as channels from '#core/contracts/channels.ts';
import { type Import, importsOf, lineAt, withoutComments } from './imports.ts';

export type SourceFile = {
  /** From the root, with `/`. */
  path: string;
  code: string;
  imports: (Import & { /** The imported file, from the root; null for packages. */ target: string | null })[];
};

export type Breach = { path: string; line: number; rule: string };

export type Layout = { files: SourceFile[] /** Folders that have a mod.ts. */; modules: ReadonlySet<string> };

/** What each top folder may import of ours, beside itself. main.ts joins them all. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  platform: ['core'],
  gateway: ['core', 'platform'],
  api: ['core', 'platform'],
  ingest: ['core', 'platform'],
  evaluators: ['core', 'platform'],
  supervisor: ['core', 'platform'],
};

const PURE_FOLDERS = [
  'contracts',
  'filter',
  'rate-limit',
  'models',
  'chat',
  'scoring',
  'json',
  'text',
];
/** What pure code may use of the runtime: computing, not reaching out. */
const PURE_BUILTINS = new Set([
  'node:buffer',
  'node:crypto',
  'node:string_decoder',
  'node:util',
  'node:zlib',
]);
/** What else of core pure code may use. */
const PURE_CORE_FILES = new Set<string>();
const IMPURE =
  /\bprocess\.|\bDeno\.|\bDate\.now\(|\bnew Date\(\)|\bperformance\.|\bfetch\(|\bset(?:Timeout|Interval)\(|\bMath\.random\(/g;

const topOf = (path: string) => path.split('/')[0] ?? path;

function isPure(path: string): boolean {
  const [top, folder = ''] = path.split('/');
  return top === 'core' && PURE_FOLDERS.includes(folder);
}

/** Reads a source into what the rules look at. */
export function readSource(path: string, source: string): SourceFile {
  const code = withoutComments(source);
  const imports = importsOf(code).map((found) => ({
    ...found,
    target: resolveImport(path, found.specifier),
  }));
  return { path, code, imports };
}

function resolveImport(path: string, specifier: string): string | null {
  if (specifier.startsWith('#')) return specifier.slice(1);
  if (!specifier.startsWith('.')) return null;
  return normalize(join(dirname(path), specifier))
    .split(sep)
    .join('/');
}

type Rule = (file: SourceFile, layout: Layout) => Omit<Breach, 'path'>[];

const foldersKeepApart: Rule = ({ path, imports }) => {
  const top = topOf(path);
  const allowed = MAY_IMPORT[top];
  if (allowed === undefined) return [];
  return imports
    .filter(({ target }) => target !== null && topOf(target) !== top && !allowed.includes(topOf(target)))
    .map(({ line, target }) => ({ line, rule: `${top} must not import ${topOf(target ?? '')}` }));
};

/** Top folders that are imported by name from outside of them. */
const NAMED = new Set(['core', 'platform']);

const namedFromOutside: Rule = ({ path, imports }) =>
  imports.flatMap(({ target, specifier, line }) => {
    if (target === null || !NAMED.has(topOf(target))) return [];
    const top = topOf(target);
    const isInside = topOf(path) === top;
    if (specifier.startsWith('#') !== isInside) return [];
    return [{ line, rule: isInside ? `inside ${top}, import by relative path` : `import ${top} as #${top}/…` }];
  });

const throughMod: Rule = ({ path, imports }, { modules }) =>
  imports.flatMap(({ target, line }) => {
    if (target === null || target.endsWith('/mod.ts')) return [];
    const closed = [...modules].find(
      (folder) => target.startsWith(`${folder}/`) && !path.startsWith(`${folder}/`),
    );
    return closed === undefined ? [] : [{ line, rule: `enter ${closed} through its mod.ts` }];
  });

const pureStaysPure: Rule = ({ path, code, imports }) => {
  if (!isPure(path)) return [];
  const badImports = imports
    .filter(({ specifier, target }) =>
      target === null
        ? specifier.startsWith('node:') && !PURE_BUILTINS.has(specifier)
        : !isPure(target) && !PURE_CORE_FILES.has(target),
    )
    .map(({ line, specifier }) => ({ line, rule: `pure code must not import ${specifier}` }));
  const badUses = [...code.matchAll(IMPURE)].map((match) => ({
    line: lineAt(code, match.index),
    rule: `pure code must not use ${match[0].replace(/[.(]+$/, '')}`,
  }));
  return [...badImports, ...badUses];
};

const environmentInConfig: Rule = ({ path, code }) =>
  path.startsWith('platform/config/')
    ? []
    : [...code.matchAll(/\bprocess\.env\b|\bDeno\.env\b/g)].map((match) => ({
        line: lineAt(code, match.index),
        rule: 'process.env is read in platform/config only',
      }));

const elysiaAtTheEdge: Rule = ({ path, imports }) =>
  path === 'platform/observability/health.ts' || path.endsWith('/app.ts') || path.includes('/routes/')
    ? []
    : imports
        .filter(({ specifier }) => specifier === 'elysia' || specifier.startsWith('@elysiajs/'))
        .map(({ line }) => ({ line, rule: 'elysia is imported in app.ts, routes/ and the health routes only' }));

const CHANNEL_NAMES: ReadonlySet<string> = new Set(Object.values(channels));

const channelNamesOnce: Rule = ({ path, code }) =>
  path === 'core/contracts/channels.ts'
    ? []
    : [...code.matchAll(/(['"`])([\w.]+)\1/g)]
        .filter(([, , text]) => CHANNEL_NAMES.has(text ?? ''))
        .map((match) => ({
          line: lineAt(code, match.index),
          rule: `${match[0]} is a channel: import it from core/contracts/channels.ts`,
        }));

const RULES: readonly Rule[] = [
  foldersKeepApart,
  namedFromOutside,
  throughMod,
  pureStaysPure,
  environmentInConfig,
  elysiaAtTheEdge,
  channelNamesOnce,
];

/** Every breach of every rule, by file and line. */
export function findBreaches(layout: Layout): Breach[] {
  return layout.files
    .flatMap((file) =>
      RULES.flatMap((rule) => rule(file, layout)).map((breach) => ({ path: file.path, ...breach })),
    )
    .sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
}
