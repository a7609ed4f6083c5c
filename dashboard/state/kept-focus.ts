/** The focus when its element goes away, such as a row that is deleted, a link that led to another view, a message that is moved. */

const AROUND = '[tabindex]';

/**
 * Gives the focus to what surrounds the element that had it. Browsers give it to the document, where a screen reader begins anew.
 * An element that was only moved gets it back.
 */
export function keepFocus(): void {
  let path: EventTarget[] = [];
  addEventListener('focusin', (event) => {
    path = event.composedPath();
  });
  // Pointing elsewhere leaves the element, also where nothing takes the focus there.
  addEventListener('pointerdown', (event) => {
    if (!event.composedPath().includes(path[0]!)) path = [];
  });
  new MutationObserver((changes) => {
    const [focused] = path;
    if (document.activeElement !== document.body || !(focused instanceof HTMLElement)) return;
    if (!changes.some(({ removedNodes }) => [...removedNodes].some((node) => node.contains(focused)))) return;
    const around = path.find((one) => one instanceof HTMLElement && one.isConnected && one.matches(AROUND));
    path = [];
    focused.focus({ preventScroll: true });
    if (document.activeElement === document.body)
      (around as HTMLElement | undefined)?.focus({ preventScroll: true });
  }).observe(document.body, { childList: true, subtree: true });
}
