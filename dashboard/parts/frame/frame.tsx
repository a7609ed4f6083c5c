/** What surrounds every page: navigation, keys that work everywhere, messages. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { useAddress } from '../../state/address.ts';
import { activeGroups, type Group, useKeys } from '../../state/keys.ts';
import type { Me } from '../../state/me.ts';
import { signOut } from '../../state/me.ts';
import { nextTheme, preferences } from '../../state/preferences.ts';
import { useLater } from '../later/use-later.ts';
import { attempt, Toasts } from '../toast/toast.tsx';
import { isCurrent, NAVIGATION, NAVIGATION_GROUPS, type NavigationItem } from './navigation.ts';
import { usePageTitle } from './page-title.ts';

const loadKeySheet = () => import('../later/asked.ts').then(({ KeySheet }) => KeySheet);
const loadPalette = () => import('../later/asked.ts').then(({ Palette }) => Palette);

function Links({ group, path }: { group: NavigationItem['group']; path: string }) {
  return (
    <section>
      <h2>{NAVIGATION_GROUPS[group]}</h2>
      <ul>
        {NAVIGATION.filter((item) => item.group === group).map((item) => (
          <li key={item.path}>
            <a href={item.path} aria-current={isCurrent(item.path, path) ? 'page' : undefined}>
              {item.label}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

const THEME_WORDS = { system: 'System colours', light: 'Light', dark: 'Dark' };

function Foot({ me, onKeys }: { me: Me; onKeys: () => void }) {
  return (
    <div class="frame-foot">
      <a href="/openapi" target="_blank" rel="noreferrer">
        API reference
      </a>
      <button type="button" class="quiet" onClick={onKeys}>
        Keys <kbd>?</kbd>
      </button>
      <button type="button" class="quiet" onClick={nextTheme}>
        {THEME_WORDS[preferences.value.theme]}
      </button>
      <a href="/settings">{me.organization.name}</a>
      <button type="button" class="quiet" onClick={() => attempt(signOut, 'Logged out')}>
        Log out
      </button>
    </div>
  );
}

/** Holds the keys of the page while a dialog is fetched: what is typed into it early must not act on the page. */
function KeysHeld({ onClose }: { onClose: () => void }) {
  useKeys('Opening', { Escape: { what: 'Close', run: onClose, whileTyping: true } }, { isModal: true });
  return null;
}

/** Shows a page. */
export function Frame({ me, children }: { me: Me; children: ComponentChildren }) {
  const { path, go } = useAddress();
  const [sheet, setSheet] = useState<readonly Group[] | null>(null);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const KeySheet = useLater(loadKeySheet, sheet !== null);
  const Palette = useLater(loadPalette, isPaletteOpen);
  const showKeys = () => setSheet(activeGroups());
  const closeSheet = () => setSheet(null);
  const closePalette = () => setPaletteOpen(false);
  // Before the paint: later it would close a menu that was opened since.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the menu
  useLayoutEffect(() => setMenuOpen(false), [path]);
  usePageTitle();
  useKeys('Everywhere', {
    '?': { what: 'This sheet', run: showKeys },
    'Mod+k': { what: 'Go to a page or an id', run: () => setPaletteOpen(true), whileTyping: true },
    d: { what: 'Light, dark, or as the system', run: nextTheme },
    ...Object.fromEntries(
      NAVIGATION.map(({ key, label, path: to }) => [`g ${key}`, { what: label, run: () => go(to) }]),
    ),
  });
  return (
    <div class="frame">
      <a class="skip" href="#page">
        Skip to the page
      </a>
      <nav
        class={isMenuOpen ? 'frame-navigation frame-navigation-open' : 'frame-navigation'}
        aria-label="Pages"
      >
        <div class="frame-brand">
          <a href="/">Assay</a>
          <button
            type="button"
            class="frame-menu quiet"
            aria-expanded={isMenuOpen}
            onClick={() => setMenuOpen(!isMenuOpen)}
          >
            Menu
          </button>
        </div>
        <div class="frame-links">
          {(['look', 'improve', 'run'] as const).map((group) => (
            <Links key={group} group={group} path={path} />
          ))}
          <Foot me={me} onKeys={showKeys} />
        </div>
      </nav>
      <main id="page" class="frame-page" tabIndex={-1}>
        {children}
      </main>
      <Toasts />
      {sheet !== null &&
        (KeySheet === null ? (
          <KeysHeld onClose={closeSheet} />
        ) : (
          <KeySheet groups={sheet} onClose={closeSheet} />
        ))}
      {isPaletteOpen &&
        (Palette === null ? <KeysHeld onClose={closePalette} /> : <Palette onClose={closePalette} />)}
    </div>
  );
}
