/** Bodies that are small for who sends them and hard for who parses them: JSON of a given size, by what it is full of. */

/** What a family repeats within `open` and `close`: the text for a given turn. */
type Family = { open: string; close: string; piece(turn: number): string };

const alike = (open: string, piece: string, close: string): Family => ({ open, close, piece: () => piece });

const FAMILIES: Readonly<Record<string, Family>> = {
  'empty arrays': alike('[', '[],', '[]]'),
  'empty objects': alike('[', '{},', '{}]'),
  members: { open: '{', close: '"last":0}', piece: (turn) => `"member${turn}":0,` },
  'one name repeated': alike('{', '"name":0,', '"name":0}'),
  'deep lists': { open: '[', close: '0]', piece: () => `${'['.repeat(90_000)}${']'.repeat(90_000)},` },
  'one string': alike('"', 'a', '"'),
  'one string beyond Latin-1': alike('"', '日本', '"'),
  escapes: alike('"', '\\n', '"'),
  'unicode escapes': alike('"', '\\u65e5', '"'),
  'short strings': alike('[', '"",', '""]'),
  'token ids': { open: '[', close: '0]', piece: (turn) => `${turn % 100_000},` },
  'exponents between escaped commas': { open: '[', close: '0]', piece: () => '1e5\\u002c' },
  'nested arrays': { open: '[', close: '1e5]', piece: () => `${'['.repeat(300)}${']'.repeat(300)},` },
  exponents: { open: '[', close: '0]', piece: () => '1e5,' },
  'long numbers': { open: '[', close: '0]', piece: (turn) => `1234567890123456789${turn},` },
  'one number': alike('', '7', ''),
  space: alike('[', ' ', ']'),
};

export const FAMILY_NAMES: readonly string[] = Object.keys(FAMILIES);

/**
 * JSON of at most `bytes` bytes, and hardly fewer, in which `head` and `tail` enclose a value of the family.
 * @param head what stands before the value, such as `{"model":"m","x":`
 */
export function bodyOf(name: string, bytes: number, head: string, tail: string): Buffer {
  const { open, close, piece } = FAMILIES[name]!;
  const body = Buffer.alloc(bytes);
  const end = Buffer.from(close + tail);
  let at = body.write(head + open);
  for (let turn = 0; ; turn += 1) {
    const next = piece(turn);
    // Each character takes three bytes at most.
    if (at + 3 * next.length + end.length > bytes) break;
    at += body.write(next, at);
  }
  at += end.copy(body, at);
  return body.subarray(0, at);
}
