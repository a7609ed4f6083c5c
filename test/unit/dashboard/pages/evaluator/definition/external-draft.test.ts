import t from 'tap';
import {
  externalDraftOf,
  hasSecrets,
  withoutSecrets,
} from '../../../../../../dashboard/pages/evaluator/definition/external-draft.ts';

const saved = externalDraftOf({
  adapter: 'http',
  url: 'https://scores.example.com',
  headers: { 'x-api-key': '[secret]' },
  secret: '[secret]',
});
const [header] = saved.headers;
const written = { value: 'sk-1', isSet: false };

for (const [name, draft] of Object.entries({
  'a signing secret': { ...saved, secret: written },
  'an API key': { ...saved, apiKey: written },
  'the value of a header': { ...saved, headers: [{ ...header!, value: 'sk-1' }] },
})) {
  t.test(`a draft is kept without ${name} that was written`, async (t) => {
    t.equal(hasSecrets(draft), true);
    const kept = withoutSecrets(draft);
    t.equal(hasSecrets(kept), false);
    t.notMatch(JSON.stringify(kept), 'sk-1');
    t.equal(kept.url, saved.url);
  });
}

t.test('secrets that are stored stay marked, for saving the draft keeps them', async (t) => {
  t.equal(hasSecrets(saved), false);
  t.same(withoutSecrets(saved), saved);
});
