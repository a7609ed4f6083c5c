/** A score that a person gives. */
import { useState } from 'preact/hooks';
import { call } from '../../client/call.ts';
import { Dialog } from '../dialog/dialog.tsx';
import { Field } from '../form/field.tsx';
import { Form } from '../form/form.tsx';
import { tell } from '../toast/toast.tsx';

/** A button, and behind it a dialog. */
export function AddScore({ id, onAdded }: { id: string; onAdded: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const [key, setKey] = useState('');
  const [score, setScore] = useState('');
  const add = async () => {
    await call('POST', `/v1/request/${encodeURIComponent(id)}/score`, { scores: { [key]: Number(score) } });
    tell('Scored');
    setOpen(false);
    onAdded();
  };
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Score
      </button>
      {isOpen && (
        <Dialog title="Score this answer" onClose={() => setOpen(false)}>
          <Form verb="Score" onSubmit={add}>
            <Field
              label="Score key"
              hint="What is scored: accuracy, tone, helpfulness"
              control={(attributes) => (
                <input
                  {...attributes}
                  type="text"
                  required
                  maxLength={100}
                  value={key}
                  onInput={(event) => setKey(event.currentTarget.value)}
                />
              )}
            />
            <Field
              label="Score"
              control={(attributes) => (
                <input
                  {...attributes}
                  type="number"
                  step="any"
                  required
                  value={score}
                  onInput={(event) => setScore(event.currentTarget.value)}
                />
              )}
            />
          </Form>
        </Dialog>
      )}
    </>
  );
}
