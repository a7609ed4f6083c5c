/** Sessions: finds them, measures them, shows their requests, takes ratings and tags. */
import {
  type Conversation,
  DEFAULT_TURNS,
  MAX_TREE_REQUESTS,
  MAX_TURNS,
  type PageParameters,
  type SessionFeedbackBody,
  type SessionMetrics,
  type SessionMetricsQueryBody,
  type SessionNameQueryBody,
  type SessionNameRow,
  type SessionQueryBody,
  type SessionRow,
  type SessionTagBody,
  type SessionTree,
} from '#core/contracts/session.ts';
import { storableSessionText, storableText } from '#core/contracts/storable-text.ts';
import { inOrganization, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { unknown } from '../ids.ts';
import { runStatement } from '../requests/mod.ts';
import { requestsInSessions } from './conditions.ts';
import { readConversation } from './conversation.ts';
import { cursorOf, readPage } from './cursor.ts';
import { hasSessionStatement, rateStatement, tagStatement } from './marks.ts';
import { measureSessions, metricsJson } from './metrics.ts';
import { nameJson, namesPage, type StoredName } from './names.ts';
import { findSessions, oneSession } from './page.ts';
import { readSessionsQuery } from './read-query.ts';
import { readSessionScores } from './scores.ts';
import { type StoredSession, sessionJson } from './session-json.ts';
import { SpanDigests } from './span-digests.ts';
import { type TreeRow, treeOf, treeStatement } from './tree.ts';

/** The work behind the routes of `/v1/session`, for one organization at a time. Bodies arrive checked, except for their filter. */
export type SessionService = {
  query(organizationId: string, body: SessionQueryBody): Promise<SessionRow[]>;
  queryNames(organizationId: string, body: SessionNameQueryBody): Promise<SessionNameRow[]>;
  measure(organizationId: string, body: SessionMetricsQueryBody): Promise<SessionMetrics>;
  hasAny(organizationId: string): Promise<boolean>;
  getTree(organizationId: string, sessionId: string, parameters: PageParameters): Promise<SessionTree>;
  getConversation(
    organizationId: string,
    sessionId: string,
    parameters: PageParameters,
  ): Promise<Conversation>;
  getTag(organizationId: string, sessionId: string): Promise<string | null>;
  setTag(organizationId: string, sessionId: string, body: SessionTagBody): Promise<null>;
  setFeedback(organizationId: string, sessionId: string, body: SessionFeedbackBody): Promise<null>;
};

const NO_NAMES = { search: null, contains: null, equals: null };

/** @param sql a pool under the role `assay_api` */
export function createSessionService({ sql, clock }: { sql: Sql; clock: Clock }): SessionService {
  const digests = new SpanDigests();

  /** Returns the session with this id, which is compared as ingest stores it. */
  async function find(tx: TransactionSql, organizationId: string, sessionId: string): Promise<StoredSession> {
    const [session] = await runStatement<StoredSession>(
      tx,
      oneSession(organizationId, storableSessionText(sessionId)),
    );
    if (session === undefined) throw unknown('session', sessionId);
    return session;
  }

  return {
    async query(organizationId, body) {
      const query = readSessionsQuery(body);
      return await inOrganization(sql, organizationId, async (tx) => {
        const found = await findSessions(tx, organizationId, query);
        const scores = await readSessionScores(
          tx,
          organizationId,
          found.map((session) => session.session_id),
        );
        return found.map((session) => sessionJson(session, scores.get(session.session_id)!));
      });
    },

    async queryNames(organizationId, body) {
      const query = readSessionsQuery(body);
      const rows = await inOrganization(sql, organizationId, async (tx) => {
        const from = await requestsInSessions(tx, organizationId, { ...query, names: NO_NAMES });
        return runStatement<StoredName>(tx, namesPage(organizationId, query, from));
      });
      return rows.map(nameJson);
    },

    async measure(organizationId, body) {
      const query = readSessionsQuery(body);
      const measured = await inOrganization(sql, organizationId, (tx) =>
        measureSessions(tx, organizationId, query, digests),
      );
      return metricsJson(measured, body);
    },

    async hasAny(organizationId) {
      const [row] = await inOrganization(sql, organizationId, (tx) =>
        runStatement<{ has: boolean }>(tx, hasSessionStatement(organizationId)),
      );
      return row?.has === true;
    },

    async getTree(organizationId, sessionId, parameters) {
      const page = readPage(parameters, MAX_TREE_REQUESTS, MAX_TREE_REQUESTS);
      const { session, scores, rows } = await inOrganization(sql, organizationId, async (tx) => {
        const found = await find(tx, organizationId, sessionId);
        const statement = treeStatement(organizationId, found.session_id, page);
        const scoresOf = await readSessionScores(tx, organizationId, [found.session_id]);
        return {
          session: found,
          scores: scoresOf.get(found.session_id)!,
          rows: await runStatement<TreeRow>(tx, statement),
        };
      });
      const shown = rows.slice(0, page.limit);
      const next = rows.length > page.limit ? cursorOf(shown.at(-1)!) : null;
      return { session: sessionJson(session, scores), tree: treeOf(shown), next };
    },

    async getConversation(organizationId, sessionId, parameters) {
      const page = readPage(parameters, MAX_TURNS, DEFAULT_TURNS);
      return await inOrganization(sql, organizationId, async (tx) => {
        const session = await find(tx, organizationId, sessionId);
        return readConversation(tx, organizationId, session.session_id, page);
      });
    },

    async getTag(organizationId, sessionId) {
      const session = await inOrganization(sql, organizationId, (tx) => find(tx, organizationId, sessionId));
      return session.tag;
    },

    async setTag(organizationId, sessionId, { tag }) {
      const stored = tag === null ? null : storableText(tag);
      const statement = tagStatement(organizationId, storableSessionText(sessionId), stored);
      const changed = await inOrganization(sql, organizationId, (tx) => runStatement(tx, statement));
      if (changed.length === 0) throw unknown('session', sessionId);
      return null;
    },

    async setFeedback(organizationId, sessionId, { rating }) {
      const feedback = { rating, at: new Date(clock.now()) };
      const statement = rateStatement(organizationId, storableSessionText(sessionId), feedback);
      const changed = await inOrganization(sql, organizationId, (tx) => runStatement(tx, statement));
      if (changed.length === 0) throw unknown('session', sessionId);
      return null;
    },
  };
}
