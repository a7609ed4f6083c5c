/** One buffer of several, without a copy when there is only one. */
export function joinBytes(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}
