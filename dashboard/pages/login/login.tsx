/** The page that asks for an API key, in the place of every page until somebody is logged in. */
import { useState } from 'preact/hooks';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Field } from '../../parts/form/field.tsx';
import { Form } from '../../parts/form/form.tsx';
import { linkFailure, logIn } from '../../state/me.ts';
import { isKeySafe } from './is-key-safe.ts';

/** Says why no key is asked for. */
function Unsafe() {
  return (
    <div class="login-note" role="note">
      <p>
        This page came without encryption from <code>{location.host}</code>. A key that is typed here could be
        read on the way, so no log-in is taken.
      </p>
      <p>
        Open the dashboard on the machine of the API at <code>localhost</code>, or over TLS at the address in{' '}
        <code>PUBLIC_URL</code>.
      </p>
    </div>
  );
}

function KeyForm() {
  const [key, setKey] = useState('');
  const send = async () => {
    linkFailure.value = null;
    await logIn({ key });
  };
  return (
    <Form verb="Log in" onSubmit={send}>
      {/* For managers of passwords, which keep a secret under a name */}
      <input type="text" name="username" value="API key" autocomplete="username" hidden readOnly />
      <Field
        label="API key"
        hint={
          <>
            Any key with the scope <code>read</code>. On the machine of the API,{' '}
            <code>npm start -- login-link</code> prints a link that needs no key.
          </>
        }
        control={(attributes) => (
          <input
            {...attributes}
            type="password"
            name="key"
            autocomplete="current-password"
            spellcheck={false}
            required
            value={key}
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
          />
        )}
      />
      <FailureNotice failure={linkFailure.value} />
    </Form>
  );
}

/** Asks for a key. After the log-in the page of the address is shown. */
export function Login() {
  return (
    <main class="login">
      <h1>Log in to Assay</h1>
      {isKeySafe(location) ? <KeyForm /> : <Unsafe />}
    </main>
  );
}
