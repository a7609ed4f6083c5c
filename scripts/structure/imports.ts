/** One import of a source file, static or dynamic, or a re-export. */
export type Import = { specifier: string; line: number };

/** Comments blanked out, line for line, so that what they mention is not taken for code. */
export function withoutComments(source: string): string {
  const blank = (comment: string) => comment.replaceAll(/[^\n]/g, ' ');
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, blank).replaceAll(/(^|\s)\/\/.*$/gm, blank);
}

const IMPORT = /(?:^|[\s;}])(?:from|import)\s*\(?\s*(['"])([^'"\n]+)\1/gm;

/** The line, from 1, that an offset lies on. */
export function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length;
}

/** All imports of a source, its comments blanked out. */
export function importsOf(code: string): Import[] {
  return [...code.matchAll(IMPORT)].map((match) => {
    const [text, , specifier = ''] = match;
    return { specifier, line: lineAt(code, match.index + text.length) };
  });
}
