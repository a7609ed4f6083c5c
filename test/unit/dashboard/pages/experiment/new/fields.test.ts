import t from 'tap';
import {
  bodyOf,
  type Fields,
  fieldsOf,
  isReady,
  membersFault,
} from '../../../../../../dashboard/pages/experiment/new/fields.ts';

const given = (changes: Partial<Fields>): Fields => ({
  ...fieldsOf({ dataset: 'd1', version: '3', split: 'test' }),
  name: 'Small',
  ...changes,
});

t.test('an address opens the form with a dataset, its version and split', async (t) => {
  t.match(fieldsOf({ dataset: 'd1', version: '3', split: 'test' }), {
    datasetId: 'd1',
    version: '3',
    split: 'test',
  });
  t.match(fieldsOf({}), { datasetId: '', version: '', split: '', kind: 'model' });
});

t.test('the body has the target of the kind alone, and nothing that is empty', async (t) => {
  const target = (changes: Partial<Fields>) => bodyOf(given(changes)).target;
  const all = {
    model: ' gpt-4o-mini ',
    members: '{"temperature": 0}',
    promptId: 'p1',
    promptVersion: 'version v1',
  };
  t.same(target(all), { kind: 'model', model: 'gpt-4o-mini', parameters: { temperature: 0 } });
  t.same(target({ ...all, kind: 'replay' }), { kind: 'replay', overrides: { temperature: 0 } });
  t.same(target({ ...all, kind: 'recorded' }), { kind: 'recorded' });
  t.same(target({ ...all, kind: 'prompt' }), {
    kind: 'prompt',
    promptId: 'p1',
    versionId: 'v1',
    model: 'gpt-4o-mini',
  });
  t.same(target({ kind: 'prompt', promptId: 'p1', promptVersion: 'environment pre prod' }), {
    kind: 'prompt',
    promptId: 'p1',
    environment: 'pre prod',
  });
  t.same(bodyOf(given({ model: 'm', version: '', split: ' ', repetitions: '' })), {
    name: 'Small',
    datasetId: 'd1',
    target: { kind: 'model', model: 'm' },
  });
  t.match(
    bodyOf(
      given({
        kind: 'recorded',
        evaluatorIds: ['e1'],
        maxCost: '2.5',
        concurrency: '4',
        seed: '7',
        isCached: true,
      }),
    ),
    {
      datasetVersion: 3,
      split: 'test',
      evaluatorIds: ['e1'],
      repetitions: 1,
      maxCost: 2.5,
      concurrency: 4,
      seed: 7,
      cache: true,
    },
  );
});

t.test('a form is ready when its dataset, name and target are there', async (t) => {
  t.ok(isReady(given({ kind: 'recorded' })));
  t.notOk(isReady(given({ kind: 'recorded', name: ' ' })));
  t.notOk(isReady(given({ kind: 'recorded', datasetId: '' })));
  t.notOk(isReady(given({ kind: 'model' })));
  t.notOk(isReady(given({ kind: 'model', model: 'm', members: '[1]' })));
  t.notOk(isReady(given({ kind: 'prompt', promptId: 'p1' })));
  t.ok(isReady(given({ kind: 'prompt', promptId: 'p1', promptVersion: 'version v1' })));
  t.notOk(isReady(given({ kind: 'replay', members: '{' })));
});

t.test('members must be a JSON object', async (t) => {
  t.equal(membersFault(' '), null);
  t.equal(membersFault('{"a": null}'), null);
  for (const text of ['[1]', 'null', '1']) t.match(membersFault(text), /must be a JSON object/i, text);
  t.match(membersFault('{'), /must be JSON/i);
});
