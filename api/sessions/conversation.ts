/**
 * The conversation of a session: of each request only what is new. A request is compared with the latest earlier ones of its
 * path, which are therefore read beside those of the page.
 */
import type { Conversation, Turn } from '#core/contracts/session.ts';
import type { Statement } from '#core/filter/mod.ts';
import { JsonFault, MAX_BODY_DEPTH } from '#core/json/mod.ts';
import { countSeen, type Said, saidIn } from '#core/sessions/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { scanMembersInTurns } from '#platform/process/turns.ts';
import { runStatement } from '../requests/mod.ts';
import { draftFor, finish } from './conditions.ts';
import { cursorOf, type Page } from './cursor.ts';

/** Earlier turns of a path that a turn is compared with: enough for several branches of a conversation at once. */
const COMPARED = 8;
/** The earlier requests of the session among which those are looked for. */
const LOOKED_BACK = 1_000;
/** Bytes of both bodies of a turn: parsing more would hold up other calls for over 10 ms. */
const MAX_TURN_BYTES = 1024 * 1024;
/**
 * Values in both bodies of a turn, which are parsed and compared in some 30 ms. A conversation of a megabyte has a few thousand; one
 * that is made of brackets has half a million.
 */
const MAX_TURN_VALUES = 20_000;
/** Bytes of the bodies of a page and of what it is compared with, and values in them; a page ends early at this. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;
const MAX_PAGE_VALUES = 200_000;

/** A request of the session, without its bodies. */
type TurnRow = {
  request_id: string;
  session_path: string | null;
  created_at: Date;
  status: number;
  model: string;
  bytes: number;
};

/** Reads a page of a session's conversation, oldest first. */
export async function readConversation(
  tx: TransactionSql,
  organizationId: string,
  sessionId: string,
  { after, limit }: Page,
): Promise<Conversation> {
  const read = (direction: 'after' | 'before', place: Page['after'], most: number) =>
    runStatement<TurnRow>(tx, turnsStatement(organizationId, sessionId, { direction, place, most }));
  const page = await read('after', after, limit + 1);
  const before = after === null ? [] : (await read('before', after, LOOKED_BACK)).reverse();
  const reader = new TurnReader(tx, organizationId, [...before, ...page.slice(0, limit)]);
  const turns: Turn[] = [];
  for (let index = 0; index < Math.min(limit, page.length); index += 1) {
    // The first turn is read whatever its size, so that every page makes progress.
    if (index > 0 && reader.isFull) break;
    turns.push(await reader.read(before.length + index));
  }
  const isEnd = turns.length === page.length;
  return { turns, next: isEnd ? null : cursorOf(page[turns.length - 1]!) };
}

type TurnsOptions = { direction: 'after' | 'before'; place: Page['after']; most: number };

/** Selects requests of a session on one side of a place, the nearest first; the one at the place is before. */
function turnsStatement(
  organizationId: string,
  sessionId: string,
  { direction, place, most }: TurnsOptions,
): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const [operator, order] = direction === 'after' ? ['>', 'asc'] : ['<=', 'desc'];
  const side =
    place === null
      ? ''
      : `and (r.created_at, r.request_id) ${operator} (${parameters.bind(place.created_at.toISOString(), 'timestamptz')}, ${parameters.bind(place.request_id, 'text')})`;
  const text = `
    select r.request_id, r.session_path, r.created_at, r.status, r.model,
           coalesce(octet_length(b.request_text) + octet_length(b.response_text), 0) as bytes
      from (select * from assay.requests r
             where r.organization_id = ${organization} and r.session_id = ${parameters.bind(sessionId, 'text')}
               and r.source <> 'evaluator' ${side}
             order by r.created_at ${order}, r.request_id ${order} limit ${parameters.bind(most, 'int8')}) r
      left join assay.bodies b on b.organization_id = r.organization_id and b.created_at = r.created_at
                                      and b.request_id = r.request_id
     order by r.created_at ${order}, r.request_id ${order}`;
  return finish(draft, text);
}

/** Reads the bodies of turns, each once. */
class TurnReader {
  readonly #tx: TransactionSql;
  readonly #organizationId: string;
  readonly #rows: readonly TurnRow[];
  /** Null: it has too many values. */
  readonly #said = new Map<number, Said | null>();
  #bytes = 0;
  #values = 0;

  constructor(tx: TransactionSql, organizationId: string, rows: readonly TurnRow[]) {
    this.#tx = tx;
    this.#organizationId = organizationId;
    this.#rows = rows;
  }

  get isFull(): boolean {
    return this.#bytes >= MAX_PAGE_BYTES || this.#values >= MAX_PAGE_VALUES;
  }

  /** Returns the turn at this index of the rows. */
  async read(index: number): Promise<Turn> {
    const { bytes, created_at, ...row } = this.#rows[index]!;
    const turn = { ...row, created_at: created_at.toISOString() };
    const tooLarge = { ...turn, seen_messages: 0, messages: [], answer: null, is_too_large: true };
    if (bytes > MAX_TURN_BYTES) return tooLarge;
    const earlier = this.#earlierOf(index);
    await this.#load([...earlier, index]);
    const said = this.#said.get(index) ?? null;
    if (said === null) return tooLarge;
    const { messages, answer } = said;
    const seen = countSeen(
      messages,
      earlier.flatMap((one) => this.#said.get(one)?.shown ?? []),
    );
    return { ...turn, seen_messages: seen, messages: messages.slice(seen), answer, is_too_large: false };
  }

  /** Returns the indexes of the turns that one is compared with. */
  #earlierOf(index: number): number[] {
    const found: number[] = [];
    const { session_path: path } = this.#rows[index]!;
    for (let at = index - 1; at >= 0 && at >= index - LOOKED_BACK && found.length < COMPARED; at -= 1) {
      const row = this.#rows[at]!;
      if (row.session_path === path && row.bytes <= MAX_TURN_BYTES) found.push(at);
    }
    return found;
  }

  async #load(indexes: readonly number[]): Promise<void> {
    const missing = indexes.filter((index) => !this.#said.has(index));
    const keys = missing.map((index) => this.#rows[index]!);
    const bodies = await runStatement<Bodies>(this.#tx, bodiesStatement(this.#organizationId, keys));
    const byId = new Map(bodies.map((row) => [row.request_id, row]));
    for (const index of missing) {
      const { request_id, bytes } = this.#rows[index]!;
      this.#bytes += bytes;
      this.#said.set(index, await this.#saidIn(byId.get(request_id)));
    }
  }

  /** Reads bodies, each in a turn of the event loop of its own; null: they have too many values. */
  async #saidIn({ request_text: request = '', response_text: response = '' }: Partial<Bodies> = {}) {
    const values = (await countValues(request)) + (await countValues(response));
    if (values > MAX_TURN_VALUES) return null;
    this.#values += values;
    return saidIn(request, response);
  }
}

/** Returns the number of values in a text, in turns; 0: it is no JSON, or nested too deep to be parsed. */
async function countValues(text: string): Promise<number> {
  try {
    const options = { names: [], maxDepth: MAX_BODY_DEPTH, isValid: true };
    return (await scanMembersInTurns(Buffer.from(text), options)).values;
  } catch (error) {
    if (error instanceof JsonFault) return 0;
    throw error;
  }
}

type Bodies = { request_id: string; request_text: string; response_text: string };

function bodiesStatement(organizationId: string, keys: readonly TurnRow[]): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const times = parameters.bind(
    keys.map((key) => key.created_at.toISOString()),
    'timestamptz[]',
  );
  const ids = parameters.bind(
    keys.map((key) => key.request_id),
    'text[]',
  );
  const text = `
    select b.request_id, b.request_text, b.response_text
      from unnest(${times}, ${ids}) as k (created_at, request_id)
      join assay.bodies b on b.organization_id = ${organization} and b.created_at = k.created_at
                                 and b.request_id = k.request_id`;
  return finish(draft, text);
}
