import t from 'tap';
import { invalidField, invalidHeader } from '#core/contracts/invalid.ts';

t.test('the sentence of a refused field begins with its path', async (t) => {
  t.match(invalidField('llm_template.min', 'must be a number'), {
    code: 'invalid_body',
    message: 'llm_template.min must be a number',
  });
});

t.test('the sentence of a refused header quotes at most 80 characters of its value', async (t) => {
  const rule = 'it must be a whole number';
  t.match(invalidHeader('Service-Retry-Num', rule, 'x'.repeat(81)), {
    code: 'invalid_header',
    message: `Cannot read the header Service-Retry-Num: ${rule}, but is "${'x'.repeat(80)}"`,
  });
});
