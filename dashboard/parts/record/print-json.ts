/** JSON as text that people read. */
import { typeOf } from './nodes.ts';

/** Deeper values are still printed, but not moved further to the right: the text would grow with the square of the depth. */
const DEEPEST_INDENT = 40;
/** What `JSON.stringify` is asked to print: it recurses. */
const DEEPEST_BUILT_IN = 40;

/** Returns whether a value is nested deeper than a limit. */
function isDeeper(root: unknown, limit: number): boolean {
  let level: unknown[] = [root];
  for (let depth = 0; depth <= limit; depth += 1) {
    level = level.flatMap((value) => {
      const type = typeOf(value);
      if (type === 'array') return value as unknown[];
      return type === 'object' ? Object.values(value as object) : [];
    });
    if (level.length === 0) return false;
  }
  return true;
}

/** Prints a value of any depth, indented by two spaces. */
export function printJson(root: unknown): string {
  return isDeeper(root, DEEPEST_BUILT_IN) ? printDeep(root) : JSON.stringify(root ?? null, null, 2);
}

type Open = { items: [string | null, unknown][]; next: number; end: string };

function printDeep(root: unknown): string {
  const written: string[] = [];
  const open: Open[] = [];
  const indent = () => '  '.repeat(Math.min(open.length, DEEPEST_INDENT));
  const begin = (value: unknown) => {
    const type = typeOf(value);
    if (type !== 'object' && type !== 'array') {
      written.push(JSON.stringify(value ?? null));
      return;
    }
    const isArray = type === 'array';
    const items: [string | null, unknown][] = isArray
      ? (value as unknown[]).map((item) => [null, item])
      : Object.entries(value as object);
    if (items.length === 0) written.push(isArray ? '[]' : '{}');
    else {
      written.push(isArray ? '[' : '{');
      open.push({ items, next: 0, end: isArray ? ']' : '}' });
    }
  };
  begin(root);
  for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
    const item = inner.items[inner.next];
    if (item === undefined) {
      open.pop();
      written.push('\n', indent(), inner.end);
      continue;
    }
    const [name, value] = item;
    written.push(inner.next === 0 ? '\n' : ',\n', indent(), name === null ? '' : `${JSON.stringify(name)}: `);
    inner.next += 1;
    begin(value);
  }
  return written.join('');
}
