/** Saves what a query finds as a file. */
import { useState } from 'preact/hooks';
import { readFailure, send } from '../../client/call.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { Form } from '../../parts/form/form.tsx';
import { tell } from '../../parts/toast/toast.tsx';

type Format = 'ndjson' | 'csv';

/** Hands a file to the browser's downloads. */
function save(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** Asks for the format. The browser keeps what comes outside of the page's memory. */
export function ExportDialog({ q, onClose }: { q: string; onClose: () => void }) {
  const [format, setFormat] = useState<Format>('ndjson');
  const [bodies, setBodies] = useState(true);
  const run = async () => {
    const response = await send('POST', '/v1/request/export', { q, format, bodies });
    if (!response.ok) throw await readFailure(response);
    const day = new Date().toISOString().slice(0, 10);
    save(await response.blob(), `assay-requests-${day}.${format}`);
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
