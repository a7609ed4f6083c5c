import t from 'tap';
import type { DatasetJson } from '#core/contracts/dataset.ts';
import {
  datasetBody,
  datasetFields,
  schemaFault,
} from '../../../../../dashboard/pages/datasets/dataset-fields.ts';

const DATASET: DatasetJson = {
  id: 'd1',
  name: 'Refunds',
  description: 'Of the help desk',
  requestSchema: null,
  expectedSchema: { type: 'string' },
  version: 1,
  items: 3,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  archived_at: null,
};

t.test('a new dataset has what was filled in alone', async (t) => {
  const fields = { ...datasetFields(null), name: 'Refunds' };
  t.same(datasetBody(fields, null), { name: 'Refunds' });
  t.same(datasetBody({ ...fields, requestSchema: '{"type": "object"}' }, null), {
    name: 'Refunds',
    requestSchema: { type: 'object' },
  });
});

t.test('a change takes away a schema that was emptied, and a description too', async (t) => {
  const fields = datasetFields(DATASET);
  t.match(JSON.parse(fields.expectedSchema), { type: 'string' });
  t.same(datasetBody(fields, DATASET), {
    name: 'Refunds',
    description: 'Of the help desk',
    expectedSchema: { type: 'string' },
  });
  t.same(datasetBody({ ...fields, description: '', expectedSchema: ' ' }, DATASET), {
    name: 'Refunds',
    description: '',
    expectedSchema: null,
  });
});

t.test('a schema that is no JSON is a fault', async (t) => {
  t.equal(schemaFault(''), null);
  t.equal(schemaFault('{"type": "string"}'), null);
  t.match(schemaFault('{type'), /Must be JSON/);
});
