/** What this browser prefers. Nothing of it leaves the browser. */
import { Select } from '../../parts/form/select.tsx';
import { preferences, setPreferences, type Theme } from '../../state/preferences.ts';

const THEMES = [
  { name: 'system', label: 'As the system' },
  { name: 'light', label: 'Light' },
  { name: 'dark', label: 'Dark' },
];
const DENSITIES = [
  { name: 'wide', label: 'Wide rows' },
  { name: 'dense', label: 'Dense rows' },
];

/** Changes count at once. */
export function PreferencesForm() {
  const { theme, isDense } = preferences.value;
  return (
    <div class="card form narrow">
      <Select
        label="Colours"
        options={THEMES}
        value={theme}
        onChange={(name) => setPreferences({ theme: name as Theme })}
      />
      <Select
        label="Lists"
        options={DENSITIES}
        value={isDense ? 'dense' : 'wide'}
        onChange={(name) => setPreferences({ isDense: name === 'dense' })}
      />
      <p class="muted">Kept in this browser.</p>
    </div>
  );
}
