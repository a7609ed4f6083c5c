import t from 'tap';
import {
  juryDraft,
  juryOf,
  NO_JURY,
  promptAfter,
  promptFor,
} from '../../../../../../dashboard/pages/evaluator/definition/judge-draft.ts';

t.test('A jury is shown and sent back as the same', async (t) => {
  const jury = { models: ['a', 'openai/b,c'], rule: 'median', quorum: 2 } as const;
  t.same(juryOf(juryDraft({ ...jury, models: [...jury.models] })), jury);
  t.equal(juryOf(juryDraft(undefined)), undefined);
  t.equal(juryOf(NO_JURY), undefined);
});

t.test(
  'A prompt that was written stays when the type or the scope changes; an untouched one follows',
  async (t) => {
    const first = promptFor('LLM-BOOLEAN', 'request');
    t.match(promptAfter(first, 'LLM-BOOLEAN', 'session'), /\{\{conversation\}\}/);
    t.notMatch(promptAfter(first, 'LLM-PAIRWISE', 'request'), /\{\{/);
    t.equal(promptAfter(promptFor('LLM-PAIRWISE', 'request'), 'LLM-RANGE', 'request'), first);
    t.equal(promptAfter('My own', 'LLM-PAIRWISE', 'request'), 'My own');
  },
);
