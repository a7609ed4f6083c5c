/** When models came out: what their ids tell, a table of those whose ids do not, else the catalog's own date. */

import { secondsOfDate } from './date.ts';
import { REGISTRY_DATE } from './registry.ts';

/**
 * Release dates of models whose ids have none.
 * OpenAI, Anthropic, Mistral, DeepSeek, xAI, Meta: `release_date` of models.dev (github.com/anomalyco/models.dev), read
 * on 2026-11-21; GPT-6: developers.openai.com/api/docs/changelog; Gemini: ai.google.dev/gemini-api/docs/deprecations.
 */
const RELEASED: Record<string, string> = {
  'gpt-4o': '2024-05-13',
  'gpt-5-nano': '2025-08-07',
  'gpt-5.6': '2026-07-09',
  'gpt-5.6-luna': '2026-07-09',
  'gpt-5.6-sol': '2026-07-09',
  'gpt-5.6-terra': '2026-07-09',
  'gpt-6-astra': '2026-09-03',
  'gpt-6-luna': '2026-09-22',
  'gpt-6-sol': '2026-09-22',
  'claude-haiku-4-5': '2025-10-15',
  'claude-sonnet-4-5': '2025-09-29',
  'claude-opus-4-5': '2025-11-24',
  'claude-opus-4-6': '2026-02-05',
  'claude-sonnet-4-6': '2026-02-17',
  'claude-opus-4-7': '2026-04-16',
  'claude-opus-4-8': '2026-05-28',
  'claude-fable-5': '2026-06-09',
  'claude-sonnet-5': '2026-06-30',
  'claude-opus-5': '2026-07-24',
  'gemini-2.5-pro': '2025-06-17',
  'gemini-2.5-flash': '2025-06-17',
  'gemini-2.5-flash-lite': '2025-07-22',
  'gemini-3-flash-preview': '2025-12-17',
  'gemini-3.1-pro-preview': '2026-02-19',
  'gemini-3.1-flash-lite': '2026-05-07',
  'gemini-3.5-flash': '2026-05-19',
  'gemini-3.5-flash-lite': '2026-07-21',
  'gemini-3.6-flash': '2026-07-21',
  'gemini-3.7-flash': '2026-08-13',
  'gemini-3.8-flash': '2026-09-02',
  'codestral-latest': '2024-05-29',
  'mistral-large-latest': '2024-11-01',
  'mistral-medium-latest': '2026-04-29',
  'mistral-small-latest': '2026-03-16',
  'ministral-8b-latest': '2024-10-01',
  'deepseek-chat': '2025-12-01',
  'deepseek-reasoner': '2025-12-01',
  'deepseek-v4-flash': '2026-04-24',
  'deepseek-v4-pro': '2026-04-24',
  'grok-4.20': '2026-03-09',
  'grok-4.20-multi-agent': '2026-03-09',
  'grok-4.3': '2026-04-17',
  'grok-4.5': '2026-07-08',
  'grok-4.6': '2026-08-12',
  'grok-build-0.1': '2026-05-20',
  'meta-llama-3-8b-instruct-lite': '2024-04-18',
  'llama-3.1-70b-instruct': '2024-07-23',
  'llama-3.3-70b-instruct-turbo': '2024-12-06',
};

const DATES = [
  // gpt-4o-2024-08-06
  /-(?<year>20\d\d)-(?<month>\d\d)-(?<day>\d\d)(?!\d)/,
  // claude-haiku-4-5-20251001
  /-(?<year>20\d\d)(?<month>\d\d)(?<day>\d\d)(?!\d)/,
  // gemini-2.5-flash-preview-09-2025
  /-(?<month>\d\d)-(?<year>20\d\d)(?!\d)/,
  // mistral-large-2512: a year and a month, of which no month and day can begin with 23
  /-(?<year>2[3-9])(?<month>\d\d)(?!\d)/,
];

/** The date in an id, as seconds since the epoch at midnight UTC; null when it has none. A missing day is the first. */
export function dateInId(id: string): number | null {
  for (const pattern of DATES) {
    const groups = pattern.exec(id)?.groups;
    if (groups === undefined) continue;
    const { year = '', month = '', day = '01' } = groups;
    const seconds = secondsOfDate(`${year.padStart(4, '20')}-${month}-${day}`);
    if (seconds !== null) return seconds;
  }
  return null;
}

const CATALOG_SECONDS = secondsOfDate(REGISTRY_DATE) ?? 0;

/**
 * When a model came out, in seconds since the epoch.
 * @param siblings other names of the same model: `gpt-5` came out when its first snapshot did
 */
export function releasedAt(id: string, siblings: readonly string[]): number {
  const known = dateInId(id) ?? tableDate(id);
  if (known !== null) return known;
  const snapshots = siblings
    .filter((name) => /^-[\d-]+$/.test(name.startsWith(id) ? name.slice(id.length) : ''))
    .flatMap((name) => dateInId(name) ?? []);
  return snapshots.length === 0 ? CATALOG_SECONDS : Math.min(...snapshots);
}

/** The table's: of the model, whoever its id says hosts or wrote it, and of what `-latest` stands for. */
function tableDate(id: string): number | null {
  const name = id.slice(id.lastIndexOf('/') + 1).toLowerCase();
  return secondsOfDate(RELEASED[name] ?? RELEASED[name.replace(/-latest$/, '')] ?? '');
}
