/** The change of a value against the period before. Pure. */
import { percent } from '../../parts/formats/numbers.ts';

export type Change = {
  /** `+12 %` in the page's words; null: there is nothing to compare with. */
  text: string;
  direction: 'more' | 'less' | 'same';
};

/** Changes below this share are noise that a percentage would round away. */
const LEAST_SHARE = 0.0005;
/** Beyond this, how often says more than how many percent. */
const MOST_PERCENT = 10;

/** Returns the change; null without a value in both periods, or from nothing. */
export function changeOf(now: number | null, before: number | null): Change | null {
  if (now === null || before === null || before === 0) return null;
  const share = (now - before) / Math.abs(before);
  if (Math.abs(share) < LEAST_SHARE) return { text: 'as before', direction: 'same' };
  const direction = share > 0 ? 'more' : 'less';
  if (share > MOST_PERCENT) return { text: `${Math.round(now / before)} times as much`, direction };
  return { text: `${share > 0 ? '+' : '−'}${percent(Math.abs(share))}`, direction };
}
