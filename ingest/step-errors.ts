import { describeError } from '#core/contracts/errors.ts';
import { isStoreUnavailable } from '#platform/postgres/mod.ts';

/** Runs steps of which one may fail without keeping the later ones from running, and collects their errors. */
export class StepErrors {
  readonly #errors: unknown[] = [];

  /**
   * Runs a step; resolves to undefined if it fails.
   * @throws errors of the connection, because later steps would fail as well, or run without the locks of its session
   */
  async run<T>(step: () => Promise<T>): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      if (isStoreUnavailable(error)) throw error;
      this.#errors.push(error);
      return undefined;
    }
  }

  /** Throws the error of the step that failed, or one that holds those of all. */
  throwIfAny(): void {
    const [first] = this.#errors;
    if (first === undefined) return;
    if (this.#errors.length === 1) throw first;
    throw new AggregateError(
      this.#errors,
      `${this.#errors.length} steps failed, the first with: ${describeError(first)}`,
    );
  }
}
