import t from 'tap';
import { buildRecord } from '../../../ingest/build-record.ts';
import { logEntry } from '../../support/log-entries.ts';

t.test('the model of a record is that of the response, else the one that was called', (t) => {
  const modelOf = (model: unknown) => {
    const { request } = buildRecord(
      logEntry({ requestModel: 'openai/gpt-4o', routedModel: 'gpt-4o' }, { response: { model } }),
    );
    return [request.response_model, request.model];
  };
  t.strictSame(modelOf('gpt-4o-2024-08-06'), ['gpt-4o-2024-08-06', 'gpt-4o-2024-08-06']);
  t.strictSame(modelOf(null), [null, 'gpt-4o']);
  t.strictSame(modelOf(''), ['', 'gpt-4o'], 'an empty name is none');
  t.end();
});
