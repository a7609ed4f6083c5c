/** What rules are and what they return. */
import type { SourceFile } from './source.ts';

export type Breach = { path: string; line: number; rule: string };

export type Layout = {
  files: SourceFile[];
  /** Folders that have a mod.ts. */
  modules: ReadonlySet<string>;
  /** Values of the channel constants. */
  channels: ReadonlySet<string>;
  /** Names of the packages that package.json lists. */
  packages: ReadonlySet<string>;
};

/** Returns the lines of a file that break it, and a remedy for each. */
export type Rule = (file: SourceFile, layout: Layout) => Omit<Breach, 'path'>[];

/** Returns the top folder of a path, or its file in the root. */
export function topOf(path: string): string {
  return path.split('/')[0]!;
}

/** Returns the package that an import names: `openai` for `openai/resources`, `@scope/name` for `@scope/name/part`. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
