/** The outcome of adding requests to a dataset, in words. Pure. */
import type { FromRequestsJson, SkipReason } from '#core/contracts/dataset-sources.ts';
import { count, plural } from '../formats/numbers.ts';

const REASONS: Readonly<Record<SkipReason, string>> = {
  not_found: 'not found',
  playground: 'of the playground',
  experiment: 'of an experiment',
  evaluator: 'of an evaluator',
  failed: 'failed',
  truncated: 'cut off',
  other_endpoint: 'no chat completion',
  body_too_large: 'too large',
  no_chat_body: 'without messages',
  no_answer: 'without an answer',
  no_expected: 'without an expected answer',
  schema: "not fitting the dataset's schema",
};

/** @example addedText({ version: 3, added: 2, unchanged: 1, skipped: [] }) // 'Version 3: 2 items added, 1 there already' */
export function addedText({ version, added, unchanged, skipped }: FromRequestsJson): string {
  const parts = [
    `${plural(added, 'item')} added`,
    ...(unchanged > 0 ? [`${count(unchanged)} there already`] : []),
    ...skipped.map(({ reason, count: number }) => `${count(number)} left out: ${REASONS[reason]}`),
  ];
  return `Version ${version}: ${parts.join(', ')}`;
}
