/** The frame of all pages, and the page of the address. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { LocationProvider } from 'preact-iso/router';
import { Pages } from './pages/routes.tsx';
import { Boundary } from './parts/failure/boundary.tsx';
import { FailureNotice } from './parts/failure/failure.tsx';
import { MissingPage } from './parts/failure/load-again.tsx';
import { Frame } from './parts/frame/frame.tsx';
import { useLater } from './parts/later/use-later.ts';
import { useAddress, useRouter } from './state/address.ts';
import { useKeys } from './state/keys.ts';
import { identity, readIdentity } from './state/me.ts';

const loadLogin = () =>
  import('./pages/login/login.tsx').then(
    ({ Login }) => Login,
    () => MissingPage,
  );

/** Unlike what is not displayed, a dialog in it stays modal: the log-in above it is so, too. */
const HIDDEN = { visibility: 'hidden' } as const;

/** Is above whatever dialog is open. Escape, which browsers let close any dialog, opens it again. */
function Cover({ children }: { children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  useKeys('Log in', {}, { isModal: true });
  const open = () => element.current?.showModal();
  useLayoutEffect(open, []);
  return (
    <dialog ref={element} class="login-cover" onClose={open}>
      {children}
    </dialog>
  );
}

function Signed() {
  useRouter();
  const { path } = useAddress();
  const now = identity.value;
  const hasEnded = now.kind === 'signed-in' && now.hasEnded === true;
  const Login = useLater(loadLogin, now.kind === 'signed-out' || hasEnded);
  if (now.kind === 'unknown') return <p class="late">Loading…</p>;
  if (now.kind === 'failed') return <FailureNotice failure={now.failure} retry={readIdentity} />;
  if (now.kind === 'signed-out') return Login === null ? null : <Login />;
  return (
    <>
      <div style={hasEnded ? HIDDEN : undefined}>
        <Frame key={now.me.key.id} me={now.me}>
          <Boundary address={path}>
            <Pages />
          </Boundary>
        </Frame>
      </div>
      {hasEnded && Login !== null && (
        <Cover>
          <Login />
        </Cover>
      )}
    </>
  );
}

/** Shows the log-in until somebody is logged in, and then the page of the address. */
export function App() {
  return (
    <LocationProvider>
      <Signed />
    </LocationProvider>
  );
}
