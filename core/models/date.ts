const MS_PER_SECOND = 1_000;

/** Converts `2025-08-07` to seconds since the epoch at midnight UTC; null when the text has another form or names no real day. */
export function secondsOfDate(date: string): number | null {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  // 30 February would be read as a day in March.
  const isReal = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
  return isReal ? ms / MS_PER_SECOND : null;
}
