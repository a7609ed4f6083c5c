/** Any time range, by its first and its last moment. */
import { useState } from 'preact/hooks';
import { rangeName, useRange } from '../../state/range.ts';
import { Dialog } from '../dialog/dialog.tsx';
import { Field } from '../form/field.tsx';
import { faultOf, fromLocalField, toLocalField } from './local-time.ts';
import { Presets } from './presets.tsx';

/** Sets the range of the address. */
export function RangeDialog({ onClose }: { onClose: () => void }) {
  const range = useRange();
  const [from, setFrom] = useState(toLocalField(range.from));
  const [to, setTo] = useState(toLocalField(range.to));
  const [fault, setFault] = useState<string | null>(null);
  const apply = (event: Event) => {
    event.preventDefault();
    const found = faultOf(from, to);
    setFault(found);
    if (found !== null) return;
    range.set(rangeName(fromLocalField(from)!, fromLocalField(to)!));
    onClose();
  };
  return (
    <Dialog title="Time range" onClose={onClose}>
      <div class="range-presets">
        <Presets onChosen={onClose} />
      </div>
      <form class="form" onSubmit={apply}>
        <Field
          label="From"
          control={(attributes) => (
            <input
              {...attributes}
              type="datetime-local"
              value={from}
              onInput={(event) => setFrom(event.currentTarget.value)}
            />
          )}
        />
        <Field
          label="To"
          fault={fault}
          hint={`In your time zone, ${Intl.DateTimeFormat().resolvedOptions().timeZone}`}
          control={(attributes) => (
            <input
              {...attributes}
              type="datetime-local"
              value={to}
              onInput={(event) => setTo(event.currentTarget.value)}
            />
          )}
        />
        <div class="form-actions">
          <button type="submit" class="primary">
            Apply
          </button>
        </div>
      </form>
    </Dialog>
  );
}
