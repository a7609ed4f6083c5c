/** Logged requests: what the API finds of them, and what it lets callers add. */

import { parseWith } from '#core/contracts/check.ts';
import { feedbackBodyChecker, propertyBodyChecker, queryIdsBodyChecker } from '#core/contracts/query.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { inOrganization, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { awaitRequest } from './await-request.ts';
import { countStatement } from './count.ts';
import { type DeliveryRow, deliveryStatement, deliveryText } from './delivery.ts';
import { feedbackStatement } from './feedback.ts';
import { findKeysOfIds, findPageKeys } from './find-keys.ts';
import { type LoadedRecords, loadRecords, recordTexts } from './load.ts';
import { setProperty } from './property.ts';
import { readQuery } from './query.ts';
import { runStatement } from './run.ts';
import { readScores, scoresStatement } from './scores.ts';
import { findShortSource } from './sources.ts';

export { nanoToUsd } from './money.ts';

/** Records as JSON texts, in order; `isWhole` when all are in memory already. */
export type RecordStream = { texts: AsyncGenerator<string, void>; isWhole: boolean };

/**
 * What the routes of `/v1/request` do, for one organization at a time. Bodies come as parsed JSON of any shape and are
 * checked here.
 */
export type RequestService = {
  query(organizationId: string, body: unknown): Promise<RecordStream>;
  queryIds(organizationId: string, body: unknown): Promise<RecordStream>;
  count(organizationId: string, body: unknown): Promise<number>;
  /** The record as JSON text. */
  get(organizationId: string, requestId: string): Promise<string>;
  /** How a request's answer came about, as JSON text. */
  getDelivery(organizationId: string, requestId: string): Promise<string>;
  setFeedback(organizationId: string, requestId: string, body: unknown): Promise<void>;
  setScores(organizationId: string, requestId: string, body: unknown): Promise<void>;
  setProperty(organizationId: string, requestId: string, body: unknown): Promise<void>;
};

/** @param sql a pool under the role `assay_api` */
export function createRequestService({ sql, clock }: { sql: Sql; clock: Clock }): RequestService {
  const stream = (organizationId: string, loaded: LoadedRecords, includeInputs: boolean): RecordStream => ({
    texts: recordTexts(sql, organizationId, loaded, { includeInputs }),
    isWhole: loaded.bodies.length === loaded.rows.length,
  });

  /** Tries a change until the request is there; the id is compared as Postgres would have stored it. */
  async function change(
    organizationId: string,
    requestId: string,
    attempt: (tx: TransactionSql, storedId: string) => Promise<boolean>,
  ): Promise<void> {
    const storedId = storableText(requestId);
    await awaitRequest(requestId, clock, () =>
      inOrganization(sql, organizationId, (tx) => attempt(tx, storedId)),
    );
  }

  return {
    async query(organizationId, body) {
      const query = readQuery(body);
      const loaded = await inOrganization(sql, organizationId, async (tx) =>
        loadRecords(tx, organizationId, await findPageKeys(tx, organizationId, query)),
      );
      return stream(organizationId, loaded, query.includeInputs);
    },

    async queryIds(organizationId, body) {
      const { requestIds } = parseWith(queryIdsBodyChecker, body);
      const loaded = await inOrganization(sql, organizationId, async (tx) =>
        loadRecords(
          tx,
          organizationId,
          await findKeysOfIds(tx, organizationId, requestIds.map(storableText)),
        ),
      );
      return stream(organizationId, loaded, false);
    },

    async count(organizationId, body) {
      const query = readQuery(body);
      const [row] = await inOrganization(sql, organizationId, async (tx) => {
        const source = await findShortSource(tx, organizationId, query);
        return runStatement<{ count: string }>(tx, countStatement(organizationId, query, source));
      });
      return Number(row?.count);
    },

    async get(organizationId, requestId) {
      const loaded = await awaitRequest(requestId, clock, () =>
        inOrganization(sql, organizationId, async (tx) => {
          const keys = await findKeysOfIds(tx, organizationId, [storableText(requestId)]);
          return keys.length === 0 ? null : loadRecords(tx, organizationId, keys);
        }),
      );
      const { value } = await stream(organizationId, loaded, false).texts.next();
      return value as string;
    },

    async getDelivery(organizationId, requestId) {
      const statement = deliveryStatement(organizationId, storableText(requestId));
      const row = await awaitRequest(requestId, clock, () =>
        inOrganization(sql, organizationId, async (tx) => {
          const [found] = await runStatement<DeliveryRow>(tx, statement);
          return found ?? null;
        }),
      );
      return deliveryText(row);
    },

    async setFeedback(organizationId, requestId, body) {
      const { rating } = parseWith(feedbackBodyChecker, body);
      await change(organizationId, requestId, async (tx, storedId) => {
        const feedback = { rating, at: new Date(clock.now()) };
        return (await runStatement(tx, feedbackStatement(organizationId, storedId, feedback))).length > 0;
      });
    },

    async setScores(organizationId, requestId, body) {
      const scores = readScores(body);
      await change(organizationId, requestId, async (tx, storedId) => {
        const statement = scoresStatement(organizationId, storedId, scores, new Date(clock.now()));
        return (await runStatement(tx, statement)).length > 0;
      });
    },

    async setProperty(organizationId, requestId, body) {
      const property = parseWith(propertyBodyChecker, body);
      await change(organizationId, requestId, (tx, storedId) =>
        setProperty(tx, organizationId, storedId, property),
      );
    },
  };
}
