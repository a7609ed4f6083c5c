/** Files that comments name. One that was moved would send the reader to nothing. */
import type { Breach } from './rule.ts';

/** A comment of TypeScript, CSS or SQL, to the end of its line. A comment's later lines begin with an asterisk. */
const COMMENT = /(?:^|\s)(?:\/\/|\/?\*|--) .*$/;
/** A path below a top folder: one of a neighbour, `./tasks.ts`, or a bare name may stand for several files. */
const PATH = /(?<![\w./@:-])[a-z]+(?:\/[\w.-]+)+\.(?:ts|tsx|mjs|sql|md)\b/g;

/**
 * Returns the names in comments of files that do not exist.
 * @param paths all files, from the root
 */
export function findMissingNames(
  texts: readonly { path: string; text: string }[],
  paths: readonly string[],
): Breach[] {
  const tops = new Set(paths.map((path) => path.split('/')[0]));
  const isMissing = (name: string) => tops.has(name.split('/')[0]!) && !endsOne(name);
  // A name may begin at a folder in the middle, as `filter/operand.ts` does in core.
  const endsOne = (name: string) => paths.some((path) => path === name || path.endsWith(`/${name}`));
  return texts.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => {
      const names = COMMENT.exec(line)?.[0].match(PATH) ?? [];
      return names
        .filter(isMissing)
        .map((name) => ({ path, line: index + 1, rule: `names ${name}, which does not exist` }));
    }),
  );
}
