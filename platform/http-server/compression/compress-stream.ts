import type { Coding } from './accept-encoding.ts';
import { CODERS } from './coders.ts';

/**
 * Returns a compressed stream of the same bytes. It reads a piece when the client has room for it, and passes each on at
 * once: a client sees the first rows of an export while the next are being found.
 */
export function compressStream(
  source: ReadableStream<Uint8Array>,
  coding: Coding,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const coder = CODERS[coding].createStream();
  let pieces: Uint8Array[] = [];
  let failure: Error | null = null;
  coder.on('data', (piece: Uint8Array) => pieces.push(piece));
  // Errors of writes come through their callbacks, too; without a listener this one would end the process.
  coder.on('error', (error) => {
    failure = error;
  });

  function write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      coder.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }
  function end(): Promise<void> {
    return new Promise((resolve, reject) => {
      coder.once('end', resolve);
      coder.once('error', reject);
      coder.end();
    });
  }
  /** Reads until something has come out; false: the source has ended. */
  async function pump(): Promise<boolean> {
    while (pieces.length === 0) {
      const { done, value } = await reader.read();
      if (failure !== null) throw failure;
      if (done) {
        await end();
        return false;
      }
      if (value.length > 0) await write(value);
    }
    return true;
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const goesOn = await pump();
          for (const piece of pieces) controller.enqueue(piece);
          pieces = [];
          if (!goesOn) controller.close();
        } catch (error) {
          coder.destroy();
          controller.error(error);
          // The coder may have failed: then the source is no longer needed.
          await reader.cancel(error).catch(() => {});
        }
      },
      async cancel(reason) {
        coder.destroy();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 1 },
  );
}
