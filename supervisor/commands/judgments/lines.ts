/** A line of a file, counted from 1, without its line end. */
export type Line = { number: number; text: string };

const NEWLINE = 0x0a;

/**
 * Yields the lines of a file that are not blank, holding no more of it than one line and one chunk.
 * @throws Error for a line that is longer than `maxBytes`
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line> {
  let number = 1;
  let pieces: Buffer[] = [];
  let bytes = 0;
  const add = (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > maxBytes) throw new Error(`Line ${number} is longer than the ${maxBytes} bytes allowed`);
    pieces.push(piece);
  };
  const take = (): Line[] => {
    const line = { number, text: Buffer.concat(pieces).toString('utf8').trim() };
    [number, pieces, bytes] = [number + 1, [], 0];
    return line.text === '' ? [] : [line];
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, end));
      from = end + 1;
      yield* take();
    }
    add(chunk.subarray(from));
  }
  yield* take();
}
