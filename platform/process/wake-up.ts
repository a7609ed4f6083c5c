/** Longest time that a timer of Node can wait. */
const LONGEST_SLEEP_MS = 2 ** 31 - 1;

/**
 * The sleep of a loop that others wake. A wake-up between two sleeps is not lost: it ends the next one at once, so work that is
 * announced while the loop still looks for other work is found.
 * @example while (!isStopped) { if (!(await findWork())) await wakeUp.sleep(30_000); }
 */
export class WakeUp {
  #isWoken = false;
  #end: () => void = () => {};

  /** Ends the sleep under way, or the next one. */
  wake(): void {
    this.#isWoken = true;
    this.#end();
  }

  /**
   * Resolves after `ms`, or as soon as it is woken.
   * @param isRef false: the sleep alone does not keep the process alive
   */
  async sleep(ms: number, { isRef = true } = {}): Promise<void> {
    if (!this.#isWoken && ms > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, Math.min(ms, LONGEST_SLEEP_MS));
      if (!isRef) timer.unref();
      this.#end = resolve;
      await promise;
      clearTimeout(timer);
      this.#end = () => {};
    }
    this.#isWoken = false;
  }
}
