/** MODELS_FILE, as configuration has it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readConfig } from '#platform/config/mod.ts';

const directory = t.testdir();

function fileWith(text: string): string {
  const path = join(directory, 'models.json');
  writeFileSync(path, text);
  return path;
}

t.test('without MODELS_FILE there are no models of the operator', async (t) => {
  for (const environment of [{}, { MODELS_FILE: '' }]) {
    const read = readConfig(environment);
    t.ok(read.ok && read.config.models === null);
  }
});

t.test('MODELS_FILE is read with the configuration', async (t) => {
  const models = [{ id: 'house-llama', provider: 'custom', price: { input: 0.2, output: 0.6 } }];
  const read = readConfig({ MODELS_FILE: fileWith(JSON.stringify({ models })) });
  t.match(read, { ok: true, config: { models: { models, source: /^models-file@[0-9a-f]{12}$/ } } });
});

t.test(
  'every problem of MODELS_FILE is reported at once, together with those of other variables',
  async (t) => {
    const MODELS_FILE = fileWith(
      '{"models": [{"id": "a", "provider": "custom", "listed": 1}, {"provider": "xai"}]}',
    );
    t.same(readConfig({ MODELS_FILE, API_PORT: 'x' }), {
      ok: false,
      problems: [
        'MODELS_FILE: models.0.listed must be true or false, but is 1',
        'MODELS_FILE: models.1.id is required',
        'API_PORT must be a whole number from 0 to 65535, but is "x"',
      ].sort((a, b) => Number(b.startsWith('API')) - Number(a.startsWith('API'))),
    });
  },
);

t.test('a MODELS_FILE that does not exist is reported', async (t) => {
  const read = readConfig({ MODELS_FILE: join(directory, 'none.json') });
  t.match(read, { ok: false, problems: [/^MODELS_FILE must be a file that can be read: ENOENT/] });
});
