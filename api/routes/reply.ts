import { AsyncLocalStorage } from 'node:async_hooks';
import { Reply, type ServerRequest, serverRequestOf } from '#platform/http-server/mod.ts';
import type { ExportStream, RecordStream } from '../requests/mod.ts';

export const JSON_HEADERS = { 'content-type': 'application/json' };

/** Returns a response with this JSON text. */
function jsonReply(json: string): Response {
  return new Reply(json, { headers: JSON_HEADERS });
}

/** Returns `{"data": …, "error": null}` around a JSON text. */
export function dataReply(json: string): Response {
  return jsonReply(`{"data":${json},"error":null}`);
}

/**
 * Takes room for a text that the client of a call may be slow to read. Assets need none: all calls share their bytes.
 * @throws AssayError bodies_busy
 */
export function holdRoomFor(request: ServerRequest, response: Response): void {
  if (response instanceof Reply && typeof response.source === 'string')
    request.holdRoom(response.source.length);
}

/**
 * Returns the same around an array of records: in one piece when they are in memory, otherwise record by record as the
 * client reads.
 * @param onBroken receives the error that ended a stream after it had begun; the client sees the connection end
 * @throws AssayError bodies_busy: clients of the organization are slow to read other records
 */
export async function recordsReply(
  records: RecordStream,
  { request, onBroken }: { request: Request; onBroken(error: unknown): void },
): Promise<Response> {
  if (records.isWhole) {
    const texts: string[] = [];
    for await (const text of records.texts) texts.push(text);
    return dataReply(`[${texts.join(',')}]`);
  }
  serverRequestOf(request).holdRoom(records.bytesAtOnce);
  return new Reply(byteStream(records, onBroken), { headers: JSON_HEADERS });
}

/** Adds the source of an answer of the analytics endpoint, and how many milliseconds it is behind the log. */
export function analyticsReply(response: Response): Response {
  response.headers.set('service-analytics-source', 'postgres');
  response.headers.set('service-analytics-lag-ms', '0');
  return response;
}

/**
 * Returns the text of an export, piece by piece as the client reads; `onBroken` as in `recordsReply`.
 * @param admit throws once the caller's key may not make this call any more: an export can take hours
 */
export function exportReply(
  stream: ExportStream,
  { admit, onBroken }: { admit(): Promise<unknown>; onBroken(error: unknown): void },
): Response {
  const inCall = AsyncLocalStorage.snapshot();
  let isCancelled = false;
  const next = async () => {
    await admit();
    return await stream.next();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const text = await inCall(next);
          // The client may have left meanwhile: a cancelled stream takes nothing any more.
          if (isCancelled) return;
          if (text === null) controller.close();
          else controller.enqueue(Buffer.from(text));
        } catch (error) {
          if (isCancelled) return;
          stream.close();
          onBroken(error);
          controller.error(error);
        }
      },
      cancel() {
        isCancelled = true;
        stream.close();
      },
    },
    { highWaterMark: 1 },
  );
  return new Reply(body, { headers: { 'content-type': stream.contentType } });
}

/** The pieces are made in the context of the call, so that their statements are cancelled when its client disconnects. */
function byteStream({ texts }: RecordStream, onBroken: (error: unknown) => void): ReadableStream<Uint8Array> {
  const inCall = AsyncLocalStorage.snapshot();
  let count = 0;
  let isCancelled = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await inCall(() => texts.next());
          if (isCancelled) return;
          if (done === true) {
            controller.enqueue(Buffer.from('],"error":null}'));
            controller.close();
            return;
          }
          controller.enqueue(Buffer.from(count === 0 ? `{"data":[${value}` : `,${value}`));
          count += 1;
        } catch (error) {
          if (isCancelled) return;
          onBroken(error);
          controller.error(error);
        }
      },
      async cancel() {
        isCancelled = true;
        await texts.return();
      },
    },
    // One record at a time: records are large here, otherwise the page would be in one piece.
    { highWaterMark: 1 },
  );
}
