/** The columns of a CSV file, and what each of them means. Pure. */

/** Names that the API knows. */
export const MEANINGS = [
  'input',
  'messages',
  'request',
  'expected',
  'external_id',
  'id',
  'split',
  'cluster',
  'source_request_id',
  'metadata',
] as const;

/** UTF-16 code units of a first line that is read. */
const LONGEST_HEAD = 64 * 1024;

/** Returns the names in the first line of a CSV text. Quotation marks and commas within them are read as RFC 4180 has them. */
export function columnNames(text: string): string[] {
  const names: string[] = [];
  let name = '';
  let isQuoted = false;
  const head = text.replace(/^\uFEFF/, '').slice(0, LONGEST_HEAD);
  for (let at = 0; at < head.length; at++) {
    const character = head[at]!;
    if (isQuoted && character === '"' && head[at + 1] === '"') {
      name += '"';
      at += 1;
    } else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && character === ',') {
      names.push(name);
      name = '';
    } else if (!isQuoted && /[\r\n]/.test(character)) break;
    else name += character;
  }
  return [...names, name].map((one) => one.trim()).filter((one) => one !== '');
}

/** Returns whether a column has a name that the API knows. */
export function isKnown(name: string): boolean {
  return (MEANINGS as readonly string[]).includes(name) || name.startsWith('metadata.');
}

const GUESSES = new Map([
  ['question', 'input'],
  ['prompt', 'input'],
  ['answer', 'expected'],
  ['output', 'expected'],
]);

/** Returns the meaning that a column of an unknown name is first given: guessed by the name, else a text of the metadata. */
export function firstMeaning(name: string): string {
  return GUESSES.get(name.toLowerCase()) ?? `metadata.${name}`;
}
