/** Entry of the page. */
import { render } from 'preact';
import { App } from './app.tsx';
import { preparePage } from './pages/routes.tsx';
import { addressNow, mendAddress } from './state/address.ts';
import { keepFocus } from './state/kept-focus.ts';
import { listenToKeys } from './state/keys.ts';
import { listenToOtherTabs, mayAskAhead, readIdentity } from './state/me.ts';
import { listenToWriting } from './state/written.ts';
import './styles/main.css';

mendAddress();
// Both as early as possible: a page is rendered when it is known who is logged in.
preparePage(addressNow().path, mayAskAhead());
listenToOtherTabs();
void readIdentity();
listenToKeys();
listenToWriting();
keepFocus();
render(<App />, document.body);
