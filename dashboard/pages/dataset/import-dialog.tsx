/** Stores the items of a file: JSON Lines or CSV. */
import { useState } from 'preact/hooks';
import type { ItemChangesJson } from '#core/contracts/dataset.ts';
import type { ImportBody } from '#core/contracts/dataset-sources.ts';
import { call } from '../../client/call.ts';
import { datasetPath } from '../../parts/datasets/load.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { Form } from '../../parts/form/form.tsx';
import { Select } from '../../parts/form/select.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { bytes } from '../../parts/formats/numbers.ts';
import { tell } from '../../parts/toast/toast.tsx';
import { columnNames, firstMeaning, isKnown, MEANINGS } from './csv-columns.ts';
import { changesText } from './words.ts';

/** The limit of the API, with all else in the body. */
const MOST_BYTES = 31 * 1024 * 1024;

type Format = ImportBody['format'];
type File = { name: string; text: string; format: Format; meanings: Readonly<Record<string, string>> };

const FORMATS = [
  { name: 'jsonl', label: 'JSON Lines, an item a line' },
  { name: 'csv', label: 'CSV, the first line names the columns' },
];

function meaningsOf(text: string): Record<string, string> {
  const unknown = columnNames(text).filter((name) => !isKnown(name));
  return Object.fromEntries(unknown.map((name) => [name, firstMeaning(name)]));
}

/** Asks what a column means whose name the API does not know. */
function Meanings({ file, onChange }: { file: File; onChange: (meanings: File['meanings']) => void }) {
  const names = Object.keys(file.meanings);
  if (file.format !== 'csv' || names.length === 0) return null;
  return (
    <fieldset class="form">
      <legend>Columns</legend>
      {names.map((name) => (
        <Select
          key={name}
          label={name}
          options={[...MEANINGS, `metadata.${name}`].map((meaning) => ({ name: meaning, label: meaning }))}
          value={file.meanings[name]!}
          onChange={(meaning) => onChange({ ...file.meanings, [name]: meaning })}
        />
      ))}
    </fieldset>
  );
}

function FileField({ onFile }: { onFile: (file: File | null) => void }) {
  const [fault, setFault] = useState<string | null>(null);
  const read = async (chosen: globalThis.File | undefined) => {
    onFile(null);
    if (chosen === undefined) return;
    const isTooLarge = chosen.size > MOST_BYTES;
    setFault(
      isTooLarge ? `The file has ${bytes(chosen.size)}; at most ${bytes(MOST_BYTES)} are taken` : null,
    );
    if (isTooLarge) return;
    const text = await chosen.text();
    const format = /\.csv$/i.test(chosen.name) ? 'csv' : 'jsonl';
    onFile({ name: chosen.name, text, format, meanings: meaningsOf(text) });
  };
  return (
    <Field
      label="File"
      fault={fault}
      hint="All of its items are stored, or none is"
      control={(attributes) => (
        <input
          {...attributes}
          type="file"
          accept=".jsonl,.ndjson,.csv,.json,.txt"
          required
          onChange={({ currentTarget }) => read(currentTarget.files?.[0])}
        />
      )}
    />
  );
}

export type ImportDialogProps = { id: string; onClose: () => void; onDone: () => void };

/** Asks for the file, and says what its items changed. */
export function ImportDialog({ id, onClose, onDone }: ImportDialogProps) {
  const [file, setFile] = useState<File | null>(null);
  const [split, setSplit] = useState('');
  const [message, setMessage] = useState('');
  const [replace, setReplace] = useState(false);
  const store = async () => {
    if (file === null) return;
    const { text, format, meanings } = file;
    const body: ImportBody = {
      format,
      text,
      ...(format === 'csv' && Object.keys(meanings).length > 0 && { mapping: { columns: { ...meanings } } }),
      ...(split !== '' && { split }),
      ...(message !== '' && { message }),
      ...(replace && { replace }),
    };
    const changes = await call<ItemChangesJson>('POST', datasetPath(id, '/items/import'), body);
    tell(changesText(changes));
    onDone();
  };
  return (
    <Dialog title="Import a file" onClose={onClose}>
      <Form verb="Import" onSubmit={store} isReady={file !== null}>
        <FileField onFile={setFile} />
        {file !== null && (
          <>
            <Select
              label="Format"
              options={FORMATS}
              value={file.format}
              onChange={(format) => setFile({ ...file, format: format as Format })}
            />
            <Meanings file={file} onChange={(meanings) => setFile({ ...file, meanings })} />
          </>
        )}
        <TextField
          label="Split"
          value={split}
          onInput={setSplit}
          hint="Of items that name none. Empty: they have none"
        />
        <TextField label="Message" value={message} onInput={setMessage} hint="What the version is for" />
        <label>
          <input
            type="checkbox"
            checked={replace}
            onChange={({ currentTarget }) => setReplace(currentTarget.checked)}
          />{' '}
          Remove the items that the file does not have{split === '' ? '' : ', of this split'}
        </label>
      </Form>
    </Dialog>
  );
}
