/** Edits the body of a prompt, for a new prompt or a new version. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { JsonObject } from '#core/json-values/mod.ts';
import { Dialog } from '../dialog/dialog.tsx';
import { MessageEditors } from '../draft/message-editor.tsx';
import { Form } from '../form/form.tsx';
import { TextField } from '../form/text-field.tsx';
import { readStored, writeStored } from './stored-body.ts';

export type BodyDialogProps = {
  title: string;
  verb: string;
  /** The body at first. */
  body: JsonObject;
  /** Throws what the API refuses. */
  onSubmit: (body: JsonObject) => Promise<void>;
  onClose: () => void;
  /** Fields above the body. */
  children: ComponentChildren;
};

/** Is open as long as it is shown. */
export function BodyDialog({ title, verb, body, onSubmit, onClose, children }: BodyDialogProps) {
  const [fields, setFields] = useState(() => readStored(body));
  const submit = async () => {
    await onSubmit(writeStored(fields));
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose} isWide>
      <Form verb={verb} onSubmit={submit}>
        {children}
        <TextField
          label="Model"
          value={fields.model}
          hint="Calls may name another one"
          onInput={(model) => setFields({ ...fields, model })}
        />
        <fieldset>
          <legend>
            Messages; <code>{'{{name}}'}</code> and <code>{'{{name:number}}'}</code> are variables
          </legend>
          <MessageEditors
            dialect="chat"
            messages={fields.messages}
            onChange={(messages) => setFields({ ...fields, messages })}
          />
        </fieldset>
        <TextField
          label="Other fields (JSON)"
          lines={3}
          isMono
          value={fields.others}
          hint="Parameters, tools, response_format"
          onInput={(others) => setFields({ ...fields, others })}
        />
      </Form>
    </Dialog>
  );
}
