/** Requests as a table shows them: narrow columns and previews, page by page through cursors. Reads no bodies. */
import { invalidField } from '#core/contracts/invalid.ts';
import { DEFAULT_ROWS, type RowsBody } from '#core/contracts/rows.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { awaitRequest, type Position, type RequestQuery, readQuery, runStatement } from '../requests/mod.ts';
import { readColumns } from './columns.ts';
import { cursorOf, readCursor } from './cursor.ts';
import { type RowCells, rowsStatement, rowText } from './load.ts';
import { findPage, type PagePlace } from './page.ts';

const NEWEST = 'newest';

/** The work behind `/v1/request/rows`. */
export type RowService = {
  /** Returns the page as JSON text: `{"rows": […], "next": …, "prev": …}`. The body arrives checked, except for its filter. */
  list(organizationId: string, body: RowsBody): Promise<string>;
};

function readPlace({ after, before, around }: RowsBody, { sort }: RequestQuery): PagePlace {
  const given = Object.entries({ after, before, around }).filter(([, value]) => value !== undefined);
  if (given.length > 1) {
    const names = given.map(([name]) => name);
    throw invalidField(names[1]!, `cannot stand beside ${names[0]}: a page is in one place`);
  }
  if (after !== undefined) return { kind: 'after', position: readCursor('after', after, sort) };
  if (before !== undefined) return { kind: 'before', position: readCursor('before', before, sort) };
  if (around === undefined) return { kind: 'first' };
  return around === NEWEST ? { kind: 'newest' } : { kind: 'around', requestId: storableText(around) };
}

/** @param sql a pool under the role `assay_api` */
export function createRowService({ sql, clock }: { sql: Sql; clock: Clock }): RowService {
  return {
    async list(organizationId, body) {
      const query = { ...readQuery(body), limit: body.limit ?? DEFAULT_ROWS };
      const place = readPlace(body, query);
      const columns = readColumns(body.columns);
      const attempt = () =>
        inOrganization(sql, organizationId, async (tx) => {
          const page = await findPage(tx, organizationId, query, place);
          if (page === null) return null;
          // Its text differs with the columns that are asked for, of which there are too many combinations to keep plans of.
          const isPlannedOnce = body.columns === undefined;
          const statement = { ...rowsStatement(organizationId, page.keys, columns), isPlannedOnce };
          const rows = page.keys.length === 0 ? [] : await runStatement<RowCells>(tx, statement);
          return { ...page, rows };
        });
      // Only around an unknown request there is no page.
      const page =
        place.kind === 'around'
          ? await awaitRequest(place.requestId, { sql, clock, organizationId }, attempt)
          : (await attempt())!;
      const cursor = (position: Position | null) =>
        position === null ? 'null' : `"${cursorOf(query.sort, position)}"`;
      const rows = page.rows.map((row) => rowText(columns, row)).join(',');
      return `{"rows":[${rows}],"next":${cursor(page.next)},"prev":${cursor(page.prev)}}`;
    },
  };
}
