/** Any time range, by its first and its last moment. */

import { useState } from 'preact/hooks';
import { rangeName, useRange } from '../../state/range.ts';
import { Dialog } from '../dialog/dialog.tsx';
import { Field } from '../form/field.tsx';
import { timeZone } from '../formats/times.ts';
import { faultOf, momentOf, toLocalField } from './local-time.ts';
import { Presets } from './presets.tsx';

/** Sets the range of the address. */
export function RangeDialog({ onClose }: { onClose: () => void }) {
  const range = useRange();
  // A range that ends now moves on with the time.
  const [original] = useState(range);
  const [from, setFrom] = useState(toLocalField(original.from));
  const [to, setTo] = useState(toLocalField(original.to));
  const [fault, setFault] = useState<string | null>(null);
  const apply = (event: Event) => {
    event.preventDefault();
    const [begin, end] = [momentOf(from, original.from), momentOf(to, original.to)];
    const found = faultOf(begin, end);
    setFault(found);
    if (found !== null) return;
    range.set(rangeName(begin!, end!));
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
          hint={`In your time zone, ${timeZone()}`}
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
