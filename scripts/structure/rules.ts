/** The rules for single files. Each returns the lines that break it, and a remedy for each. */
import { DASHBOARD_RULES } from './dashboard.ts';
import {
  CHANNELS,
  ENVIRONMENT_READERS,
  GENERATORS,
  MAY_IMPORT,
  MAY_YIELD,
  NAMED,
  PURE_BUILTINS,
  PURE_PACKAGES,
  ROUTE_PLACES,
  TEST_TOOLS,
} from './layout.ts';
import { type Breach, type Layout, packageOf, type Rule, topOf } from './rule.ts';
import { matchesByLine, type SourceFile } from './source.ts';

const IMPURE =
  /\bprocess\.|\bDeno\.|\bDate\.now\(|\bnew Date\(\)|\bperformance\.|\bfetch\(|\bset(?:Timeout|Interval|Immediate)\(|\bMath\.random\(|\brandom(?:UUID|Bytes|Int)\(|\bgetRandomValues\(/g;

function isBelow(path: string, places: readonly string[]): boolean {
  return places.some((place) => path === place || (place.endsWith('/') && path.startsWith(place)));
}

function isPure(path: string): boolean {
  return topOf(path) === 'core';
}

const foldersKeepApart: Rule = ({ path, imports }) => {
  const top = topOf(path);
  const allowed = MAY_IMPORT[top];
  if (allowed === undefined) return [];
  const reach =
    allowed.length === 0 ? 'imports nothing outside of itself' : `imports ${allowed.join(' and ')} only`;
  return imports
    .filter(({ target }) => target !== null && topOf(target) !== top && topOf(target) !== 'test')
    .filter(({ target }) => !allowed.includes(topOf(target!)))
    .map(({ line, target }) => ({
      line,
      rule: `${top} must not import ${topOf(target!)}: ${top} ${reach}; move what both need to core or platform`,
    }));
};

const topFoldersByName: Rule = ({ path, imports }) =>
  imports.flatMap(({ target, specifier, line }) => {
    if (target === null || !NAMED.has(topOf(target))) return [];
    const top = topOf(target);
    const isInside = topOf(path) === top;
    if (specifier.startsWith('#') !== isInside) return [];
    return [
      { line, rule: isInside ? `inside ${top}, import by relative path` : `import ${top} as #${top}/…` },
    ];
  });

const throughMod: Rule = ({ path, imports }, { modules }) =>
  imports.flatMap(({ target, line }) => {
    if (target === null || target.endsWith('/mod.ts') || topOf(path) === 'test') return [];
    const closed = [...modules].find(
      (folder) => target.startsWith(`${folder}/`) && !path.startsWith(`${folder}/`),
    );
    if (closed === undefined || GENERATORS[closed]?.some((place) => path.startsWith(place))) return [];
    return [{ line, rule: `enter ${closed} by its mod.ts` }];
  });

const coreIsPure: Rule = ({ path, code, imports }) => {
  if (!isPure(path)) return [];
  const isAllowed = (specifier: string, target: string | null) => {
    if (target !== null) return topOf(target) !== 'core' || isPure(target);
    return specifier.startsWith('node:') ? PURE_BUILTINS.has(specifier) : PURE_PACKAGES.has(specifier);
  };
  const badImports = imports
    .filter(({ specifier, target }) => !isAllowed(specifier, target))
    .map(({ line, specifier }) => ({
      line,
      rule: `core must not import ${specifier}: core is pure; move this to platform, or, if the package only computes, list it in PURE_PACKAGES`,
    }));
  const badUses = matchesByLine(code, IMPURE)
    .filter(({ text }) => !(text.startsWith('setImmediate') && MAY_YIELD.has(path)))
    .map(({ line, text }) => ({
      line,
      rule: `core must not use ${text.replace(/[.(]+$/, '')}: core is pure; take the value as a parameter, or move this to platform`,
    }));
  return [...badImports, ...badUses];
};

const environmentInConfig: Rule = ({ path, code }) =>
  // The dashboard has no environment, but may show how to read one.
  isBelow(path, [...ENVIRONMENT_READERS, 'dashboard/'])
    ? []
    : matchesByLine(code, /\bprocess\.env\b|\bDeno\.env\b/g).map(({ line }) => ({
        line,
        rule: 'only platform/config reads the environment: add the variable there and take its value as a parameter',
      }));

const elysiaAtRoutes: Rule = ({ path, imports }) =>
  topOf(path) === 'test' || ROUTE_PLACES.some((place) => place.test(path))
    ? []
    : imports
        .filter(({ specifier }) => specifier === 'elysia' || specifier.startsWith('@elysiajs/'))
        .map(({ line }) => ({ line, rule: 'elysia is imported in app.ts and in routes/ only' }));

/**
 * Elysia awaits a handler that is no async function only when a call follows its arrow on the same line: it reads the text of
 * the function. Otherwise it sends the promise itself, as `{}`.
 */
const handlersAreAwaited: Rule = ({ path, code }) =>
  topOf(path) === 'test' || !ROUTE_PLACES.some((place) => place.test(path))
    ? []
    : matchesByLine(code, /(?<=['`],\n) *\((?:\{[^}\n]*\})?\) =>$/gm).map(({ line }) => ({
        line,
        rule: 'a handler whose body is on the next line must be async: Elysia would not await it',
      }));

const productWithoutTests: Rule = ({ path, imports }) =>
  topOf(path) === 'test' || TEST_TOOLS.has(path)
    ? []
    : imports
        .filter(({ target }) => target !== null && topOf(target) === 'test')
        .map(({ line, specifier }) => ({
          line,
          rule: `only tests import test/: move ${specifier} out of test/, or this file into it`,
        }));

const channelsByConstant: Rule = ({ path, literals }, { channels }) =>
  path === CHANNELS || topOf(path) === 'test'
    ? []
    : literals
        .filter(({ value }) => channels.has(value))
        .map(({ line, value }) => ({ line, rule: `import the channel '${value}' from ${CHANNELS}` }));

/** A package in CommonJS that is bundled has no names when it is imported at run time: all of it is its default. */
const packagesAreImportedByName: Rule = ({ path, code }) =>
  topOf(path) in MAY_IMPORT && topOf(path) !== 'dashboard'
    ? matchesByLine(code, /(?<!typeof )\bimport\('(?![.#]|node:)[^']+'\)/g).map(({ line }) => ({
        line,
        rule: 'import a package at run time through a file of your own that names what it takes: a bundled package may have no names',
      }))
    : [];

/** The bundler leaves out what nobody uses of a file, because loading a file has no effect (scripts/program/build.mjs). */
const importsName: Rule = ({ path, code }) =>
  topOf(path) in MAY_IMPORT && topOf(path) !== 'dashboard'
    ? matchesByLine(code, /^import '[^']+'/gm).map(({ line }) => ({
        line,
        rule: 'an import must name what it takes: loading a file has no effect, and the bundler leaves this one out',
      }))
    : [];

const examplesStandAlone: Rule = ({ path, imports }, { packages }) =>
  topOf(path) !== 'examples'
    ? []
    : imports
        .filter(({ specifier }) => !specifier.startsWith('node:') && !packages.has(packageOf(specifier)))
        .map(({ line, specifier }) => ({
          line,
          rule: `an example must not import ${specifier}: it stands alone, with the packages of package.json`,
        }));

const RULES: readonly Rule[] = [
  foldersKeepApart,
  topFoldersByName,
  throughMod,
  coreIsPure,
  environmentInConfig,
  elysiaAtRoutes,
  handlersAreAwaited,
  productWithoutTests,
  channelsByConstant,
  importsName,
  packagesAreImportedByName,
  examplesStandAlone,
  ...DASHBOARD_RULES,
];

/** Returns every breach of these rules. */
export function findBreaches(layout: Layout): Breach[] {
  return layout.files.flatMap((file) =>
    RULES.flatMap((rule) => rule(file, layout)).map((breach) => ({ path: file.path, ...breach })),
  );
}

/** Returns the channel names: the values of the constants in `CHANNELS`; none while that file does not exist. */
export function channelNames(files: readonly SourceFile[]): Set<string> {
  const { code = '', literals = [] } = files.find(({ path }) => path === CHANNELS) ?? {};
  const imported = new Set([...code.matchAll(/from '([^']+)'/g)].map(([, specifier]) => specifier));
  return new Set(literals.map(({ value }) => value).filter((value) => !imported.has(value)));
}
