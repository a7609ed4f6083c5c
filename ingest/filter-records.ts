/**
 * Applies the filters of online evaluators to the records of a batch. A filter is SQL that a tenant wrote, and runs in the
 * transaction that stores the records of all organizations: so all filters of one organization together have a second.
 *
 * An evaluator whose filter takes longer than that alone, again and again for ten seconds, or fails, is to be paused. One whose
 * turn came when others had used the time gets nothing of this batch, and is not to blame: it comes first in the next batch. So
 * no slow filter starves the others for ever.
 */
import { AssayError } from '#core/contracts/errors.ts';
import { compileFilter, Parameters, parseFilter, type Statement } from '#core/filter/mod.ts';
import { isCancelled, isStoreUnavailable, type TransactionSql, withinTime } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { StorableRecord } from './build-record.ts';
import type { OnlineEvaluator, Sample } from './online-evaluators.ts';

/** An online evaluator, and what it gets of a batch. */
export type Chosen = Pick<Sample, 'evaluator' | 'sampled'> & {
  /** The records that match its properties and pass its filter. */
  passing: readonly StorableRecord[];
};

/** A filter that failed or was too slow, with the message for the evaluator's owner. */
export type FailedFilter = { evaluator: OnlineEvaluator; message: string; error: unknown };

export type Filtered = {
  /** Every evaluator of the samples. */
  chosen: Chosen[];
  /** Filters whose evaluators are to be paused. */
  failed: FailedFilter[];
  /** Evaluators that get nothing of this batch: other filters had used the time, or theirs has been too slow for a short time. */
  late: OnlineEvaluator[];
};

export type RecordFiltersOptions = {
  clock: Pick<Clock, 'monotonic'>;
  /** Overrides how long the filters of an organization may take for a batch, in milliseconds. */
  budgetMs?: number;
};

/**
 * Shorter, and a large batch or a busy Postgres would pause evaluators with sound filters; longer, and one organization delays the
 * records of all others by as much. By an index a filter takes some 10 µs for a record, by texts in bodies up to 1 ms.
 */
const BUDGET_MS = 1_000;

/**
 * A filter that is slow for a shorter time may have met a stall of Postgres, which would pause an evaluator of each organization.
 * A batch that is stored again counts no more than once.
 */
const STALL_MS = 10_000;

/** Organizations whose order is remembered, at most, and slow filters. What is forgotten begins anew. */
const MAX_REMEMBERED = 1_000;

/** Applies filters; remembers which of them come first in the next batch. */
export class RecordFilters {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #budgetMs: number;
  /** Online evaluators that come first in the next batch, by organization. */
  readonly #waiting = new Map<string, readonly string[]>();
  /** Since when filters have been too slow each time that they were applied, by online evaluator, on the monotonic clock. */
  readonly #slow = new Map<string, number>();

  constructor({ clock, budgetMs = BUDGET_MS }: RecordFiltersOptions) {
    this.#clock = clock;
    this.#budgetMs = budgetMs;
  }

  /** @throws the errors of Postgres while it is unavailable */
  async apply(tx: TransactionSql, samples: readonly Sample[]): Promise<Filtered> {
    const filtered: Filtered = { chosen: [], failed: [], late: [] };
    const spentMs = new Map<string, number>();
    for (const sample of this.#inTurn(samples)) {
      const { evaluator, sampled } = sample;
      const passing = isFiltered(sample)
        ? await this.#pass(tx, sample, spentMs, filtered)
        : unfiltered(sample);
      filtered.chosen.push({ evaluator, sampled, passing });
    }
    this.#noteTurns(samples, filtered.late);
    return filtered;
  }

  async #pass(
    tx: TransactionSql,
    { evaluator, matching }: Sample,
    spentMs: Map<string, number>,
    { failed, late }: Filtered,
  ): Promise<readonly StorableRecord[]> {
    const { organizationId, onlineId } = evaluator;
    const spent = spentMs.get(organizationId) ?? 0;
    const leftMs = this.#budgetMs - spent;
    const began = this.#clock.monotonic();
    try {
      if (leftMs <= 0) {
        late.push(evaluator);
        return [];
      }
      const passing = await passFilter(tx, evaluator, matching, leftMs);
      this.#slow.delete(onlineId);
      return passing;
    } catch (error) {
      if (isStoreUnavailable(error)) throw error;
      if (isCancelled(error) && (spent > 0 || !this.#wasSlow(onlineId))) late.push(evaluator);
      else failed.push({ evaluator, message: this.#messageOf(error, matching.length), error });
    } finally {
      spentMs.set(organizationId, spent + this.#clock.monotonic() - began);
    }
    return [];
  }

  /** Returns whether a filter that is too slow now has been so for long enough. */
  #wasSlow(onlineId: string): boolean {
    const now = this.#clock.monotonic();
    const since = this.#slow.get(onlineId);
    if (since !== undefined) return now - since >= STALL_MS;
    this.#slow.set(onlineId, now);
    for (const oldest of this.#slow.keys()) {
      if (this.#slow.size <= MAX_REMEMBERED) break;
      this.#slow.delete(oldest);
    }
    return false;
  }

  /** Not the message of Postgres: it may quote a text of a request. */
  #messageOf(error: unknown, requests: number): string {
    if (isCancelled(error)) {
      return `The filter of the online evaluator took more than ${this.#budgetMs} ms for ${requests} requests`;
    }
    if (error instanceof AssayError) return error.message;
    const code = codeOf(error);
    const detail = typeof code === 'string' ? ` (SQLSTATE ${code})` : '';
    return `Postgres could not apply the filter of the online evaluator${detail}`;
  }

  #inTurn(samples: readonly Sample[]): readonly Sample[] {
    if (this.#waiting.size === 0) return samples;
    const turnOf = ({ evaluator: { organizationId, onlineId } }: Sample) => {
      const place = this.#waiting.get(organizationId)?.indexOf(onlineId) ?? -1;
      return place === -1 ? Number.MAX_SAFE_INTEGER : place;
    };
    return samples.toSorted((one, other) => turnOf(one) - turnOf(other));
  }

  /** Those that waited and had no record in this batch go on waiting. */
  #noteTurns(samples: readonly Sample[], late: readonly OnlineEvaluator[]): void {
    if (late.length === 0 && this.#waiting.size === 0) return;
    const byOrganization = Map.groupBy(samples, ({ evaluator }) => evaluator.organizationId);
    for (const [organizationId, own] of byOrganization) {
      const idle = new Set(own.filter((one) => !isFiltered(one)).map(({ evaluator }) => evaluator.onlineId));
      const waited = this.#waiting.get(organizationId)?.filter((onlineId) => idle.has(onlineId)) ?? [];
      const delayed = late.filter((one) => one.organizationId === organizationId);
      const next = [...waited, ...delayed.map(({ onlineId }) => onlineId)];
      this.#waiting.delete(organizationId);
      if (next.length > 0) this.#waiting.set(organizationId, next);
    }
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= MAX_REMEMBERED) break;
      this.#waiting.delete(oldest);
    }
  }
}

/** Returns whether a filter is to be applied to a sample. */
function isFiltered({ evaluator, matching }: Sample): boolean {
  return evaluator.filter !== null && !evaluator.isFilterPaused && matching.length > 0;
}

function unfiltered({ evaluator, matching }: Sample): readonly StorableRecord[] {
  return evaluator.filter === null ? matching : [];
}

/** Returns the records that pass an evaluator's filter, found by the same statement as in a query. */
async function passFilter(
  tx: TransactionSql,
  { organizationId, filter }: OnlineEvaluator,
  records: readonly StorableRecord[],
  timeoutMs: number,
): Promise<readonly StorableRecord[]> {
  const { text, values } = filterStatement(organizationId, filter, records);
  // In a savepoint: a filter that Postgres refuses costs its evaluator this batch, but no record is lost.
  const rows = await withinTime(tx, timeoutMs, (savepoint) => savepoint.unsafe(text, values as string[]));
  const passing = new Set(rows.map((row) => row.request_id as string));
  return records.filter(({ request }) => passing.has(request.request_id));
}

/** @throws AssayError for a filter that another version of Assay has stored, and this one does not understand */
function filterStatement(
  organizationId: string,
  filter: unknown,
  records: readonly StorableRecord[],
): Statement {
  const parameters = new Parameters();
  const times = records.map(({ request }) => request.created_at.getTime());
  const from = parameters.bind(new Date(Math.min(...times)).toISOString(), 'timestamptz');
  const to = parameters.bind(new Date(Math.max(...times)).toISOString(), 'timestamptz');
  const within = (createdAt: string) => `${createdAt} between ${from} and ${to}`;
  const conditions = [
    `r.organization_id = ${parameters.bind(organizationId, 'uuid')}`,
    `r.request_id = any(${parameters.bind(
      records.map(({ request }) => request.request_id),
      'text[]',
    )})`,
    within('r.created_at'),
    compileFilter(parseFilter(filter), parameters, { joins: false, within }),
  ];
  const text = `select request_id from assay.requests r where ${conditions.join(' and ')}`;
  return { text, values: parameters.values };
}

const codeOf = (error: unknown) => (error as { code?: unknown } | null)?.code;
