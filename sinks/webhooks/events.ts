/** The events in the changes of the feed. Pure. */
import type { ChangesOfKind, EventChange, RequestKey } from '#core/contracts/changes.ts';
import { WEBHOOK_EVENTS, type WebhookEvent } from '#core/contracts/webhook.ts';
import type { JsonObject } from '#core/json/mod.ts';
import type { Change } from '../feed/mod.ts';

/** One occurrence of an event, whether a webhook asks for it or not. */
export type Happening = {
  /** Unique id: the number of its change, and its place in it. */
  id: string;
  organizationId: string;
  event: WebhookEvent;
  at: Date;
  /** The request that it is about; null: none. */
  key: RequestKey | null;
  /** Content of its message beside the request. */
  details: JsonObject | null;
  /** The webhooks to notify, among those that ask for it; null: all. */
  only: readonly string[] | null;
};

type Part = Pick<Happening, 'event' | 'details'> & { index: number; only?: readonly string[] | null };

const KNOWN: ReadonlySet<string> = new Set(WEBHOOK_EVENTS);

/**
 * Returns the happenings in a change. Each stored record counts as one that may have reached a limit: only its row shows
 * whether.
 */
export function happeningsOf(change: Change): Happening[] {
  const { seq, organizationId, at, keys } = change;
  return partsOf(change).map(({ index, event, details, only = null }) => ({
    id: `${seq}/${index}`,
    organizationId,
    event,
    at,
    key: keys[index] ?? null,
    details,
    only,
  }));
}

function partsOf(change: ChangesOfKind): Part[] {
  switch (change.kind) {
    case 'record':
      return [...ofEach(change.keys, 'request.logged'), ...ofEach(change.keys, 'limit.reached')];
    case 'deleted':
      return ofEach(change.keys, 'request.deleted');
    case 'score':
      return change.details.map(({ key, value }, index) => ({
        event: 'score.written',
        index,
        details: { score: { key, value } },
      }));
    case 'feedback':
      return change.details.map(({ rating }, index) => ({
        event: 'feedback.written',
        index,
        details: { feedback: { rating } },
      }));
    case 'evaluation':
      return change.details.flatMap(({ evaluation_id: id, evaluator_id, state, score, is_probe }, index) =>
        state !== 'completed' || is_probe
          ? []
          : [{ event: 'evaluation.completed', index, details: { evaluation: { id, evaluator_id, score } } }],
      );
    case 'event':
      return change.details.flatMap((detail, index) => ofEvent(detail, index));
    case 'property':
      return [];
  }
}

function ofEach(keys: readonly RequestKey[], event: WebhookEvent): Part[] {
  return keys.map((_, index) => ({ event, index, details: null }));
}

/** Returns an event without requests. Its member of `data` is named by its subject: `alert` for `alert.fired`. */
function ofEvent({ type, ...rest }: EventChange, index: number): Part[] {
  if (!KNOWN.has(type)) return [];
  const { webhook_ids: ids = null, ...about } = rest as JsonObject;
  const only = Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : null;
  return [{ event: type as WebhookEvent, index, details: { [type.split('.')[0]!]: about }, only }];
}
