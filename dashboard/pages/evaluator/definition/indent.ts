/** Indentation of code by the Tab key. Pure. */

const INDENT = '    ';

/** Returns a text whose selected lines begin with one indent more, or one less, and the new selection. */
export function indent(
  text: string,
  { start, end, isBack }: { start: number; end: number; isBack: boolean },
): { text: string; start: number; end: number } {
  if (start === end && !isBack) {
    const column = start - (text.lastIndexOf('\n', start - 1) + 1);
    const spaces = ' '.repeat(INDENT.length - (column % INDENT.length));
    const at = start + spaces.length;
    return { text: text.slice(0, start) + spaces + text.slice(end), start: at, end: at };
  }
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const lines = text.slice(from, end).split('\n');
  const changed = lines.map((line) =>
    isBack ? line.replace(/^ {1,4}/, '') : line === '' ? line : INDENT + line,
  );
  const first = changed[0]!.length - lines[0]!.length;
  const all = changed.join('\n').length - lines.join('\n').length;
  return {
    text: text.slice(0, from) + changed.join('\n') + text.slice(end),
    start: Math.max(from, start + first),
    end: end + all,
  };
}
