/** The usage of rate limits: the reply of `/v1/rate-limit/usage`. */
import { type Static, Type } from '@sinclair/typebox';
import type { Unit } from '../rate-limit/mod.ts';
import { closed, Nullable, OneOf } from './shapes.ts';

/** The parameters of a list of counters. */
export const UsageQuery = Type.Object(
  {
    value: Type.Optional(
      Type.String({
        maxLength: 10_000,
        description: 'Only the counters of this user, or of this value of a property',
      }),
    ),
    search: Type.Optional(
      Type.String({
        maxLength: 1_000,
        description:
          "A part of the user, the value, the property's name, or the key's id or prefix, in any case; with the scope `write`, also of the key's name",
      }),
    ),
  },
  closed,
);
export type UsageQuery = Static<typeof UsageQuery>;

/** One window of one counter. Amounts are in the unit: calls, cents, or logs. */
export const UsageJson = Type.Object(
  {
    unit: OneOf<Unit>(['request', 'cents', 'log']),
    api_key_id: Nullable(
      Type.String(),
      "Null: all of the organization's keys together, as its logs are counted",
    ),
    segment: Nullable(
      Type.String(),
      "`user`, or a property's name; null: one counter for all. `*`: values beyond the bound, counted together",
    ),
    value: Nullable(Type.String(), "The user or the property's value, its first 256 characters"),
    is_key_policy: Type.Boolean({
      description: "True: it counts the key's own policy, apart from those that calls name",
    }),
    window_seconds: Type.Number(),
    quota: Type.Number({ description: 'As it was requested last' }),
    used: Type.Number({ description: 'Estimates of calls under way included' }),
    reserved: Type.Number(),
    remaining: Type.Number(),
    reset_seconds: Type.Integer({ description: 'Until nothing that is counted now counts any more' }),
  },
  { ...closed, $id: 'LimitUsage' },
);
export type UsageJson = Static<typeof UsageJson>;
