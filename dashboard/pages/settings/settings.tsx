/** The settings: the organization, what was changed, the log-ins, what this browser prefers, and erasure. */
import { Tabs } from '../../parts/tabs/tabs.tsx';
import { AuditLog } from './audit-log.tsx';
import { Erasure } from './erasure.tsx';
import { Organization } from './organization.tsx';
import { PreferencesForm } from './preferences-form.tsx';
import { BrowserSessions } from './sessions.tsx';

const TABS = [
  { name: 'organization', title: 'Organization', show: () => <Organization /> },
  { name: 'audit', title: 'Audit log', show: () => <AuditLog /> },
  { name: 'log-ins', title: 'Log-ins', show: () => <BrowserSessions /> },
  { name: 'preferences', title: 'Preferences', show: () => <PreferencesForm /> },
  { name: 'erasure', title: 'Erasure', show: () => <Erasure /> },
];

/** The page /settings. */
export function Settings() {
  return (
    <>
      <header class="page-head">
        <h1>Settings</h1>
      </header>
      <Tabs label="Settings" tabs={TABS} />
    </>
  );
}
