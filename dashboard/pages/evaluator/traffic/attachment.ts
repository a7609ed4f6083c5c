/** What is attached to traffic, as fields of a form and as the API takes it. Pure. */
import type { Scope } from '#core/evaluations/mod.ts';
import type { FilterTree } from '#core/filter/query-text/mod.ts';
import type { OnlineEvaluator } from '../../../client/evaluators.ts';
import { filterText } from '../../../parts/formats/filters.ts';

type Config = OnlineEvaluator['config'];

/** `key` names its row while rows come and go. */
export type PropertyDraft = { key: number; name: string; value: string };
export type Attachment = {
  sampleRate: string;
  probeRate: string;
  /** Evaluators of sessions have it; null for the others. */
  idleSeconds: string | null;
  properties: PropertyDraft[];
  q: string;
};

/** Returns the form of something new: a tenth of all requests, or of all sessions. */
export function emptyAttachment(scope: Scope): Attachment {
  const idleSeconds = scope === 'session' ? '900' : null;
  return { sampleRate: '10', probeRate: '0', idleSeconds, properties: [], q: '' };
}

/** Returns the form of what is there. */
export function attachmentOf({
  sampleRate,
  probeRate,
  idleSeconds,
  propertyFilters,
  filter,
}: Config): Attachment {
  return {
    sampleRate: String(sampleRate),
    probeRate: String(probeRate),
    idleSeconds: idleSeconds === undefined ? null : String(idleSeconds),
    properties: propertyFilters.map(({ key: name, value }, key) => ({ key, name, value })),
    q: filterText(filter),
  };
}

/** Returns the `config` of the API's body. */
export function attachmentConfig({ sampleRate, probeRate, idleSeconds, properties, q }: Attachment) {
  return {
    sampleRate: Number(sampleRate),
    probeRate: Number(probeRate),
    ...(idleSeconds !== null && { idleSeconds: Number(idleSeconds) }),
    propertyFilters: properties
      .filter(({ name }) => name.trim() !== '')
      .map(({ name, value }) => ({ key: name.trim(), value })),
    ...(q.trim() === '' ? { filter: null } : { q }),
  };
}

/** Returns the members of the `config` that were changed: the others stay as they are, whoever changes them meanwhile. */
export function attachmentChanges(first: Attachment, now: Attachment): Record<string, unknown> {
  const before: Record<string, unknown> = attachmentConfig(first);
  const isChanged = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(before[name]);
  return Object.fromEntries(Object.entries(attachmentConfig(now)).filter(isChanged));
}

/** Returns all conditions as one query text, for the list of requests; '' for every request. */
export function requestsQuery({ propertyFilters, filter }: Config): string {
  const properties = propertyFilters.map(
    ({ key, value }): FilterTree => ({ properties: { [key]: { equals: value } } }),
  );
  const rest = filter === null || filter === 'all' ? [] : [filter as FilterTree];
  const [first, ...others] = [...properties, ...rest];
  if (first === undefined) return '';
  return filterText(others.reduce((left, right) => ({ left, operator: 'and', right }), first));
}
