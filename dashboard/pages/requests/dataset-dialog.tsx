/** Adds selected requests to a dataset, as its items. */
import { useState } from 'preact/hooks';
import type { FromRequestsBody, FromRequestsJson } from '#core/contracts/dataset-sources.ts';
import { call } from '../../client/call.ts';
import { addedText } from '../../parts/datasets/added.ts';
import { DATASETS, datasetAddress, datasetPath } from '../../parts/datasets/load.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Chooser } from '../../parts/form/chooser.tsx';
import { Form } from '../../parts/form/form.tsx';
import { Select } from '../../parts/form/select.tsx';
import { TextField } from '../../parts/form/text-field.tsx';
import { plural } from '../../parts/formats/numbers.ts';

type Expected = NonNullable<FromRequestsBody['expected']>;

const EXPECTED = [
  { name: 'answer', label: 'The logged answer' },
  { name: 'none', label: 'Nothing' },
];

function Added({ id, result }: { id: string; result: FromRequestsJson }) {
  return (
    <p role="status">
      {addedText(result)}. <a href={datasetAddress(id)}>Open the dataset</a>
    </p>
  );
}

/** Says what became of the requests, and leads to the dataset. */
export function DatasetDialog({ ids, onClose }: { ids: readonly string[]; onClose: () => void }) {
  const [id, setId] = useState('');
  const [expected, setExpected] = useState<Expected>('answer');
  const [split, setSplit] = useState('');
  const [message, setMessage] = useState('');
  const [result, setResult] = useState<FromRequestsJson | null>(null);
  const add = async () => {
    setResult(null);
    const body: FromRequestsBody = {
      requestIds: [...ids],
      expected,
      ...(split !== '' && { split }),
      ...(message !== '' && { message }),
    };
    setResult(await call<FromRequestsJson>('POST', datasetPath(id, '/items/from-requests'), body));
  };
  return (
    <Dialog title={`Add ${plural(ids.length, 'request')} to a dataset`} onClose={onClose}>
      <Form verb="Add" onSubmit={add} isReady={id !== ''}>
        <Chooser
          label="Dataset"
          choices={DATASETS}
          none="Choose a dataset"
          value={id}
          onChange={setId}
          empty={
            <>
              There is no dataset yet: <a href="/datasets?new=1">make one</a> first.
            </>
          }
        />
        <Select
          label="Expected"
          options={EXPECTED}
          value={expected}
          onChange={(name) => setExpected(name as Expected)}
          hint="What a good answer is"
        />
        <TextField label="Split" value={split} onInput={setSplit} hint="Empty: none" />
        <TextField label="Message" value={message} onInput={setMessage} hint="What the version is for" />
      </Form>
      {result !== null && <Added id={id} result={result} />}
    </Dialog>
  );
}
