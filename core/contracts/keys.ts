/** The bodies and replies of `/v1/keys`. */
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { SCOPES, type Scope } from '../keys/mod.ts';
import { PROVIDER_NAMES, type ProviderName } from './provider.ts';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';

const MAX_NAME_LENGTH = 100;
const MAX_OWNER_LENGTH = 200;
const MAX_GLOB_LENGTH = 200;
/** Globs in one list: more are better said by a `*`. */
const MAX_GLOBS = 50;
const TAGS = { count: 20, length: 50 };
const MAX_POLICY_LENGTH = 300;

/** Longest time for which a key works beside the one that replaces it. */
export const LONGEST_OVERLAP_SECONDS = 30 * 86_400;
export const KEY_STATES = ['active', 'expired', 'revoked'] as const;
export type KeyState = (typeof KEY_STATES)[number];
/** Keys of one page. */
export const KEY_PAGE = { most: 100, unlessGiven: 100 } as const;

const UUID = '[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}';

const Name = Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH, description: 'What the key is for' });
const Scopes = Type.Array(OneOf<Scope>(SCOPES), { minItems: 1, maxItems: SCOPES.length });
const listOf = <T extends TSchema>(item: T, maxItems: number, description: string) =>
  Nullable(Type.Array(item, { minItems: 1, maxItems }), description);
const Models = listOf(
  Type.String({
    pattern: `^[\\x21-\\x2b\\x2d-\\x7e]{1,${MAX_GLOB_LENGTH}}$`,
    rule: `must have 1 to ${MAX_GLOB_LENGTH} characters of printable ASCII without spaces and commas`,
  }),
  MAX_GLOBS,
  'Globs of models: `*` stands for any characters, as in `gpt-4o*` or `anthropic/*`. Null: all models',
);
const Providers = listOf(OneOf<ProviderName>(PROVIDER_NAMES), PROVIDER_NAMES.length, 'Null: all providers');
const Paths = listOf(
  Type.String({
    pattern: `^/[\\x21-\\x7e]{0,${MAX_GLOB_LENGTH - 1}}$`,
    rule: `must begin with / and have at most ${MAX_GLOB_LENGTH} characters of printable ASCII without spaces`,
  }),
  MAX_GLOBS,
  'Globs of paths, of the gateway and of this API, as in `/v1/chat/completions` or `/v1/request/*`. Null: all paths',
);
const Expiry = Nullable(
  Type.String({ maxLength: 40 }),
  'RFC 3339; the key is refused from then on. Null: never',
);
const PolicyText = Nullable(
  Type.String({ maxLength: MAX_POLICY_LENGTH }),
  'A bound on all calls of the key, such as `1000;w=60`, beside the policies that they name. Null: none',
);
const Owner = Nullable(Type.String({ minLength: 1, maxLength: MAX_OWNER_LENGTH }), 'Who answers for the key');
const Tags = Type.Array(Type.String({ minLength: 1, maxLength: TAGS.length }), { maxItems: TAGS.count });

/** The body of a new key. Each bound that is left out is that of the caller's own key. */
export const CreateKeyBody = Type.Object(
  {
    name: Name,
    scopes: Scopes,
    expires_at: Type.Optional(Expiry),
    models: Type.Optional(Models),
    providers: Type.Optional(Providers),
    paths: Type.Optional(Paths),
    rate_limit_policy: Type.Optional(PolicyText),
    owner: Type.Optional(Owner),
    tags: Type.Optional(Tags),
  },
  {
    ...closed,
    description:
      "What is left out of expires_at, models, providers, paths and rate_limit_policy is as the caller's own key has it",
  },
);
export type CreateKeyBody = Static<typeof CreateKeyBody>;

/** What is left out stays as it is. */
export const ChangeKeyBody = Type.Partial(CreateKeyBody, {
  ...closed,
  description: 'What is left out stays as it is',
});
export type ChangeKeyBody = Static<typeof ChangeKeyBody>;

export const RotateKeyBody = Type.Object(
  {
    overlapSeconds: Type.Integer({
      minimum: 0,
      maximum: LONGEST_OVERLAP_SECONDS,
      description: 'How long the old key works beside the new one',
    }),
  },
  closed,
);
export type RotateKeyBody = Static<typeof RotateKeyBody>;

const keyFields = {
  id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: 'The first twelve characters of the key' }),
  state: OneOf<KeyState>(KEY_STATES),
  scopes: Type.Array(OneOf<Scope>(SCOPES)),
  expires_at: Nullable(Timestamp, 'Null: never'),
  models: Nullable(Type.Array(Type.String()), 'Globs; null: all'),
  providers: Nullable(Type.Array(Type.String()), 'Null: all'),
  paths: Nullable(Type.Array(Type.String()), 'Globs; null: all'),
  rate_limit_policy: Nullable(Type.String(), 'As it was parsed; null: none'),
  owner: Nullable(Type.String()),
  tags: Type.Array(Type.String()),
  rotated_from: Nullable(Type.String(), 'The key in whose place this one was made'),
  created_at: Timestamp,
  revoked_at: Nullable(Timestamp),
  last_used_at: Nullable(Timestamp, 'To the minute, and up to two minutes late; null: never'),
};

/** A key as the API shows it. */
export const KeyJson = Type.Object(keyFields, { ...closed, $id: 'ApiKey' });
export type KeyJson = Static<typeof KeyJson>;

/** A key that was just made: the only reply that has the key itself. */
export const NewKeyJson = Type.Object(
  { ...keyFields, key: Type.String({ description: 'The key itself, which is shown this once' }) },
  { ...closed, $id: 'NewApiKey' },
);
export type NewKeyJson = Static<typeof NewKeyJson>;

/** The parameters of a list of keys. */
export const ListKeysQuery = Type.Object(
  {
    search: Type.Optional(
      Type.String({
        maxLength: 1_000,
        description: 'A part of the name, the prefix, the owner, a tag or the id, in any case',
      }),
    ),
    state: Type.Optional(OneOf<KeyState>(KEY_STATES)),
    ids: Type.Optional(
      Type.String({
        pattern: `^${UUID}(?:,${UUID}){0,${KEY_PAGE.most - 1}}$`,
        rule: `must be 1 to ${KEY_PAGE.most} ids of keys, separated by commas`,
        description: `Only the keys with these ids, separated by commas: at most ${KEY_PAGE.most}`,
      }),
    ),
    limit: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]?|100)$',
        rule: `must be a whole number from 1 to ${KEY_PAGE.most}`,
        description: `1 to ${KEY_PAGE.most}; ${KEY_PAGE.unlessGiven} unless given`,
      }),
    ),
    offset: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,15}$',
        rule: 'must be a whole number of at least 0',
        description: 'Keys to skip',
      }),
    ),
  },
  closed,
);
export type ListKeysQuery = Static<typeof ListKeysQuery>;
