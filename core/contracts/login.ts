/** The bodies and replies of `/v1/login`, `/v1/logout` and `/v1/me`. */
import { type Static, Type } from '@sinclair/typebox';
import { KeyJson } from './keys.ts';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';

/** A secret: no error sentence quotes it. */
const Secret = (description: string) => Type.String({ maxLength: 200, unquoted: true, description });

/** The body of a log-in. */
export const LoginBody = Type.Object(
  {
    key: Type.Optional(Secret('An API key with the scope `read`')),
    token: Type.Optional(Secret('What stands behind `#login=` in the link that `npm start` prints')),
  },
  { ...closed, unquoted: true, description: 'One of the two' },
);
export type LoginBody = Static<typeof LoginBody>;

const sessionFields = {
  id: Type.String(),
  user_agent: Type.String({ description: 'As the browser named itself, cut' }),
  created_at: Timestamp,
  last_used_at: Type.String({ ...Timestamp, description: 'To the minute' }),
  expires_at: Type.String({ ...Timestamp, description: 'It ends then, or 12 hours after its last use' }),
};

/** A log-in of a browser. */
export const BrowserSessionJson = Type.Object(
  { ...sessionFields, is_current: Type.Boolean({ description: 'Whether this call was made with it' }) },
  { ...closed, $id: 'BrowserSession' },
);
export type BrowserSessionJson = Static<typeof BrowserSessionJson>;

const VIA = ['session', 'key'] as const;

/** Whom a call is made as. */
export const MeJson = Type.Object(
  {
    organization: Type.Object({ id: Type.String(), name: Type.String() }, closed),
    key: KeyJson,
    via: OneOf<(typeof VIA)[number]>(VIA),
    session: Nullable(Type.Object(sessionFields, closed), 'Null: the call has its own key'),
    gateway_url: Nullable(Type.String(), "The gateway's address for callers on this machine; null: unknown"),
  },
  { ...closed, $id: 'Me' },
);
export type MeJson = Static<typeof MeJson>;

/** Answer to the end of several log-ins. */
export const EndedSessions = Type.Object({ ended: Type.Integer() }, closed);
