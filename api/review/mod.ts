/** Review queues: requests that wait for people's grades. */
import { randomUUID } from 'node:crypto';
import { AssayError } from '#core/contracts/errors.ts';
import {
  CLAIM_MS,
  MAX_QUEUES,
  type NextItemJson,
  type NextItemQuery,
  type ReviewQueueBody,
  type ReviewQueueJson,
  type ReviewQueuePatch,
  type ReviewQueueQueryBody,
  type SkipBody,
  type WholeReviewQueueJson,
} from '#core/contracts/review.ts';
import { foldName, storableText } from '#core/contracts/storable-text.ts';
import { holdErasures, inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { type Caller, type Context, personOf, requireLivingCriteria } from '../grades/mod.ts';
import { readUuid, unknown } from '../ids.ts';
import { chooseItems, readSource } from './choose-items.ts';
import { claimNext, missingCriteria, skipItem } from './claims.ts';
import { progressOf } from './progress.ts';
import {
  archiveQueue,
  findQueue,
  insertItems,
  insertQueue,
  listQueues,
  livingCriteria,
  lockQueues,
  type QueueRow,
  renameQueue,
} from './queue-store.ts';

/** The work behind the routes of `/v1/review-queue`, for one organization at a time. An unknown queue is a not_found. */
export type ReviewService = {
  /**
   * @throws AssayError invalid_body, invalid_filter, not_found (a criterion, request or evaluator), conflict: the name is
   * taken, a criterion is archived, or there are too many queues
   */
  create(organizationId: string, body: ReviewQueueBody): Promise<WholeReviewQueueJson>;
  get(organizationId: string, queueId: string): Promise<WholeReviewQueueJson>;
  /** The newest first. */
  query(organizationId: string, body: ReviewQueueQueryBody): Promise<ReviewQueueJson[]>;
  /** @throws AssayError conflict: the name is taken, or the queue is archived */
  rename(organizationId: string, queueId: string, patch: ReviewQueuePatch): Promise<ReviewQueueJson>;
  archive(organizationId: string, queueId: string): Promise<null>;
  /**
   * Claims an item for a person: the one that they have claimed, else the next; with `besides`, another one than that. Null:
   * there is none for them now.
   * @throws AssayError conflict: the queue is archived
   */
  next(caller: Caller, queueId: string, query: NextItemQuery): Promise<NextItemJson | null>;
  /** @throws AssayError conflict: the queue is archived; not_found: it does not have the request */
  skip(caller: Caller, queueId: string, body: SkipBody): Promise<null>;
};

/** Archived queues that are listed. */
const MAX_ARCHIVED = 1_000;

function queueJson({ queue_id, ...row }: QueueRow): ReviewQueueJson {
  return {
    id: queue_id,
    name: row.name,
    criterion_ids: row.criterion_ids,
    source: row.source,
    per_item: row.per_item,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    archived_at: row.archived_at?.toISOString() ?? null,
  };
}

async function requireQueue(tx: TransactionSql, organizationId: string, queueId: string): Promise<QueueRow> {
  const row = await findQueue(tx, organizationId, queueId);
  if (row === undefined) throw unknown('review queue', queueId);
  return row;
}

/** @throws AssayError not_found, conflict */
async function requireOpen(tx: TransactionSql, organizationId: string, queueId: string): Promise<QueueRow> {
  const row = await requireQueue(tx, organizationId, queueId);
  if (row.archived_at === null) return row;
  throw new AssayError('conflict', `The review queue ${queueId} is archived`);
}

/** @throws AssayError conflict */
function refuseTaken(others: readonly QueueRow[], foldedName: string): void {
  if (!others.some(({ name }) => foldName(name) === foldedName)) return;
  throw new AssayError('conflict', 'There is a review queue of this name already');
}

/** Returns a source as it is shown: ids may be many, and are those of the items. */
function shownSource({ requestIds, ...source }: ReviewQueueBody['source']): object {
  return requestIds === undefined ? source : { requestIds: requestIds.length };
}

export function createReviewService({ sql, clock }: Context): ReviewService {
  return {
    async create(organizationId, body) {
      const source = readSource(body.source);
      const criterionIds = [...new Set(body.criterionIds.map((id) => readUuid('criterion', id)))];
      const name = storableText(body.name);
      const foldedName = foldName(name);
      return inOrganization(sql, organizationId, async (tx) => {
        await lockQueues(tx, organizationId);
        const others = await listQueues(tx, organizationId, false, MAX_QUEUES);
        if (others.length >= MAX_QUEUES)
          throw new AssayError(
            'conflict',
            `An organization can have at most ${MAX_QUEUES} review queues: archive one first`,
          );
        refuseTaken(others, foldedName);
        await requireLivingCriteria(tx, organizationId, criterionIds);
        await holdErasures(tx, organizationId);
        const keys = await chooseItems(tx, organizationId, source, criterionIds);
        const queue = await insertQueue(tx, organizationId, {
          queue_id: randomUUID(),
          name,
          foldedName,
          criterion_ids: criterionIds,
          source: shownSource(body.source),
          per_item: body.perItem,
          at: new Date(clock.now()),
        });
        await insertItems(tx, organizationId, queue.queue_id, keys);
        return { ...queueJson(queue), progress: await progressOf(tx, organizationId, queue) };
      });
    },

    async get(organizationId, queueId) {
      return inOrganization(sql, organizationId, async (tx) => {
        const queue = await requireQueue(tx, organizationId, queueId);
        return { ...queueJson(queue), progress: await progressOf(tx, organizationId, queue) };
      });
    },

    async query(organizationId, { archived = false }) {
      const rows = await inOrganization(sql, organizationId, (tx) =>
        listQueues(tx, organizationId, archived, archived ? MAX_ARCHIVED : MAX_QUEUES),
      );
      return rows.map(queueJson);
    },

    async rename(organizationId, queueId, patch) {
      const name = storableText(patch.name);
      const foldedName = foldName(name);
      const row = await inOrganization(sql, organizationId, async (tx) => {
        await lockQueues(tx, organizationId);
        await requireOpen(tx, organizationId, queueId);
        const living = await listQueues(tx, organizationId, false, MAX_QUEUES);
        refuseTaken(
          living.filter(({ queue_id }) => queue_id !== queueId),
          foldedName,
        );
        return renameQueue(tx, organizationId, { queueId, name, foldedName, at: new Date(clock.now()) });
      });
      return queueJson(row);
    },

    async archive(organizationId, queueId) {
      const isThere = await inOrganization(sql, organizationId, (tx) =>
        archiveQueue(tx, organizationId, queueId, new Date(clock.now())),
      );
      if (!isThere) throw unknown('review queue', queueId);
      return null;
    },

    async next({ organizationId, keyId }, queueId, { author, besides }) {
      const { person } = personOf(keyId, author);
      const other = besides === undefined ? null : storableText(besides);
      return inOrganization(sql, organizationId, async (tx) => {
        const queue = await requireOpen(tx, organizationId, queueId);
        const criterionIds = await livingCriteria(tx, organizationId, queue);
        if (criterionIds.length === 0) return null;
        const nowMs = clock.now();
        const [at, until] = [new Date(nowMs), new Date(nowMs + CLAIM_MS)];
        const { per_item: perItem } = queue;
        const asked = { organizationId, queueId, criterionIds, perItem, person, besides: other, at };
        const item = await claimNext(tx, asked, until);
        if (item === undefined) return null;
        return {
          request_id: item.request_id,
          criterion_ids: await missingCriteria(tx, asked, item.request_id),
          claimed_until: until.toISOString(),
        };
      });
    },

    async skip({ organizationId, keyId }, queueId, { requestId, reason, author }) {
      const at = new Date(clock.now());
      const isThere = await inOrganization(sql, organizationId, async (tx) => {
        await requireOpen(tx, organizationId, queueId);
        const said = reason === undefined ? null : storableText(reason);
        const skip = { organizationId, queueId, requestId: storableText(requestId), reason: said, at };
        return skipItem(tx, skip, personOf(keyId, author));
      });
      if (!isThere) throw unknown('item of this review queue', requestId);
      return null;
    },
  };
}
