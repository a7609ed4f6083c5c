/** The keys: those of this product, and those of providers. */
import { Tabs } from '../../parts/tabs/tabs.tsx';
import { ApiKeys } from './api-keys.tsx';
import { ProviderKeys } from './provider-keys.tsx';

const TABS = [
  { name: 'api-keys', title: 'API keys', show: () => <ApiKeys /> },
  { name: 'provider-keys', title: 'Provider keys', show: () => <ProviderKeys /> },
];

/** The page /keys. */
export function Keys() {
  return (
    <>
      <header class="page-head">
        <h1>Keys</h1>
      </header>
      <Tabs label="Kinds of keys" tabs={TABS} />
    </>
  );
}
