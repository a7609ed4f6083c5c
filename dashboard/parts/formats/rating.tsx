/** A rating with a sign, for those who do not see its colour. */
import { NOTHING } from './numbers.ts';

/** @param of null: nobody has rated */
export function Rating({ of }: { of: boolean | null }) {
  if (of === null) return <>{NOTHING}</>;
  return <span class={of ? 'chip chip-good' : 'chip chip-bad'}>{of ? '▲ Good' : '▼ Bad'}</span>;
}
