/** The parameters and the reply of `GET /v1/audit`. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';

const ACTOR_KINDS = ['api_key', 'command_line', 'system'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/** Entries of one page. */
export const AUDIT_PAGE = 100;
const LONGEST_NAME = 200;

const Name = (description: string) => Type.String({ minLength: 1, maxLength: LONGEST_NAME, description });
const Moment = (description: string) => Type.String({ minLength: 1, maxLength: 40, description });

export const AuditQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]?|100)$',
        rule: `must be a whole number from 1 to ${AUDIT_PAGE}`,
        description: `1 to ${AUDIT_PAGE}; ${AUDIT_PAGE} unless given`,
      }),
    ),
    after: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,17}$',
        rule: 'must be the `next` of an earlier page',
        description: 'The `next` of the page before',
      }),
    ),
    from: Type.Optional(Moment('RFC 3339; entries of this moment and later')),
    to: Type.Optional(Moment('RFC 3339; entries before this moment')),
    action: Type.Optional(Name('As in `create`, `update`, `delete`, `revoke`, `rotate`')),
    actor: Type.Optional(Name("An API key's id, `command_line` or `system`")),
    target_kind: Type.Optional(Name('As in `api_key` or `evaluator`')),
    target_id: Type.Optional(Name("The id of what was changed; a provider key's is its provider")),
  },
  closed,
);
export type AuditQuery = Static<typeof AuditQuery>;

export const AuditEntry = Type.Object(
  {
    id: Type.String(),
    at: Timestamp,
    actor: Type.Object(
      { kind: OneOf<ActorKind>(ACTOR_KINDS), id: Nullable(Type.String(), "An API key's id") },
      closed,
    ),
    action: Type.String(),
    target: Type.Object({ kind: Type.String(), id: Type.String() }, closed),
    changes: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'What changed: `{"from": …, "to": …}` by column; `{"changed": true}` for a secret, whose values are never shown',
    }),
  },
  { ...closed, $id: 'AuditEntry' },
);
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditPage = Type.Object(
  {
    entries: Type.Array(AuditEntry, { description: 'Newest first' }),
    next: Nullable(Type.String(), 'The cursor of the next page; null: there is none'),
  },
  closed,
);
export type AuditPage = Static<typeof AuditPage>;
