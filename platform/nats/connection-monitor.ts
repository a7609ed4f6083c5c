/**
 * Whether a connection to NATS stands. What is asked over one that is cut is not answered when it is back, and waits for
 * its timeout, seconds: who knows of the cut asks anew at once.
 */
import type { Logger } from '../observability/log.ts';
import type { NatsConnection } from './connect.ts';

/** The line was cut: whether what was sent has arrived is not known, and what is asked may speak of another stream. */
export class LineCutError extends Error {
  override readonly name = 'LineCutError';

  constructor() {
    super('the connection was lost');
  }
}

/** Watches one connection, for as long as it lives. */
export class Line {
  #cuts = 0;
  #isUp = true;
  readonly #hearCut = new Set<() => void>();
  readonly #hearBack = new Set<() => void>();

  constructor(connection: NatsConnection, log: Logger) {
    void this.#watch(connection, log);
  }

  /** How often it was cut: what was begun at another count must not be gone on with. */
  get cuts(): number {
    return this.#cuts;
  }

  /** Whether it stands: as soon as it does, or was closed for good; after `waitMs` at the latest. */
  async stands(waitMs: number): Promise<boolean> {
    if (this.#isUp) return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, waitMs);
    this.#hearBack.add(resolve);
    await promise;
    this.#hearBack.delete(resolve);
    clearTimeout(timer);
    return this.#isUp;
  }

  /**
   * What `work` resolves with.
   * @param cuts as it stood when that began which `work` is a part of
   * @throws LineCutError as soon as the line is cut, or if it was since; whatever becomes of `work`
   */
  during<T>(cuts: number, work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cut = () => reject(new LineCutError());
      work.then(resolve, reject).finally(() => this.#hearCut.delete(cut));
      if (this.#isUp && this.#cuts === cuts) this.#hearCut.add(cut);
      else cut();
    });
  }

  async #watch(connection: NatsConnection, log: Logger): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') {
        this.#cuts += 1;
        this.#isUp = false;
        log.warn('lost the connection to NATS');
        tell(this.#hearCut);
      } else if (type === 'reconnect') {
        this.#isUp = true;
        log.info('NATS is back');
        tell(this.#hearBack);
      }
    }
    tell(this.#hearBack);
  }
}

function tell(hearing: Set<() => void>): void {
  const all = [...hearing];
  hearing.clear();
  for (const hear of all) hear();
}
