/** Calls of the routes of review queues, expected to succeed. */
import type { TestApi } from '../../../support/api.ts';
import { ask } from '../grades/world.ts';

export type Next = { request_id: string; criterion_ids: string[]; claimed_until: string } | null;
export type Queue = {
  id: string;
  name: string;
  criterion_ids: string[];
  source: unknown;
  archived_at: string | null;
  progress: {
    items: number;
    done: number;
    skipped: number;
    people: { author: string | null; key_id: string | null; graded: number; skipped: number }[];
  };
};

let names = 0;

/** Makes a queue, under a name of its own unless given one. */
export function queue(api: TestApi, given: object): Promise<Queue> {
  names += 1;
  return ask(api, '/v1/review-queue', { name: `queue ${names}`, perItem: 1, ...given });
}

export function next(api: TestApi, queueId: string, author?: string, key?: string): Promise<Next> {
  const search = author === undefined ? '' : `?author=${encodeURIComponent(author)}`;
  return ask(api, `/v1/review-queue/${queueId}/next${search}`, undefined, key === undefined ? {} : { key });
}

export const shown = (api: TestApi, queueId: string) => ask<Queue>(api, `/v1/review-queue/${queueId}`);

/** The items of a queue, in the order in which people get them. */
export async function itemsOf({ database }: TestApi, queueId: string): Promise<string[]> {
  const rows = await database.sql<{ request_id: string }[]>`
    select request_id from assay.review_items where queue_id = ${queueId} order by position`;
  return rows.map(({ request_id }) => request_id);
}

/** Lets the claims of a queue run out. */
export async function endClaims({ database }: TestApi, queueId: string): Promise<void> {
  await database.sql`
    update assay.review_items set claimed_until = array_fill(now() - interval '1 ms', array[cardinality(claimed_until)])
    where queue_id = ${queueId} and claimed_until <> '{}'`;
}
