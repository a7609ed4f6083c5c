/** Reads the bodies of `/v1/webhook` beyond what their schemas check. */
import { filterOf } from '#core/contracts/filter-or-q.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import {
  type ChangeWebhookBody,
  type CreateWebhookBody,
  REQUEST_EVENTS,
  type WebhookEvent,
} from '#core/contracts/webhook.ts';
import { parseFilter } from '#core/filter/mod.ts';
import { storableJson } from '#core/json/mod.ts';
import type { WebhookRow, WebhookSettings } from './store.ts';

/** Returns why a URL cannot be called, as the rest of a sentence; null: it can. */
export type CheckUrl = (url: string) => string | null;

/** @throws AssayError invalid_body, invalid_filter */
export function readSettings(body: CreateWebhookBody, checkUrl: CheckUrl): WebhookSettings {
  const { url, events, payload = 'thin', format = 'standard' } = body;
  const filter = filterOf(body, { otherwise: null });
  requireUrl(url, checkUrl);
  return consistent({ url, events: distinct(events), filter: readFilter(filter), payload, format });
}

/** Returns the settings of a webhook after a change. @throws AssayError invalid_body, invalid_filter */
export function readChange(body: ChangeWebhookBody, before: WebhookRow, checkUrl: CheckUrl): WebhookSettings {
  if (body.url !== undefined) requireUrl(body.url, checkUrl);
  const stored = before.filter === null ? null : storableJson(before.filter).text;
  return consistent({
    url: body.url ?? before.url,
    events: distinct(body.events ?? before.events),
    filter: body.filter === undefined && body.q === undefined ? stored : readFilter(filterOf(body)),
    payload: body.payload ?? before.payload,
    format: body.format ?? before.format,
  });
}

function requireUrl(url: string, checkUrl: CheckUrl): void {
  const problem = checkUrl(url);
  if (problem !== null) throw invalidField('url', problem);
}

function distinct(events: readonly WebhookEvent[]): WebhookEvent[] {
  return [...new Set(events)];
}

/** Checks a filter and returns it as it is stored: as given. */
function readFilter(filter: unknown): string | null {
  if (filter === null) return null;
  parseFilter(filter);
  return storableJson(filter).text;
}

const FILTERED: ReadonlySet<string> = new Set(REQUEST_EVENTS);

/** Rejects settings that would have no effect beside the others. */
function consistent(settings: WebhookSettings): WebhookSettings {
  const { events, filter, payload, format } = settings;
  if (filter !== null && !events.some((event) => FILTERED.has(event))) {
    throw invalidField(
      'filter',
      `must be left out or null, because none of the events is filtered: those are ${REQUEST_EVENTS.join(', ')}`,
    );
  }
  if (payload === 'full' && format === 'chat') {
    throw invalidField('payload', 'must be "thin" with the format "chat", whose messages are one line');
  }
  return settings;
}
