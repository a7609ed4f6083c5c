// Leaves out of `marked` what makes HTML of Markdown: the dashboard uses its lexer alone. Plain JavaScript, like build.mjs.
import { readFileSync } from 'node:fs';

/**
 * The instance that the library makes of itself, with all that is set on it: no bundler may leave that out, nor what it uses. It
 * lies between the last class and the exports.
 */
const INSTANCE = /;var \w+=new \w+;function (?:(?!;var \w+=new )[\s\S])*?(?=;export\{)/;
/** `lexer` is one of the names that the instance ends with. */
const EXPORTS = /export\{[^}]*?(?<lexer>\w+) as Lexer[^}]*\}/;

/** Returns the module of the lexer in a build of `marked`. */
function lexerOf(library) {
  const [exports, lexer] = EXPORTS.exec(library) ?? [];
  if (lexer === undefined || !INSTANCE.test(library)) throw new Error('marked is not built as it was');
  return library.replace(INSTANCE, '').replace(exports, `export{${lexer} as Lexer}`);
}

/** A plugin of esbuild. */
export const lexerOnly = {
  name: 'lexer-only',
  setup(build) {
    build.onLoad({ filter: /\/marked\.esm\.js$/ }, ({ path }) => ({
      contents: lexerOf(readFileSync(path, 'utf8')),
    }));
  },
};
