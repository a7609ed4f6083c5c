/** Classes of the bytes of JSON. */

/** 1 for each byte that represents itself in a string. */
export const PLAIN: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) =>
  code >= 0x20 && code !== 0x22 && code !== 0x5c ? 1 : 0,
);

const ESCAPES: Uint8Array = flagged('"\\/bfnrt');
const HEX: Uint8Array = flagged('0123456789abcdefABCDEF');

function flagged(characters: string): Uint8Array {
  const flags = new Uint8Array(256);
  for (const character of characters) flags[character.charCodeAt(0)] = 1;
  return flags;
}

/** Returns whether a byte is space between tokens. */
export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Returns whether a byte other than `u` may follow a backslash. */
export function isEscape(code: number): boolean {
  return ESCAPES[code] === 1;
}

export function isHex(code: number): boolean {
  return HEX[code] === 1;
}

const LITERALS = ['true', 'false', 'null'].map((text) => Buffer.from(text));

/** Returns the position after the `true`, `false` or `null` at `from`; -1 when there is none that ends by `to`. */
export function literalEnd(bytes: Buffer, from: number, to: number): number {
  for (const literal of LITERALS) {
    const end = from + literal.length;
    if (end <= to && bytes[from] === literal[0] && literal.compare(bytes, from, end) === 0) return end;
  }
  return -1;
}

/** States of reading a number, named for the part that was read last. */
const [NOTHING, SIGN, ZERO, WHOLE, POINT, FRACTION, EXPONENT, EXPONENT_SIGN, EXPONENT_DIGIT] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8,
];

/** Returns the state after `code`; -1 when it cannot follow in a number. */
export function numberStateAfter(state: number, code: number): number {
  if (isDigit(code)) {
    if (state === WHOLE || state === FRACTION || state === EXPONENT_DIGIT) return state;
    if (state === NOTHING || state === SIGN) return code === 0x30 ? ZERO : WHOLE;
    if (state === POINT) return FRACTION;
    return state === ZERO ? -1 : EXPONENT_DIGIT;
  }
  if (code === 0x2d) return state === NOTHING ? SIGN : state === EXPONENT ? EXPONENT_SIGN : -1;
  if (code === 0x2b) return state === EXPONENT ? EXPONENT_SIGN : -1;
  if (code === 0x2e) return state === ZERO || state === WHOLE ? POINT : -1;
  if (code === 0x65 || code === 0x45)
    return state === ZERO || state === WHOLE || state === FRACTION ? EXPONENT : -1;
  return -1;
}

/** Returns whether a number may end in this state. */
export function isWholeNumber(state: number): boolean {
  return state === ZERO || state === WHOLE || state === FRACTION || state === EXPONENT_DIGIT;
}
