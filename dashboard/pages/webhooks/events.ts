/** The events of webhooks, and why one is paused, in words. */
import type { WebhookEvent, WebhookPause } from '#core/contracts/webhook.ts';

const WORDS: Record<WebhookEvent, string> = {
  'request.logged': 'A request was stored.',
  'score.written': 'A request got a score.',
  'feedback.written': 'A request got feedback.',
  'evaluation.completed': 'An evaluation of a request ended.',
  'limit.reached': 'A call was refused by a rate limit.',
  'request.deleted': 'A request was erased.',
  'evaluator.paused': 'An evaluator was paused.',
  'alert.fired': 'An alert fired.',
  'alert.resolved': 'An alert was resolved.',
};

export const EVENTS = (Object.keys(WORDS) as WebhookEvent[]).map((name) => ({
  name,
  label: name,
  hint: WORDS[name],
}));

export const PAUSES: Record<WebhookPause, string> = {
  caller: 'by hand',
  failing: 'nothing could be delivered',
  gone: 'its receiver is gone',
  filter: 'its filter failed',
  backlog: 'too much waits',
  secret: 'its secret cannot be read',
};
