/** The frame of all pages, and the page of the address. */
import { LocationProvider } from 'preact-iso/router';
import { Pages } from './pages/routes.tsx';
import { Boundary } from './parts/failure/boundary.tsx';
import { FailureNotice } from './parts/failure/failure.tsx';
import { Frame } from './parts/frame/frame.tsx';
import { useLater } from './parts/later/use-later.ts';
import { useAddress, useRouter } from './state/address.ts';
import { identity, readIdentity } from './state/me.ts';

const loadLogin = () => import('./pages/login/login.tsx').then(({ Login }) => Login);

function Signed() {
  useRouter();
  const { path } = useAddress();
  const now = identity.value;
  const Login = useLater(loadLogin, now.kind === 'signed-out');
  if (now.kind === 'unknown') return null;
  if (now.kind === 'failed') return <FailureNotice failure={now.failure} retry={readIdentity} />;
  if (now.kind === 'signed-out') return Login === null ? null : <Login />;
  return (
    <Frame me={now.me}>
      <Boundary address={path}>
        <Pages />
      </Boundary>
    </Frame>
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
