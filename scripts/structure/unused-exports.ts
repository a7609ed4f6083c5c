/**
 * Finds exports that nothing imports. A re-export uses its origin only if something imports the re-export. An export for
 * tests alone must say so: its comment has the tag `@internal` and the reason.
 */
import type { Breach } from './rule.ts';
import type { Export, SourceFile } from './source.ts';

/** `used`: by the product or its scripts. */
type Use = 'unused' | 'by tests' | 'used';

const isTest = (path: string) => path.startsWith('test/');

/** Returns how each export is used, strongest use first: a use by the product outweighs one by a test. */
function usesOf(files: readonly SourceFile[]): Map<string, Use> {
  const uses = new Map<string, Use>();
  const byPath = new Map(files.map((file) => [file.path, file]));
  const mark = (target: string, name: string, use: Use) => {
    const key = `${target}#${name}`;
    const before = uses.get(key);
    if (before === 'used' || before === use) return;
    uses.set(key, use);
    const file = byPath.get(target);
    const origin = file?.exports.find((one) => one.name === name)?.from;
    if (origin) return mark(origin.target, origin.name, use);
    // An `export *` brings this name from another file.
    if (file?.exports.every((one) => one.name !== name))
      for (const { target: star, names } of file.imports)
        if (star !== null && names === null) mark(star, name, use);
  };
  for (const { path, imports, exports } of files) {
    const reExported = new Set(
      exports.flatMap(({ from }) => (from === null ? [] : `${from.target}#${from.name}`)),
    );
    for (const { target, names } of imports) {
      if (target === null) continue;
      const use = isTest(path) ? 'by tests' : 'used';
      if (names === null && !isStarExport(path, byPath, target))
        for (const { name } of byPath.get(target)?.exports ?? []) mark(target, name, use);
      for (const name of names ?? []) if (!reExported.has(`${target}#${name}`)) mark(target, name, use);
    }
  }
  return uses;
}

function isStarExport(path: string, byPath: ReadonlyMap<string, SourceFile>, target: string): boolean {
  const code = byPath.get(path)?.code ?? '';
  return [...code.matchAll(/^export(?: type)? \* from '([^']+)'/gm)].some(([, specifier]) =>
    target.endsWith(specifier!.replace(/^[./]+/, '')),
  );
}

function ruleFor({ name, from }: Export, use: Use, isInternal: boolean): string | null {
  const what = from === null ? `export ${name}` : `re-export ${name}`;
  if (use === 'unused') return `nothing imports the ${what}: remove it`;
  if (use === 'by tests' && !isInternal && from === null)
    return `only tests import the ${what}: remove it, or say why in its comment with the tag @internal`;
  if (use === 'by tests' && from !== null)
    return `only tests import the ${what}: remove it, and let the tests import the file itself`;
  if (use === 'used' && isInternal) return `the product imports the ${what}: remove the tag @internal`;
  return null;
}

/** A type that another export of its file mentions is a part of that export, whether or not anything imports its name. */
function isPartOfAnother({ name, declaration }: Export, exports: readonly Export[]): boolean {
  const isType = /^export (?:type|interface|class) /.test(declaration);
  const mention = new RegExp(isType ? `\\b${name}\\b` : `\\btypeof ${name}\\b`);
  return exports.some((other) => other.name !== name && mention.test(other.declaration));
}

/** Returns the exports that nothing imports, and those that only tests import without saying so. */
export function findUnusedExports(files: readonly SourceFile[]): Breach[] {
  const uses = usesOf(files);
  return files.flatMap(({ path, exports }) =>
    exports.flatMap((one) => {
      const use = uses.get(`${path}#${one.name}`) ?? 'unused';
      if (use !== 'used' && isPartOfAnother(one, exports)) return [];
      // A schema and its type share their name, and the comment stands before the first.
      const isInternal = exports.some((other) => other.name === one.name && other.isInternal);
      const rule = isTest(path) && use === 'by tests' ? null : ruleFor(one, use, isInternal);
      return rule === null ? [] : [{ path, line: one.line, rule }];
    }),
  );
}
