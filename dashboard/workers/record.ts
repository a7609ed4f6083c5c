/**
 * Fetches records and keeps them: bodies have up to 32 MiB, and to parse one would hold up the page. The page gets only what it
 * shows.
 */
import { assembleStream } from '#core/chat/mod.ts';
import type { RequestRecord } from '#core/contracts/record.ts';
import type { Conversation } from '#core/contracts/session.ts';
import { parseExactJson } from '#core/json-values/mod.ts';
import { ApiFailure, readFailure, send } from '../client/call.ts';
import { Bodies } from '../parts/record/bodies.ts';
import type { BodyMethods, ImageBytes } from '../parts/record/body-methods.ts';
import type {
  Answer,
  MethodName,
  Question,
  RecordHead,
  ToldFailure,
  TurnPage,
} from '../parts/record/record-protocol.ts';
import { bodiesOfTurn } from '../parts/record/turn.ts';
import { Shelf } from './shelf.ts';

/** Records that are kept: the one that is shown, and those that were fetched ahead. */
const MOST_RECORDS = 8;
/** Pages of conversations. */
const MOST_PAGES = 8;
/** UTF-16 code units of the JSON of either. */
const MOST_TEXT = 48 * 1024 * 1024;

type KeptRecord = { bodies: Bodies; size: number };
type KeptPage = { head: TurnPage; turns: ReadonlyMap<string, Bodies>; size: number };

const records = new Shelf<KeptRecord>(MOST_RECORDS, MOST_TEXT);
const pages = new Shelf<KeptPage>(MOST_PAGES, MOST_TEXT);
const running = new Map<number, AbortController>();

async function fetchData(path: string, signal: AbortSignal): Promise<{ data: unknown; size: number }> {
  const response = await send('GET', path, undefined, signal);
  if (!response.ok) throw await readFailure(response);
  const text = await response.text();
  signal.throwIfAborted();
  return { data: (parse(text) as { data: unknown }).data, size: text.length };
}

async function fetchRecord(
  requestId: string,
  signal: AbortSignal,
): Promise<KeptRecord & { head: RecordHead }> {
  const { data, size } = await fetchData(`/v1/request/${encodeURIComponent(requestId)}`, signal);
  const { request_body: request, response_body: response, inputs: _, ...head } = data as RequestRecord;
  const bodies = new Bodies({ request, response, status: head.response_status });
  // A score beyond 2^53 is kept as it was written, which no message to the page can hold.
  return { head: JSON.parse(JSON.stringify(head)), ...records.put(requestId, { bodies, size }) };
}

async function fetchPage(page: string, signal: AbortSignal): Promise<KeptPage> {
  const { data, size } = await fetchData(page, signal);
  const { turns, next } = data as Conversation;
  const heads = turns.map(({ messages: _, answer: __, ...head }) => head);
  const bodies = new Map(turns.map((turn) => [turn.request_id, new Bodies(bodiesOfTurn(turn))]));
  return pages.put(page, { head: { turns: heads, next }, turns: bodies, size });
}

/** Numbers stay as they were written, except in bodies that are nested too deep for that. */
function parse(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof RangeError) return JSON.parse(text);
    throw error;
  }
}

/** Keeps an answer that the page has received, until its record can be fetched. An answer that is no JSON is a text. */
function keepAnswer({ requestId, text, isStream, status }: Extract<Question, { kind: 'keep' }>): void {
  let response: unknown;
  try {
    response = isStream ? assembleStream(text).completion : parse(text);
  } catch {
    response = { text };
  }
  records.put(requestId, { bodies: new Bodies({ request: {}, response, status }), size: text.length });
}

async function bodiesFor(requestId: string, page: string | null, signal: AbortSignal): Promise<Bodies> {
  if (page === null) return (records.get(requestId) ?? (await fetchRecord(requestId, signal))).bodies;
  const { turns } = pages.get(page) ?? (await fetchPage(page, signal));
  const bodies = turns.get(requestId);
  if (bodies === undefined) throw new Error('it is no longer in the session');
  return bodies;
}

async function answer(question: Exclude<Question, { kind: 'stop' }>, signal: AbortSignal): Promise<unknown> {
  switch (question.kind) {
    case 'open':
      return (await fetchRecord(question.requestId, signal)).head;
    case 'open-turns':
      return (await fetchPage(question.page, signal)).head;
    case 'keep':
      return keepAnswer(question);
    case 'ask': {
      const { requestId, page, method, values } = question;
      return askBodies(await bodiesFor(requestId, page, signal), method, values);
    }
  }
}

function askBodies(bodies: Bodies, method: MethodName, values: unknown[]): unknown {
  // The page asks through `BodyReader`, whose types hold method and values together.
  const ask = bodies[method].bind(bodies) as (...values: unknown[]) => ReturnType<BodyMethods[MethodName]>;
  return ask(...values);
}

function toldFailure(error: unknown): ToldFailure {
  if (error instanceof ApiFailure) {
    const { message, status, requestId, retryAfterS } = error;
    return { message, status, requestId, retryAfterS };
  }
  const reason = error instanceof Error ? error.message : String(error);
  return { message: `The record cannot be read: ${reason}`, status: 0, requestId: null, retryAfterS: null };
}

/** Bytes are handed over rather than copied. */
function transferable(value: unknown): Transferable[] {
  const image = value as Partial<Extract<ImageBytes, { kind: 'image' }>> | null;
  return image?.kind === 'image' && image.bytes instanceof Uint8Array ? [image.bytes.buffer] : [];
}

function tell(message: Answer, transfer: Transferable[] = []): void {
  postMessage(message, { transfer });
}

addEventListener('message', async ({ data: question }: MessageEvent<Question>) => {
  const { call } = question;
  if (question.kind === 'stop') {
    running.get(call)?.abort();
    return;
  }
  const controller = new AbortController();
  running.set(call, controller);
  try {
    const value = await answer(question, controller.signal);
    tell({ call, kind: 'done', value }, transferable(value));
  } catch (error) {
    if (!controller.signal.aborted) tell({ call, kind: 'failed', failure: toldFailure(error) });
  } finally {
    running.delete(call);
  }
});

tell({ kind: 'ready' });
