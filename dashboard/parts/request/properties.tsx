/** The properties of a request, and a form for another one. */
import { useState } from 'preact/hooks';
import { call } from '../../client/call.ts';
import { may } from '../../state/me.ts';
import { Form } from '../form/form.tsx';
import type { RecordHead } from '../record/record-protocol.ts';
import { type Column, Table } from '../table/table.tsx';
import { Hostile } from '../text/hostile.tsx';
import { FilterValue } from '../value/value.tsx';
import { NO_PROPERTY, PropertyFields } from './property-fields.tsx';

const COLUMNS: readonly Column<[string, string]>[] = [
  { name: 'name', title: 'Name', cell: ([name]) => <Hostile text={name} /> },
  {
    name: 'value',
    title: 'Value',
    cell: ([name, value]) => (
      <FilterValue field={`property.${name}`} value={value} page="/requests">
        <Hostile text={value} />
      </FilterValue>
    ),
  },
];

function AddProperty({ id, onAdded }: { id: string; onAdded: () => void }) {
  const [property, setProperty] = useState(NO_PROPERTY);
  const add = async () => {
    await call('PUT', `/v1/request/${encodeURIComponent(id)}/property`, property);
    setProperty(NO_PROPERTY);
    onAdded();
  };
  return (
    <Form verb="Add" onSubmit={add}>
      <PropertyFields property={property} onChange={setProperty} />
    </Form>
  );
}

/** Lists the properties; a click on a value filters by it. */
export function Properties({ head, onChanged }: { head: RecordHead; onChanged: () => void }) {
  return (
    <>
      <Table
        caption="Properties"
        columns={COLUMNS}
        rows={Object.entries(head.properties)}
        keyOf={([name]) => name}
        empty="This request has no properties."
      />
      {may('write') && <AddProperty id={head.request_id} onAdded={onChanged} />}
    </>
  );
}
