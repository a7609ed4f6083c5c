/** The fields of an external evaluator as texts, and the config that they become. Pure. */
import { type Adapter, SCORERS, SECRET_MARK } from '#core/evaluations/mod.ts';
import type { ExternalConfig } from '../../../client/evaluators.ts';

/** A secret is written once: `value` is empty while the stored one is kept. */
export type SecretDraft = { value: string; isSet: boolean };
/** `key` names its row while rows come and go. */
export type HeaderDraft = SecretDraft & { key: number; name: string };

export type ExternalDraft = {
  adapter: Adapter;
  url: string;
  headers: HeaderDraft[];
  secret: SecretDraft;
  timeoutMs: string;
  metric: string;
  metricId: string;
  projectId: string;
  apiKey: SecretDraft;
  scorer: string;
  expectedKind: 'none' | 'value' | 'variable';
  expected: string;
  expectedFrom: string;
  /** Undefined: nothing was said. */
  allowExtraEntities: boolean | undefined;
  /** The scale of imported judgments, which the form passes on as it is. */
  scale: Pick<ExternalConfig, 'description' | 'categories' | 'min' | 'max'>;
};

const secretDraft = (value: string | null | undefined): SecretDraft => ({
  value: '',
  isSet: value === SECRET_MARK,
});

/** Writes an expected value: a text as it is, unless it would be read as something else. */
function writeExpected(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' && readExpected(value) === value ? value : JSON.stringify(value);
}

/** Reads an expected value: JSON, else a text. */
function readExpected(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the fields of a config. */
export function externalDraftOf(config: ExternalConfig): ExternalDraft {
  const { expected, expectedFrom, description, categories, min, max } = config;
  const value = expected === undefined ? 'none' : 'value';
  return {
    adapter: config.adapter,
    url: config.url ?? '',
    headers: Object.keys(config.headers ?? {}).map((name, key) => ({ key, name, value: '', isSet: true })),
    secret: secretDraft(config.secret),
    timeoutMs: config.timeoutMs === undefined ? '' : String(config.timeoutMs),
    metric: config.metric ?? '',
    metricId: config.metricId ?? '',
    projectId: config.projectId ?? '',
    apiKey: secretDraft(config.apiKey),
    scorer: config.scorer ?? SCORERS[0],
    expectedKind: expectedFrom === undefined ? value : 'variable',
    expected: writeExpected(expected),
    expectedFrom: expectedFrom ?? '',
    allowExtraEntities: config.allowExtraEntities,
    scale: { description, categories, min, max },
  };
}

/** A secret as it is sent: a new one, the mark of the one to keep, or none. */
function secretOf({ value, isSet }: SecretDraft): string | null {
  if (value !== '') return value;
  return isSet ? SECRET_MARK : null;
}

const textOr = (text: string) => (text.trim() === '' ? undefined : text.trim());

function expectationOf({ expectedKind, expected, expectedFrom }: ExternalDraft) {
  if (expectedKind === 'value') return { expected: readExpected(expected) };
  return expectedKind === 'variable' ? { expectedFrom } : {};
}

/** A header without a value is sent as it is: the API says what it lacks. */
function headersOf({ headers }: ExternalDraft): Record<string, string> {
  return Object.fromEntries(
    headers
      .filter(({ name }) => name.trim() !== '')
      .map((header) => [header.name.trim(), secretOf(header) ?? '']),
  );
}

function membersOf(draft: ExternalDraft): Record<string, unknown> {
  const timeoutMs = draft.timeoutMs.trim() === '' ? undefined : Number(draft.timeoutMs);
  switch (draft.adapter) {
    case 'http':
      return { url: draft.url, headers: headersOf(draft), secret: secretOf(draft.secret), timeoutMs };
    case 'autoeval':
      return {
        url: textOr(draft.url),
        metric: textOr(draft.metric),
        metricId: textOr(draft.metricId),
        projectId: textOr(draft.projectId),
        apiKey: secretOf(draft.apiKey),
        ...expectationOf(draft),
        timeoutMs,
      };
    case 'autoevals':
      return {
        scorer: draft.scorer,
        ...(draft.scorer === 'ValidJSON' ? {} : expectationOf(draft)),
        allowExtraEntities: draft.scorer === 'ListContains' ? draft.allowExtraEntities : undefined,
      };
    case 'imported':
      return draft.scale;
  }
}

/** Returns the config that the fields describe, with only the members of its adapter. */
export function configOf(draft: ExternalDraft): Record<string, unknown> {
  const members = Object.entries(membersOf(draft)).filter(([, value]) => value !== undefined);
  return { adapter: draft.adapter, ...Object.fromEntries(members) };
}

const secretsOf = ({ secret, apiKey, headers }: ExternalDraft): SecretDraft[] => [secret, apiKey, ...headers];

/** Whether a secret was written. */
export function hasSecrets(draft: ExternalDraft): boolean {
  return secretsOf(draft).some(({ value }) => value !== '');
}

/** Returns the fields without the secrets that were written; those that are stored stay marked. */
export function withoutSecrets(draft: ExternalDraft): ExternalDraft {
  const emptied = <Secret extends SecretDraft>(secret: Secret): Secret => ({ ...secret, value: '' });
  return {
    ...draft,
    secret: emptied(draft.secret),
    apiKey: emptied(draft.apiKey),
    headers: draft.headers.map(emptied),
  };
}
