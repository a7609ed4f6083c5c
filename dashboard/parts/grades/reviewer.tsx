/** Whom grades are by, and the way to change it: one key may serve several people. */
import { useState } from 'preact/hooks';
import { preferences, setPreferences } from '../../state/preferences.ts';
import { Dialog } from '../dialog/dialog.tsx';
import { Form } from '../form/form.tsx';
import { TextField } from '../form/text-field.tsx';
import { Hostile } from '../text/hostile.tsx';

const LONGEST_NAME = 100;

function NameDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState(preferences.value.reviewer);
  const save = async () => {
    setPreferences({ reviewer: name.trim() });
    onClose();
  };
  return (
    <Dialog title="Who grades?" onClose={onClose}>
      <Form verb="Save" onSubmit={save}>
        <TextField
          label="Your name"
          value={name}
          onInput={setName}
          maxLength={LONGEST_NAME}
          hint="Whoever has the same name is the same person, with every key. Empty: the person is the key that is logged in. It is kept in this browser."
        />
      </Form>
    </Dialog>
  );
}

/** Shows the name. */
export function Reviewer() {
  const [isOpen, setOpen] = useState(false);
  const { reviewer } = preferences.value;
  return (
    <span class="reviewer">
      <span class="break">
        Grading as{' '}
        {reviewer === '' ? (
          'the key that is logged in'
        ) : (
          <strong>
            <Hostile text={reviewer} />
          </strong>
        )}
      </span>{' '}
      <button type="button" class="quiet" onClick={() => setOpen(true)}>
        Change
      </button>
      {isOpen && <NameDialog onClose={() => setOpen(false)} />}
    </span>
  );
}
