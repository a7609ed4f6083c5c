/** core/models/models.json, which comes from the price registry, models.dev and scripts/models/. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { buildModels } from '../../../scripts/models/build.ts';

const root = join(import.meta.dirname, '../../..');
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');
const dates = JSON.parse(textOf('scripts/models/release-dates.json'));
const overrides = JSON.parse(textOf('scripts/models/overrides.json'));
const text = textOf('core/models/models.json');

t.test('core/models/models.json is what npm run update:models writes', async (t) => {
  t.equal(text, buildModels(dates, overrides));
});

t.test(
  'a release date comes from the overrides before models.dev, and from neither for a dated id',
  async (t) => {
    const { models }: { models: { id: string; released: string | null }[] } = JSON.parse(
      buildModels(
        { openai: { 'gpt-4o': '2001-01-01', 'gpt-5-mini': '2001-01-01', 'gpt-4o-2024-08-06': '2001-01-01' } },
        { ...overrides, released: { 'gpt-4o': '2002-02-02' } },
      ),
    );
    const released = (id: string) => models.find((model) => model.id === id)?.released;
    t.equal(released('gpt-4o'), '2002-02-02');
    t.equal(released('gpt-4o-2024-08-06'), null, 'its id has a date');
    t.equal(released('gpt-5-mini'), '2025-08-07', 'its first snapshot says when it came out');
  },
);
