/** Answers that a job of the caller posts, for experiments whose target is external. */
import { type Static, Type } from '@sinclair/typebox';
import { closed } from './shapes.ts';

/** A day: longer than a call of anybody's takes. */
const MAX_LATENCY_MS = 86_400_000;

export const OutputBody = Type.Object(
  {
    itemId: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    externalId: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'In place of itemId' }),
    ),
    repetition: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 1 })),
    response: Type.Optional(
      Type.Union([Type.Object({}), Type.String()], {
        description: 'The answer: the body of a chat completion, or its text alone. It is logged',
      }),
    ),
    model: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: "Of a response; default: the model that it names, or the item's request",
      }),
    ),
    latencyMs: Type.Optional(
      Type.Number({ minimum: 0, maximum: MAX_LATENCY_MS, description: 'Of a response; default: 0' }),
    ),
    requestId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'In place of a response: a request of the log that holds it. One of a moment ago is waited for',
      }),
    ),
    error: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_000,
        description: 'In place of a response: why there is none',
      }),
    ),
  },
  closed,
);
export type OutputBody = Static<typeof OutputBody>;
