/** What belongs to this browser and to no link: colours, density, widths. */
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
export type Preferences = {
  theme: Theme;
  isDense: boolean;
  drawerWidth: number;
  /** Whom grades are by; empty: the key that is logged in. */
  reviewer: string;
};

const PLACE = 'assay.preferences';
const DEFAULTS: Preferences = { theme: 'system', isDense: false, drawerWidth: 50, reviewer: '' };

function read(): Preferences {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(PLACE) ?? '{}') as Partial<Preferences>) };
  } catch {
    // Without storage, or with another's text in it: as if nothing had been kept.
    return DEFAULTS;
  }
}

export const preferences = signal<Preferences>(read());

/** Changes preferences, for the next visit too. */
export function setPreferences(changes: Partial<Preferences>): void {
  preferences.value = { ...preferences.value, ...changes };
  try {
    localStorage.setItem(PLACE, JSON.stringify(preferences.value));
  } catch {
    // They hold until the page is left.
  }
}

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** Goes from the system's colours to light, to dark, and back. */
export function nextTheme(): void {
  const next = THEMES[(THEMES.indexOf(preferences.value.theme) + 1) % THEMES.length]!;
  setPreferences({ theme: next });
}

effect(() => {
  const { theme } = preferences.value;
  document.documentElement.style.colorScheme = theme === 'system' ? 'light dark' : theme;
});
