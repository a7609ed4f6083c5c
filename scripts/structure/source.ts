/**
 * Source files as the rules see them: code without comments, string literals, imports and exports. They are found by patterns
 * and not by a parser: TypeScript 7 has no API for one, and Biome formats every source, so an import or export statement
 * always begins its line. Tests prove the patterns; docs/decisions compares them with libraries.
 */
import { dirname, join, normalize, sep } from 'node:path';

/** An import or re-export statement, or a dynamic import. */
export type Import = {
  specifier: string;
  line: number;
  /** The imported file, from the root; null for packages. */
  target: string | null;
  /** Names in the imported file; null: possibly all of them. */
  names: string[] | null;
  /** True for `import type`, of which nothing is left at run time. */
  isType: boolean;
};

/** A name that a file exports. */
export type Export = {
  name: string;
  line: number;
  /** Set for a re-export: where the name comes from. */
  from: { target: string; name: string } | null;
  /** True when its comment has the tag `@internal`: it is exported for tests. */
  isInternal: boolean;
  /** The whole declaration; empty for a name in a list. */
  declaration: string;
};

export type SourceFile = {
  /** From the root, with `/`. */
  path: string;
  /** The source with its comments blanked out, line for line. */
  code: string;
  literals: { value: string; line: number }[];
  imports: Import[];
  exports: Export[];
};

/** Comments, strings, and regular expressions, whose slashes and quotes begin neither comments nor strings. */
const TOKEN =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=(?:[(,=:[!&|?{;]|=>|return)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//g;
const STATEMENT = /^(import|export)( type)? (\{[^}]*\}|\*(?: as \w+)?|\w+) from '([^']+)'/gm;
/** Imports without `from`. `new URL` names the file of a thread, whose exports are called by name. */
const BARE_OR_DYNAMIC =
  /^import '([^']+)'|\bimport\(\s*'([^']+)'|\bnew URL\(\s*'(\.[^']+\.ts)',\s*import\.meta\.url/gm;
const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|type|interface|enum) ([\w$]+)/gm;
const LOCAL_LIST = /^export (?:type )?\{([^}]*)\};$|^export const \{([^}]*)\} =/gm;

function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length;
}

/** Returns every match of a pattern with its line, from 1. */
export function matchesByLine(code: string, pattern: RegExp): { text: string; line: number }[] {
  return [...code.matchAll(pattern)].map((match) => ({ text: match[0], line: lineAt(code, match.index) }));
}

/** Parses a source for the rules. */
export function readSource(path: string, source: string): SourceFile {
  const literals: SourceFile['literals'] = [];
  const code = source.replaceAll(TOKEN, (token, offset: number) => {
    if (token.startsWith('//') || token.startsWith('/*')) return token.replaceAll(/[^\n]/g, ' ');
    if (/^['"`]/.test(token)) literals.push({ value: token.slice(1, -1), line: lineAt(source, offset) });
    return token;
  });
  return { path, code, literals, ...readStatements(path, code, source) };
}

function readStatements(path: string, code: string, source: string): Pick<SourceFile, 'imports' | 'exports'> {
  const imports: Import[] = [];
  const exports: Export[] = [];
  const isInternal = (offset: number) => {
    const before = source.slice(0, offset);
    return before.endsWith('*/\n') && before.slice(before.lastIndexOf('/**')).includes('@internal');
  };
  for (const match of code.matchAll(STATEMENT)) {
    const [text, keyword, type, clause = '', specifier = ''] = match;
    const target = resolveImport(path, specifier);
    const line = lineAt(code, match.index + text.length);
    const names = clause.startsWith('{') ? namesIn(clause.slice(1, -1)) : null;
    const isType = type !== undefined;
    imports.push({ specifier, line, target, names: names?.map(({ name }) => name) ?? null, isType });
    if (keyword !== 'export' || names === null || target === null) continue;
    for (const { name, alias } of names)
      exports.push({
        name: alias,
        line,
        from: { target, name },
        isInternal: isInternal(match.index),
        declaration: '',
      });
  }
  for (const match of code.matchAll(BARE_OR_DYNAMIC)) {
    // A test may name a module by its URL without using its exports.
    const specifier = match[1] ?? match[2] ?? (path.startsWith('test/') ? '' : (match[3] ?? ''));
    if (specifier === '') continue;
    const line = lineAt(code, match.index);
    imports.push({ specifier, line, target: resolveImport(path, specifier), names: null, isType: false });
  }
  for (const match of code.matchAll(DECLARATION)) {
    const line = lineAt(code, match.index);
    // Biome indents every line of a declaration but its closing brackets.
    const [declaration = ''] = /^.*(?:\n(?:[ \t)}\]>|].*)?)*/.exec(code.slice(match.index)) ?? [];
    exports.push({ name: match[1]!, line, from: null, isInternal: isInternal(match.index), declaration });
  }
  for (const match of code.matchAll(LOCAL_LIST)) {
    const line = lineAt(code, match.index);
    for (const { alias } of namesIn(match[1] ?? match[2] ?? ''))
      exports.push({ name: alias, line, from: null, isInternal: isInternal(match.index), declaration: '' });
  }
  return { imports: imports.sort((a, b) => a.line - b.line), exports };
}

/** Parses `a, type b, c as d`. */
function namesIn(list: string): { name: string; alias: string }[] {
  return list
    .split(',')
    .map((item) => item.trim().replace(/^type /, ''))
    .filter((item) => item !== '')
    .map((item) => {
      const [name = '', alias = name] = item.split(/ as |: /);
      return { name, alias };
    });
}

function resolveImport(path: string, specifier: string): string | null {
  if (specifier.startsWith('#')) return specifier.slice(1);
  if (!specifier.startsWith('.')) return null;
  return normalize(join(dirname(path), specifier))
    .split(sep)
    .join('/');
}
