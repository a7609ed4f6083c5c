/** The dates in the ids of models. */
import { secondsOfDate } from './date.ts';

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

/** Returns the date in an id, as seconds since the epoch at midnight UTC; null when it has none. A missing day is the first. */
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
