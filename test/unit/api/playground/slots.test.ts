import t from 'tap';
import { createCallSlots } from '../../../../api/playground/slots.ts';

t.test(
  'organizations together have no more calls than there are slots, and an end counts once',
  async (t) => {
    const take = createCallSlots(3);
    const [end] = [take('one'), take('one'), take('two')];
    t.throws(() => take('three'), { code: 'playground_busy' });
    end!();
    end!();
    take('three');
    t.throws(() => take('three'), { code: 'playground_busy' });
  },
);

t.test('an organization has at most sixteen calls, while others have theirs', async (t) => {
  const take = createCallSlots(128);
  const ends = Array.from({ length: 16 }, () => take('one'));
  t.throws(() => take('one'), { code: 'too_many_playground_calls' });
  take('two');
  ends[0]!();
  take('one');
  t.throws(() => take('one'), { code: 'too_many_playground_calls' });
});
