/** Webhooks: the bodies and replies of `/v1/webhook`, and the terms that the API and the sink share. */
import { type Static, Type } from '@sinclair/typebox';
import { FilterShape, QueryText } from './filter-or-q.ts';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';

/** Events about one request, to which a webhook's filter applies. */
export const REQUEST_EVENTS = [
  'request.logged',
  'score.written',
  'feedback.written',
  'evaluation.completed',
  'limit.reached',
] as const;

/** Events that no filter applies to: the request is gone, or there is none. */
const OTHER_EVENTS = ['request.deleted', 'evaluator.paused', 'alert.fired', 'alert.resolved'] as const;

/** The events that a webhook can ask for. */
export const WEBHOOK_EVENTS = [...REQUEST_EVENTS, ...OTHER_EVENTS] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** The event of a test message. */
export const TEST_EVENT = 'webhook.test';
/** Event of a delivery. */
export type DeliveryEvent = WebhookEvent | typeof TEST_EVENT;

/** Maximum webhooks of one organization: the sink looks at each of them for every change. */
export const MAX_WEBHOOKS = 20;
/** Maximum pending deliveries of one webhook. With more, it is paused. */
export const MAX_PENDING_DELIVERIES = 100_000;
/** Maximum time during which two secrets sign. */
const LONGEST_OVERLAP_SECONDS = 7 * 86_400;
/** Number of deliveries of one page. */
export const DELIVERY_PAGE = { most: 100, unlessGiven: 20 } as const;
/** Attempts that are kept with a delivery: those of one schedule, and some before a redelivery. */
export const MAX_TRIES = 20;

/** Longer than any address in use, and within the limit of outbound calls. */
const MAX_URL_LENGTH = 2_048;

export const PAYLOADS = ['thin', 'full'] as const;
export type Payload = (typeof PAYLOADS)[number];
export const FORMATS = ['standard', 'chat'] as const;
export type Format = (typeof FORMATS)[number];

/**
 * Why a webhook is paused. `caller`: by a PATCH; `failing`: a delivery failed to the end of its schedule, and none
 * succeeded meanwhile; `gone`: its receiver answered 410; `filter`: its filter failed or took too long; `backlog`: too many
 * deliveries wait; `secret`: its secret cannot be opened with today's SECRET_KEY.
 */
export const PAUSE_REASONS = ['caller', 'failing', 'gone', 'filter', 'backlog', 'secret'] as const;
export type WebhookPause = (typeof PAUSE_REASONS)[number];

export const DELIVERY_STATES = ['pending', 'sending', 'delivered', 'failed', 'cancelled'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

const Url = Type.String({
  minLength: 1,
  maxLength: MAX_URL_LENGTH,
  unquoted: true,
  description: 'Where events are posted to: http or https, and a public host',
});
const Events = Type.Array(OneOf<WebhookEvent>(WEBHOOK_EVENTS), {
  minItems: 1,
  maxItems: WEBHOOK_EVENTS.length,
  description: 'The events to post; one that is repeated counts once',
});
const PayloadChoice = Type.Unsafe<Payload>({
  ...OneOf<Payload>(PAYLOADS),
  description:
    '`thin` (the default): ids and a few columns of the request. `full`: the request with its bodies',
});
const FormatChoice = Type.Unsafe<Format>({
  ...OneOf<Format>(FORMATS),
  description: '`standard` (the default): the event. `chat`: `{"text": …}`, one line that chat systems show',
});

/** The body of a new webhook. */
export const CreateWebhookBody = Type.Object(
  {
    url: Url,
    events: Events,
    filter: Type.Optional(Nullable(FilterShape, 'Selects the requests whose events are posted; null: all')),
    q: Type.Optional(QueryText),
    payload: Type.Optional(PayloadChoice),
    format: Type.Optional(FormatChoice),
  },
  closed,
);
export type CreateWebhookBody = Static<typeof CreateWebhookBody>;

/** The body that changes a webhook: absent fields stay as they are. */
export const ChangeWebhookBody = Type.Object(
  {
    ...Type.Partial(CreateWebhookBody).properties,
    state: Type.Optional(
      Type.Unsafe<'active' | 'paused'>({
        ...OneOf(['active', 'paused']),
        description: '`active` resumes a paused webhook, whatever paused it',
      }),
    ),
  },
  { ...closed, description: 'Absent fields stay as they are' },
);
export type ChangeWebhookBody = Static<typeof ChangeWebhookBody>;

export const RotateWebhookBody = Type.Object(
  {
    overlapSeconds: Type.Integer({
      minimum: 0,
      maximum: LONGEST_OVERLAP_SECONDS,
      description: 'Seconds during which messages carry the signature of the old secret, too',
    }),
  },
  closed,
);
export type RotateWebhookBody = Static<typeof RotateWebhookBody>;

const Moment = (description: string) => Type.String({ minLength: 1, maxLength: 40, description });

export const RedeliverBody = Type.Object(
  { since: Moment('RFC 3339; deliveries that have failed at this moment or later') },
  closed,
);
export type RedeliverBody = Static<typeof RedeliverBody>;

const webhookFields = {
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(OneOf<WebhookEvent>(WEBHOOK_EVENTS)),
  filter: Type.Unknown({
    description: 'The filter as it was given, `q` as the equivalent JSON; null: every request',
  }),
  payload: OneOf<Payload>(PAYLOADS),
  format: OneOf<Format>(FORMATS),
  state: OneOf(['active', 'paused']),
  paused_reason: Nullable(OneOf<WebhookPause>(PAUSE_REASONS), 'Null: it is active'),
  paused_message: Nullable(Type.String()),
  paused_at: Nullable(Timestamp),
  missed: Nullable(
    Type.Object(
      {
        from: Timestamp,
        until: Nullable(Timestamp, 'Null: it lasts'),
        reason: OneOf(['paused', 'feed']),
      },
      closed,
    ),
    'The last period whose events were not sent: the webhook was `paused`, or the `feed` of changes was lost',
  ),
  pending: Type.Integer({ description: 'Deliveries that are still to be made' }),
  rotating_until: Nullable(Timestamp, 'The time until which two secrets sign; null: only one signs'),
  last_success_at: Nullable(Timestamp, 'To the second'),
  created_at: Timestamp,
  updated_at: Timestamp,
};

/** A webhook as the API shows it. */
export const WebhookJson = Type.Object(webhookFields, { ...closed, $id: 'Webhook' });
export type WebhookJson = Static<typeof WebhookJson>;

/** A webhook with a secret that was just made: the only replies that have it. */
export const NewWebhookJson = Type.Object(
  {
    ...webhookFields,
    secret: Type.String({ description: 'The secret that signs its messages, which is shown this once' }),
  },
  { ...closed, $id: 'NewWebhook' },
);
export type NewWebhookJson = Static<typeof NewWebhookJson>;

/** One attempt of a delivery. */
export const DeliveryAttempt = Type.Object(
  {
    at: Timestamp,
    duration_ms: Type.Integer(),
    status: Nullable(Type.Integer(), 'The status of the response; null: there was none'),
    error: Nullable(Type.String(), 'Why the attempt failed; null: it did not'),
    answer: Nullable(
      Type.String(),
      'The first 1,024 bytes of the response as text, whatever they are: treat them as hostile',
    ),
  },
  closed,
);
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

export const DeliveryJson = Type.Object(
  {
    id: Type.String({ description: 'The `webhook-id` of its messages' }),
    event: Type.String(),
    event_at: Timestamp,
    request_id: Nullable(Type.String()),
    state: OneOf<DeliveryState>(DELIVERY_STATES),
    due_at: Nullable(Timestamp, 'When the next attempt is due; null: none is'),
    attempts: Type.Array(DeliveryAttempt, {
      description: `The last ${MAX_TRIES} attempts, oldest first`,
    }),
    reason: Nullable(Type.String(), 'Why it was cancelled, or given up'),
    finished_at: Nullable(Timestamp),
  },
  { ...closed, $id: 'WebhookDelivery' },
);
export type DeliveryJson = Static<typeof DeliveryJson>;

export const DeliveryPage = Type.Object(
  {
    deliveries: Type.Array(DeliveryJson, { description: 'Newest first' }),
    next: Nullable(Type.String(), 'The cursor of the next page; null: there is none'),
  },
  closed,
);
export type DeliveryPage = Static<typeof DeliveryPage>;

export const DeliveriesQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]?|100)$',
        rule: `must be a whole number from 1 to ${DELIVERY_PAGE.most}`,
        description: `1 to ${DELIVERY_PAGE.most}; ${DELIVERY_PAGE.unlessGiven} unless given`,
      }),
    ),
    after: Type.Optional(
      Type.String({
        pattern: '^msg_[0-9A-Z]{26}$',
        rule: 'must be the `next` of an earlier page',
        description: 'The `next` of the page before',
      }),
    ),
    state: Type.Optional(OneOf<DeliveryState>(DELIVERY_STATES)),
  },
  closed,
);
export type DeliveriesQuery = Static<typeof DeliveriesQuery>;

export const RedeliveredJson = Type.Object(
  {
    redelivered: Type.Integer({ description: 'Deliveries that are made again' }),
    remaining: Type.Integer({
      description: `Failed deliveries left out, because at most ${MAX_PENDING_DELIVERIES} may be pending: ask again later`,
    }),
  },
  closed,
);
export type RedeliveredJson = Static<typeof RedeliveredJson>;
