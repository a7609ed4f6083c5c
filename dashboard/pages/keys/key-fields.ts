/** The fields of the form of an API key, and the bodies that they make. Pure. */
import type { ChangeKeyBody, CreateKeyBody, KeyJson } from '#core/contracts/keys.ts';
import type { ProviderName } from '#core/contracts/provider.ts';
import type { Scope } from '#core/keys/mod.ts';
import { listText, momentText, readList, readMoment } from '../../parts/form/lists.ts';

/** As the form has them: an empty text is nothing. */
export type KeyFields = {
  name: string;
  scopes: Scope[];
  expiresAt: string;
  models: string;
  providers: string;
  paths: string;
  policy: string;
  owner: string;
  tags: string;
};

/** Returns the fields of a key; of a new one without it. */
export function fieldsOf(key: KeyJson | null): KeyFields {
  return {
    name: key?.name ?? '',
    scopes: key?.scopes ?? ['gateway'],
    expiresAt: momentText(key?.expires_at ?? null),
    models: listText(key?.models ?? null),
    providers: listText(key?.providers ?? null),
    paths: listText(key?.paths ?? null),
    policy: key?.rate_limit_policy ?? '',
    owner: key?.owner ?? '',
    tags: listText(key?.tags ?? null),
  };
}

const textOrNull = (text: string) => (text.trim() === '' ? null : text.trim());

function bodyOf(fields: KeyFields) {
  return {
    name: fields.name,
    scopes: fields.scopes,
    expires_at: readMoment(fields.expiresAt),
    models: readList(fields.models),
    providers: readList(fields.providers) as ProviderName[] | null,
    paths: readList(fields.paths),
    rate_limit_policy: textOrNull(fields.policy),
    owner: textOrNull(fields.owner),
    tags: readList(fields.tags) ?? [],
  } satisfies CreateKeyBody;
}

/** Returns the body that makes a key. What is empty is left out: it is then as the caller's own key has it. */
export function createBody(fields: KeyFields): CreateKeyBody {
  const { name, scopes, tags, ...bounds } = bodyOf(fields);
  const given = Object.fromEntries(Object.entries(bounds).filter(([, value]) => value !== null));
  return { name, scopes, tags, ...given };
}

/** Returns the body that changes a key: the fields that differ from what the form began with. */
export function changeBody(fields: KeyFields, before: KeyFields): ChangeKeyBody {
  const [next, last] = [bodyOf(fields), bodyOf(before)];
  return Object.fromEntries(
    Object.entries(next).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(last[name as keyof typeof last]),
    ),
  );
}
