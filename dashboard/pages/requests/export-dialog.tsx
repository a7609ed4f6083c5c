/** Saves what a query finds as a file. */
import { useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { saveAnswer } from '../../parts/download/save-file.ts';
import { Field } from '../../parts/form/field.tsx';
import { Form } from '../../parts/form/form.tsx';
import { tell } from '../../parts/toast/toast.tsx';

type Format = 'ndjson' | 'csv';

/** Asks for the format. */
export function ExportDialog({ q, onClose }: { q: string; onClose: () => void }) {
  const [format, setFormat] = useState<Format>('ndjson');
  const [bodies, setBodies] = useState(true);
  const run = async () => {
    const day = new Date().toISOString().slice(0, 10);
    const body = { q, format, bodies };
    const path = '/v1/request/export';
    await saveAnswer(`assay-requests-${day}.${format}`, { method: 'POST', path, body });
    tell('Exported');
    onClose();
  };
  return (
    <Dialog title="Export" onClose={onClose}>
      <Form verb="Export" onSubmit={run}>
        <Field
          label="Format"
          control={(attributes) => (
            <select
              {...attributes}
              value={format}
              onChange={(event) => setFormat(event.currentTarget.value === 'csv' ? 'csv' : 'ndjson')}
            >
              <option value="ndjson">NDJSON, a record a line</option>
              <option value="csv">CSV</option>
            </select>
          )}
        />
        <label>
          <input
            type="checkbox"
            checked={bodies}
            onChange={(event) => setBodies(event.currentTarget.checked)}
          />{' '}
          With the bodies of requests and responses
        </label>
      </Form>
    </Dialog>
  );
}
