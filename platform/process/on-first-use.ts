/**
 * Puts off making something until it is used: a start does not wait for it, and a process that never uses it never pays for it.
 * @example
 * const pool = onFirstUse(() => new Pool(origin));
 * await pool.get().request(…);
 * await pool.made?.destroy();
 */
export function onFirstUse<T extends object>(make: () => T): { get(): T; readonly made: T | null } {
  let made: T | null = null;
  return {
    get: () => {
      made ??= make();
      return made;
    },
    get made() {
      return made;
    },
  };
}
