/** Logged requests: finds them, and adds callers' properties, scores and feedback. */

import type { ExportBody } from '#core/contracts/export.ts';
import type {
  CountBody,
  FeedbackBody,
  PropertyBody,
  QueryBody,
  QueryIdsBody,
  RequestCount,
  ScoreBody,
} from '#core/contracts/query.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { parseAnalyticsFilter } from '#core/filter/mod.ts';
import { inOrganization, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { type Included, NOTHING_MORE, recordFields, recordWriter } from '#platform/records/mod.ts';
import { removeScore, scoresOf, setFeedback, setScores } from './annotations.ts';
import { awaitRequest } from './await-request.ts';
import { countRequests } from './count.ts';
import { type Delivery, type DeliveryRow, deliveryOf, deliveryStatement } from './delivery.ts';
import { createExporter, type ExportStream } from './export/export.ts';
import { findKey, findKeysOfIds } from './find-keys.ts';
import { bytesAtOnce, isShort, type LoadedPage, loadPage, pageTexts } from './load.ts';
import { findPageKeys } from './page-keys.ts';
import { removeProperty, setProperty } from './property.ts';
import { type RequestQuery, readQuery } from './query.ts';
import { runStatement } from './statement.ts';

export { nanoToUsd, usdOrNull, usdToNano } from '#core/contracts/money.ts';
export { scoresOf } from './annotations.ts';
export { awaitRequest, awaitRequests, unknownRequest } from './await-request.ts';
export { conditionOf, fromFound, type RequestCondition } from './conditions.ts';
export { Delivery } from './delivery.ts';
export type { ExportStream } from './export/export.ts';
export { createExportPlaces } from './export/places.ts';
export { findKey, findKeysOfIds, type RequestKey } from './find-keys.ts';
export { findClaimed } from './missing.ts';
export { findPageKeys } from './page-keys.ts';
export { type RequestQuery, readQuery } from './query.ts';
export { findSortedKey, type SortedKey } from './sorted-key.ts';
export { findShortSource } from './sources.ts';
export { runStatement } from './statement.ts';
export { type Position, walkKeys } from './walk-keys.ts';

/** Records as JSON texts, in order; `isWhole` when all are in memory already, else so many bytes of them at a time. */
export type RecordStream = { texts: AsyncGenerator<string, void>; isWhole: boolean; bytesAtOnce: number };

/**
 * The work behind the routes of `/v1/request`, for one organization at a time. Bodies arrive checked, except for their filter.
 */
export type RequestService = {
  query(organizationId: string, body: QueryBody): Promise<RecordStream>;
  /** The same with the sections of the analytics endpoint in its filter. */
  queryAnalytics(organizationId: string, body: QueryBody): Promise<RecordStream>;
  queryIds(organizationId: string, body: QueryIdsBody): Promise<RecordStream>;
  count(organizationId: string, body: QueryBody): Promise<number>;
  /** Counts up to `atMost`, or all where the body has none. */
  countAtMost(organizationId: string, body: CountBody): Promise<RequestCount>;
  /** Every record of a filter, the oldest first. */
  export(organizationId: string, body: ExportBody): Promise<ExportStream>;
  /** The record as JSON text; on request with its expected answer. */
  get(organizationId: string, requestId: string, includeExpected: boolean): Promise<string>;
  getDelivery(organizationId: string, requestId: string): Promise<Delivery>;
  setFeedback(organizationId: string, requestId: string, body: FeedbackBody): Promise<null>;
  setScores(organizationId: string, requestId: string, body: ScoreBody): Promise<null>;
  setProperty(organizationId: string, requestId: string, body: PropertyBody): Promise<null>;
  removeFeedback(organizationId: string, requestId: string): Promise<null>;
  removeScore(organizationId: string, requestId: string, key: string): Promise<null>;
  removeProperty(organizationId: string, requestId: string, key: string): Promise<null>;
};

function includedBy({ includeInputs, includeExpected }: RequestQuery): Included {
  return { includeInputs, includeExpected };
}

/** @param sql a pool under the role `assay_api` */
export function createRequestService({ sql, clock }: { sql: Sql; clock: Clock }): RequestService {
  const stream = (organizationId: string, loaded: LoadedPage, included: Included): RecordStream => ({
    texts: pageTexts(organizationId, loaded, {
      included,
      read: (work) => inOrganization(sql, organizationId, work, { isContinued: true }),
      write: recordWriter(recordFields({ bodies: true, ...included })),
    }),
    isWhole: isShort(loaded),
    bytesAtOnce: bytesAtOnce(loaded),
  });

  async function find(organizationId: string, query: RequestQuery): Promise<RecordStream> {
    const loaded = await inOrganization(sql, organizationId, async (tx) =>
      loadPage(tx, organizationId, await findPageKeys(tx, organizationId, query), includedBy(query)),
    );
    return stream(organizationId, loaded, includedBy(query));
  }

  async function count(organizationId: string, query: RequestQuery, atMost: number | null): Promise<number> {
    return inOrganization(sql, organizationId, (tx) => countRequests(tx, organizationId, query, atMost));
  }

  /** Tries a change until the request is there; the id is compared as Postgres would have stored it. */
  async function change(
    organizationId: string,
    requestId: string,
    attempt: (tx: TransactionSql, storedId: string) => Promise<boolean>,
  ): Promise<null> {
    const storedId = storableText(requestId);
    await awaitRequest(requestId, { sql, clock, organizationId }, () =>
      inOrganization(sql, organizationId, (tx) => attempt(tx, storedId)),
    );
    return null;
  }

  return {
    query: (organizationId, body) => find(organizationId, readQuery(body)),

    queryAnalytics: (organizationId, body) => find(organizationId, readQuery(body, parseAnalyticsFilter)),

    async queryIds(organizationId, { requestIds }) {
      const loaded = await inOrganization(sql, organizationId, async (tx) =>
        loadPage(
          tx,
          organizationId,
          await findKeysOfIds(tx, organizationId, requestIds.map(storableText)),
          NOTHING_MORE,
        ),
      );
      return stream(organizationId, loaded, NOTHING_MORE);
    },

    count: (organizationId, body) => count(organizationId, readQuery(body), null),

    async countAtMost(organizationId, { atMost = null, ...body }) {
      const found = await count(organizationId, readQuery(body), atMost);
      return atMost === null ? found : { count: found, atLeast: found === atMost };
    },

    export: createExporter({ sql, clock }),

    async get(organizationId, requestId, includeExpected) {
      const included = { includeInputs: false, includeExpected };
      const loaded = await awaitRequest(requestId, { sql, clock, organizationId }, () =>
        inOrganization(sql, organizationId, async (tx) => {
          const keys = await findKeysOfIds(tx, organizationId, [storableText(requestId)]);
          const page = await loadPage(tx, organizationId, keys, included);
          return page.rows.length === 0 ? null : page;
        }),
      );
      const { value } = await stream(organizationId, loaded, included).texts.next();
      return value as string;
    },

    async getDelivery(organizationId, requestId) {
      const row = await awaitRequest(requestId, { sql, clock, organizationId }, () =>
        inOrganization(sql, organizationId, async (tx) => {
          const key = await findKey(tx, organizationId, storableText(requestId));
          if (key === null) return null;
          const [found] = await runStatement<DeliveryRow>(tx, deliveryStatement(organizationId, key));
          return found ?? null;
        }),
      );
      return deliveryOf(row);
    },

    setFeedback(organizationId, requestId, { rating }) {
      return change(organizationId, requestId, (tx, storedId) =>
        setFeedback(tx, organizationId, storedId, { rating, at: new Date(clock.now()) }),
      );
    },

    setScores(organizationId, requestId, body) {
      const scores = scoresOf(body);
      return change(organizationId, requestId, (tx, storedId) =>
        setScores(tx, organizationId, storedId, scores, new Date(clock.now())),
      );
    },

    setProperty(organizationId, requestId, property) {
      return change(organizationId, requestId, (tx, storedId) =>
        setProperty(tx, organizationId, storedId, property),
      );
    },

    removeFeedback(organizationId, requestId) {
      return change(organizationId, requestId, (tx, storedId) =>
        setFeedback(tx, organizationId, storedId, null),
      );
    },

    removeScore(organizationId, requestId, key) {
      return change(organizationId, requestId, (tx, storedId) =>
        removeScore(tx, organizationId, storedId, storableText(key)),
      );
    },

    removeProperty(organizationId, requestId, key) {
      return change(organizationId, requestId, (tx, storedId) =>
        removeProperty(tx, organizationId, storedId, key),
      );
    },
  };
}
