/** The webhooks that can be told of an alert. */
import type { WebhookJson } from '#core/contracts/webhook.ts';
import { call } from '../../client/call.ts';
import { type Resource, useResource } from '../../client/resource.ts';

/** Loads all webhooks. */
export function useWebhooks(): Resource<WebhookJson[]> {
  return useResource('webhooks', (signal) => call<WebhookJson[]>('GET', '/v1/webhook', undefined, signal));
}

/** Whether a webhook asks for events of alerts: others are never told. */
export function isTold({ events }: Pick<WebhookJson, 'events'>): boolean {
  return events.includes('alert.fired') || events.includes('alert.resolved');
}

/** Returns the host of an address: the rest is long, and a secret where it is a chat system's. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}
