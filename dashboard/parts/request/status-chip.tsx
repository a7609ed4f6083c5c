/** A status with a colour, and a sign for those who do not see the colour. */
import { FilterValue } from '../value/value.tsx';

type Look = { look: string; sign: string };

function lookOf(status: number): Look {
  if (status >= 500 || status === 0) return { look: 'chip chip-bad', sign: '✕' };
  if (status >= 400) return { look: 'chip chip-warn', sign: '!' };
  return { look: 'chip chip-good', sign: '✓' };
}

/** A click filters the requests by it. */
export function StatusChip({ status, isCut = false }: { status: number; isCut?: boolean }) {
  const { look, sign } = lookOf(status);
  return (
    <span class={look}>
      <span aria-hidden="true">{sign}</span>
      <FilterValue field="status" value={status} page="/requests" />
      {isCut && <span title="The answer ended early">cut</span>}
    </span>
  );
}
