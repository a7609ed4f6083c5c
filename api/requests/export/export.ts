/**
 * `POST /v1/request/export`: every record of a filter as one long text. A batch of records is fetched while the one before
 * is written, and no connection is held while the client does not read.
 */
import { quoteValue } from '#core/contracts/check.ts';
import type { ExportBody, ExportCursor } from '#core/contracts/export.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { parseTimestamp } from '#core/filter/mod.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { FairSlots } from '#platform/process/fair-slots.ts';
import { inTurns } from '#platform/process/turns.ts';
import type { RequestKey } from '../find-keys.ts';
import { type Read, recordTexts } from '../load.ts';
import { readQuery } from '../query.ts';
import { walkRecords } from './batches.ts';
import { type RecordFormat, recordFormat } from './formats.ts';
import { createExportPlaces } from './places.ts';
import type { ExportRow } from './statements.ts';

/** An export under way. It takes up one of its organization's exports until its text has ended, failed or is closed. */
export type ExportStream = {
  contentType: string;
  /** Returns the next piece of the text; null: the text has ended. */
  next(): Promise<string | null>;
  close(): void;
};

/** Statements of an organization's exports at a time: fewer than half of its connections for queries. */
const STATEMENTS_OF_ONE = 2;
/** Characters. Smaller pieces cost a write each; larger ones hold up the event loop for longer than a millisecond or two. */
const PIECE_LENGTH = 64 * 1024;

/** Begins exports of one organization at a time. */
export type Exporter = (organizationId: string, body: ExportBody) => Promise<ExportStream>;

/** @param sql a pool under the role `assay_api` */
export function createExporter({ sql, clock }: { sql: Sql; clock: Clock }): Exporter {
  const takePlace = createExportPlaces('exports');
  const slots = new FairSlots({
    count: Number.POSITIVE_INFINITY,
    ofOne: STATEMENTS_OF_ONE,
    maxWaiting: Number.POSITIVE_INFINITY,
    maxWaitingOfOne: Number.POSITIVE_INFINITY,
  });

  return async (organizationId, body) => {
    const query = readQuery({ ...body, sort: { created_at: 'asc' } });
    const after = body.after === undefined ? null : readCursor(body.after);
    const format = recordFormat(body);
    const bodies = body.bodies ?? false;
    const endExport = takePlace(organizationId);
    const read: Read = async (work) =>
      (await slots.run(organizationId, () =>
        inOrganization(sql, organizationId, work, { isContinued: true }),
      ))!;
    const until = { created_at: new Date(clock.now()), request_id: null };
    const walk = walkRecords({ organizationId, query, bodies, span: { after, until }, read, clock });
    const texts = exportTexts(organizationId, readAhead(walk), { format, bodies, read });
    const stream = openStream(format.contentType, texts, endExport);
    await stream.begin();
    return stream;
  };
}

/** Returns the key behind which an export goes on. */
function readCursor({ request_created_at, request_id }: ExportCursor): RequestKey {
  const ms = parseTimestamp(request_created_at);
  if (ms === null) {
    throw invalidField(
      'after.request_created_at',
      'must be an RFC 3339 timestamp like "2026-01-31T12:00:00.000Z" in the years 0001 to 9999, ' +
        `but is ${quoteValue(request_created_at)}`,
    );
  }
  return { created_at: new Date(ms), request_id: storableText(request_id) };
}

/** Yields the same batches; while one is used, the next is read. */
async function* readAhead(batches: AsyncGenerator<ExportRow[], void>): AsyncGenerator<ExportRow[], void> {
  let next = batches.next();
  for (;;) {
    const { done, value } = await next;
    if (done === true) return;
    next = batches.next();
    // Whoever waits for it gets its error; nobody does when the client has left.
    next.catch(() => {});
    yield value;
  }
}

type TextOptions = { format: RecordFormat; bodies: boolean; read: Read };

/** Yields the text of an export; an empty piece where a batch has no records. */
async function* exportTexts(
  organizationId: string,
  batches: AsyncGenerator<ExportRow[], void>,
  { format, bodies, read }: TextOptions,
): AsyncGenerator<string, void> {
  let piece = format.head;
  for await (const rows of batches) {
    if (bodies) {
      for await (const text of recordTexts(organizationId, rows, { read, write: format.write })) {
        piece += text;
        if (piece.length < PIECE_LENGTH) continue;
        yield piece;
        piece = '';
      }
    }
    for (let done = bodies ? rows.length : 0; done < rows.length; ) {
      await inTurns(() => {
        while (done < rows.length && piece.length < PIECE_LENGTH) {
          piece += format.write(rows[done]!, null);
          done += 1;
        }
        return true;
      });
      if (piece.length < PIECE_LENGTH) break;
      yield piece;
      piece = '';
    }
    yield piece;
    piece = '';
  }
}

/** Returns the stream of these texts; `onOver` is called once. */
function openStream(
  contentType: string,
  texts: AsyncGenerator<string, void>,
  onOver: () => void,
): ExportStream & { begin(): Promise<void> } {
  let isOver = false;
  /** The text that `begin` has read. */
  let first: string | null = null;

  function close(): void {
    if (isOver) return;
    isOver = true;
    onOver();
    void texts.return().catch(() => {});
  }

  async function read(): Promise<string | null> {
    try {
      const { done, value } = await texts.next();
      if (done !== true) return value;
      close();
      return null;
    } catch (error) {
      close();
      throw error;
    }
  }

  return {
    contentType,
    close,
    /** Reads the first batch, so that what fails at once is an answer with a status of its own. */
    async begin() {
      first = await read();
    },
    async next() {
      const begun = first;
      first = null;
      if (begun !== null && begun !== '') return begun;
      for (;;) {
        if (isOver) return null;
        const text = await read();
        if (text !== '') return text;
      }
    },
  };
}
