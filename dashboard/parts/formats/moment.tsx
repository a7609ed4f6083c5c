/** A moment as its distance from now, with the whole moment in its title. */
import { NOTHING } from './numbers.ts';
import { ago, fullTime } from './times.ts';

/** Null: there is none. */
export function Moment({ at, none = NOTHING }: { at: string | null; none?: string }) {
  if (at === null) return <span class="muted">{none}</span>;
  return (
    <time dateTime={at} title={fullTime(at)}>
      {ago(at, Date.now())}
    </time>
  );
}
