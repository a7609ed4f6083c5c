/** Tells whether somebody is writing something on the page that would be lost with it. */

/** Fields that are filled in to be sent; a search is not. */
const WRITTEN = 'textarea, .form *, dialog *';
let path: string | null = null;

/** Listens to what is written on the whole page; called once. */
export function listenToWriting(): void {
  addEventListener('input', ({ target }) => {
    if (target instanceof Element && target.matches(WRITTEN)) path = location.pathname;
  });
}

/** Notes that what was written has been sent. */
export function noteSent(): void {
  path = null;
}

/** Returns whether something was written on the page of the address and not sent. */
export function isWriting(): boolean {
  return path === location.pathname;
}
