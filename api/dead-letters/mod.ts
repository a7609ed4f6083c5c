/** Dead letters of an organization: log entries that could not be stored. Ingest keeps them, and stores them again. */
import {
  type DeadLetterJson,
  type DeadLetterPage,
  type DeadLettersQuery,
  LETTER_PAGE,
  type RetriedJson,
} from '#core/contracts/dead-letter.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { inOrganization, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import { unknown } from '../ids.ts';
import { LETTER_BEGINNING_BYTES, summaryJson, wholeJson } from './letter-json.ts';
import { deleteLetter, type LetterRow, selectLetters } from './store.ts';

/**
 * Stores the entry of a letter as ingest does; only ingest knows how. Null: there is no such letter any more; `refused` null:
 * it was stored. `begin` runs the transaction that stores.
 */
export type RetryDeadLetter = (
  sql: Sql,
  id: string,
  options: { begin(work: (tx: TransactionSql) => Promise<boolean>): Promise<boolean> },
) => Promise<{ refused: string | null } | null>;

export type DeadLetterService = {
  /** Returns a page of letters, newest first. */
  list(organizationId: string, query: DeadLettersQuery): Promise<DeadLetterPage>;
  /** @throws AssayError not_found, as all that follow */
  get(organizationId: string, id: string): Promise<DeadLetterJson>;
  retry(organizationId: string, id: string): Promise<RetriedJson>;
  drop(organizationId: string, id: string): Promise<null>;
};

export type DeadLetterServiceOptions = {
  /** A pool under the role `assay_api`. */
  sql: Sql;
  /** A pool of the owner: the API's role may not store records. */
  ownerSql: Sql;
  retryDeadLetter: RetryDeadLetter;
};

export function createDeadLetterService(options: DeadLetterServiceOptions): DeadLetterService {
  const { sql, ownerSql, retryDeadLetter } = options;

  return {
    async list(organizationId, { limit, after = null, reason }) {
      const most = limit === undefined ? LETTER_PAGE.unlessGiven : Number(limit);
      // One more than the page has: it tells whether there is another page.
      const rows = await inOrganization(sql, organizationId, (tx) =>
        selectLetters(tx, {
          id: null,
          before: after,
          reason: reason === undefined ? null : storableText(reason),
          limit: most + 1,
          beginningBytes: LETTER_BEGINNING_BYTES,
        }),
      );
      const page = rows.slice(0, most);
      return { letters: page.map(summaryJson), next: rows.length > most ? page.at(-1)!.id : null };
    },

    get: (organizationId, id) =>
      inOrganization(sql, organizationId, async (tx) => wholeJson(tx, await existing(tx, id))),

    async retry(organizationId, id) {
      // An id is never given to another letter, and a letter never changes its organization.
      await inOrganization(sql, organizationId, (tx) => existing(tx, id));
      const retried = await retryDeadLetter(ownerSql, id, {
        begin: (work) => inOrganization(ownerSql, organizationId, work),
      });
      if (retried === null) throw unknown('dead letter', id);
      const { refused } = retried;
      return { outcome: refused === null ? 'stored' : 'refused', reason: refused };
    },

    async drop(organizationId, id) {
      const wasThere = await inOrganization(sql, organizationId, (tx) => deleteLetter(tx, id));
      if (!wasThere) throw unknown('dead letter', id);
      return null;
    },
  };
}

async function existing(tx: TransactionSql, id: string): Promise<LetterRow> {
  const [row] = await selectLetters(tx, {
    id,
    before: null,
    reason: null,
    limit: 1,
    beginningBytes: LETTER_BEGINNING_BYTES,
  });
  if (row !== undefined) return row;
  throw unknown('dead letter', id);
}
