/**
 * Keys. A page binds keys while it is shown; the newest binding of a key wins. They are off while somebody types, and behind a
 * modal dialog, except those that the dialog itself binds.
 */
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

export type Binding = {
  /** What the sheet of keys says. */
  what: string;
  run: (event: KeyboardEvent) => void;
  /** Works while somebody types, too. */
  whileTyping?: boolean;
  /** Runs again and again while the key is held: a step through a list, never what costs or writes. */
  mayRepeat?: boolean;
};

/** Bindings by key: `j`, `Shift+x`, `Mod+k` (Control, or Command on a Mac), or a sequence such as `g r`. */
export type Bindings = Readonly<Record<string, Binding>>;

export type Group = { title: string; bindings: Bindings; isModal: boolean };

const groups = signal<readonly Group[]>([]);

/** Returns the groups of bindings that hold now, the newest last. */
export function activeGroups(): readonly Group[] {
  return groups.value.slice(
    Math.max(
      0,
      groups.value.findLastIndex(({ isModal }) => isModal),
    ),
  );
}

/** The first key of a sequence waits so long for the second. */
const SEQUENCE_MS = 1_500;
let pending: { key: string; until: number } | null = null;

function nameOf({ key, ctrlKey, metaKey, altKey, shiftKey, code }: KeyboardEvent): string {
  // Alt changes the character on some keyboards; the letter of the key is meant.
  const plain = altKey && /^Key[A-Z]$/.test(code) ? code.slice(3).toLowerCase() : key;
  const isLetter = /^[a-z]$/i.test(plain);
  // Other characters need Shift on some keyboards.
  const hasPlace = isLetter || plain.length > 1;
  // A German one on a Mac has [ at Alt and 5; with AltGr, Windows says Ctrl and Alt.
  const isByAlt = altKey && (plain === '[' || plain === ']');
  const parts = [
    ...((ctrlKey || metaKey) && !isByAlt ? ['Mod'] : []),
    ...(altKey && !isByAlt ? ['Alt'] : []),
    ...(shiftKey && hasPlace ? ['Shift'] : []),
    isLetter ? plain.toLowerCase() : plain,
  ];
  return parts.join('+');
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  )
    return true;
  return target instanceof HTMLInputElement && !/^(?:checkbox|radio|button|submit|range)$/.test(target.type);
}

/** What Enter presses or follows. */
const PRESSED = 'a[href], button, summary, input, [role=option], [role=treeitem]';

/**
 * Whether a key already does something to the element that has the focus: Enter presses a button, arrows scroll a box. A box that
 * is moved through by keys of the page has `data-page-keys`.
 */
function isTaken(name: string, target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (name === 'Enter') return target.closest(PRESSED) !== null;
  if (!name.startsWith('Arrow') || target === document.body || target.hasAttribute('data-page-keys'))
    return false;
  return target.scrollHeight > target.clientHeight && target.matches('[tabindex="0"]');
}

function find(name: string): Binding | undefined {
  return activeGroups().findLast(({ bindings }) => Object.hasOwn(bindings, name))?.bindings[name];
}

function startsSequence(name: string): boolean {
  return activeGroups().some(({ bindings }) =>
    Object.keys(bindings).some((key) => key.startsWith(`${name} `)),
  );
}

/** What Safari tells of the key that ends a composition, which it says is over by then. */
const COMPOSED = 229;

/** Whether a key belongs to an input method: Enter takes the word that is being composed. */
export function isOfInputMethod({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === COMPOSED;
}

/** Runs what a key is bound to. */
function press(event: KeyboardEvent): void {
  if (isOfInputMethod(event) || event.defaultPrevented) return;
  const name = nameOf(event);
  const isSecond = pending !== null && event.timeStamp < pending.until;
  const sequence = isSecond ? `${pending!.key} ${name}` : null;
  pending = null;
  const binding = (sequence === null ? undefined : find(sequence)) ?? find(name);
  const isOff = (isTyping(event.target) && !binding?.whileTyping) || isTaken(name, event.target);
  if (isOff) return;
  if (binding === undefined) {
    if (startsSequence(name)) pending = { key: name, until: event.timeStamp + SEQUENCE_MS };
    return;
  }
  // Also when it is held: it must not become a key of the browser.
  event.preventDefault();
  if (!event.repeat || binding.mayRepeat) binding.run(event);
}

/** Listens to the keys of the whole page; called once. */
export function listenToKeys(): void {
  addEventListener('keydown', press);
}

/**
 * Binds keys while the component is shown.
 * @param title of the group in the sheet of keys
 * @param isModal hides all bindings from before, as a dialog must
 * @example useKeys('Requests', { j: { what: 'Next request', run: () => move(1) } });
 */
export function useKeys(title: string, bindings: Bindings, { isModal = false } = {}): void {
  const latest = useRef(bindings);
  latest.current = bindings;
  const names = Object.keys(bindings).join(' , ');
  // Before the paint: a key that is pressed as soon as the page is seen works.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `names` stands for the bindings, whose functions are read when a key is pressed
  useLayoutEffect(() => {
    const stable = Object.fromEntries(
      Object.entries(latest.current).map(([name, { what, whileTyping = false, mayRepeat = false }]) => [
        name,
        { what, whileTyping, mayRepeat, run: (event: KeyboardEvent) => latest.current[name]?.run(event) },
      ]),
    );
    const group = { title, bindings: stable, isModal };
    groups.value = [...groups.peek(), group];
    return () => {
      groups.value = groups.peek().filter((one) => one !== group);
    };
  }, [title, names, isModal]);
}
