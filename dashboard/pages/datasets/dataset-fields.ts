/** The fields of a dataset's form. Pure. */
import type { DatasetJson, NewDatasetBody } from '#core/contracts/dataset.ts';

export type DatasetFields = {
  name: string;
  description: string;
  /** JSON. Empty: none. */
  requestSchema: string;
  expectedSchema: string;
};

const schemaText = (schema: unknown) =>
  schema === null || schema === undefined ? '' : JSON.stringify(schema, null, 2);

/** Returns the fields of a dataset; null: of a new one. */
export function datasetFields(dataset: DatasetJson | null): DatasetFields {
  return {
    name: dataset?.name ?? '',
    description: dataset?.description ?? '',
    requestSchema: schemaText(dataset?.requestSchema),
    expectedSchema: schemaText(dataset?.expectedSchema),
  };
}

/** Returns what is wrong with the JSON of a schema; null: nothing. What it says is judged by the API. */
export function schemaFault(text: string): string | null {
  if (text.trim() === '') return null;
  try {
    JSON.parse(text);
    return null;
  } catch {
    return 'Must be JSON, such as {"type": "string"}';
  }
}

/** Returns the body of fields without faults. A schema that was taken away is null. */
export function datasetBody(fields: DatasetFields, before: DatasetJson | null): NewDatasetBody {
  const schema = (name: 'requestSchema' | 'expectedSchema') => {
    const text = fields[name].trim();
    if (text !== '') return { [name]: JSON.parse(text) as unknown };
    return before === null || before[name] === null ? {} : { [name]: null };
  };
  return {
    name: fields.name,
    ...((fields.description !== '' || before !== null) && { description: fields.description }),
    ...schema('requestSchema'),
    ...schema('expectedSchema'),
  };
}
