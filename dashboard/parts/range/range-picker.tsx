/** Chooses the time range of a page. */
import { useState } from 'preact/hooks';
import { useKeys } from '../../state/keys.ts';
import { useRange } from '../../state/range.ts';
import { dayAndMinutes, fullTime } from '../formats/times.ts';
import { useLater } from '../later/use-later.ts';
import { Presets } from './presets.tsx';

const loadDialog = () => import('../later/asked.ts').then(({ RangeDialog }) => RangeDialog);

/** Presets, and a dialog for any other range, which `t` opens. The range is in the address. */
export function RangePicker() {
  const range = useRange();
  const [isOpen, setOpen] = useState(false);
  const RangeDialog = useLater(loadDialog, isOpen);
  useKeys('Time range', { t: { what: 'Time range', run: () => setOpen(true) } });
  const { from, to, isRelative } = range;
  return (
    <fieldset class="range-picker">
      <legend class="unseen">Time range</legend>
      <Presets />
      <button
        type="button"
        aria-pressed={!isRelative}
        aria-haspopup="dialog"
        title={`From ${fullTime(from)} to ${fullTime(to)}`}
        onClick={() => setOpen(true)}
      >
        {isRelative ? 'Custom…' : `${dayAndMinutes(from)} – ${dayAndMinutes(to)}`}
      </button>
      {isOpen && RangeDialog !== null && <RangeDialog onClose={() => setOpen(false)} />}
    </fieldset>
  );
}
