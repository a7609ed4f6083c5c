/** The state of an alert, and that it is not evaluated because that fails. */
import type { AlertJson } from '#core/contracts/alert.ts';
import { STATE_CHIPS } from './words.ts';

/** Shows both. What fires goes on firing meanwhile; of all else nothing is known. */
export function StateChip({ state, error }: Pick<AlertJson, 'state' | 'error'>) {
  const isKnown = error === null || state === 'critical' || state === 'warning';
  return (
    <>
      {isKnown && <span class={STATE_CHIPS[state]}>{state}</span>}
      {error !== null && <span class="chip chip-warn">not evaluated</span>}
    </>
  );
}
