import t from 'tap';
import { innerRequest } from '#platform/http-server/mod.ts';
import { exportReply, recordsReply } from '../../../../api/routes/reply.ts';

const request = innerRequest(
  { method: 'POST', target: '/', rawHeaders: [], body: null },
  { signal: new AbortController().signal },
);

/** A text that is being read until `arrive`. */
function slowTexts() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const broken: unknown[] = [];
  async function* texts(): AsyncGenerator<string, void> {
    yield '1';
    await promise;
    yield '2';
  }
  return { texts: texts(), arrive: resolve, broken, onBroken: (error: unknown) => broken.push(error) };
}

/** Reads the first piece, leaves while the next one is being read, and waits until it has come. */
async function leaveMidway(response: Response, arrive: () => void): Promise<void> {
  const reader = response.body!.getReader();
  await reader.read();
  await new Promise(setImmediate);
  const cancelled = reader.cancel();
  arrive();
  await cancelled;
  await new Promise(setImmediate);
}

t.test('an export whose client leaves while a piece is read is no failure', async (t) => {
  const { texts, arrive, broken, onBroken } = slowTexts();
  let isClosed = false;
  const stream = {
    contentType: 'text/csv',
    next: async () => (await texts.next()).value ?? null,
    close: () => {
      isClosed = true;
    },
  };
  await leaveMidway(exportReply(stream, { admit: async () => {}, onBroken }), arrive);
  t.ok(isClosed);
  t.strictSame(broken, []);
});

t.test('records whose client leaves while one is read are no failure', async (t) => {
  const { texts, arrive, broken, onBroken } = slowTexts();
  const records = { texts, isWhole: false, bytesAtOnce: 2 };
  await leaveMidway(await recordsReply(records, { request, onBroken }), arrive);
  t.strictSame(broken, []);
});
