/** The filters of the list of evaluations, in the address and as the API takes them. Pure. */
import { EVALUATION_STATES, type EvaluationState, RETRIED_FROM } from '#core/evaluations/mod.ts';

/** Of 100 that the API gives at once. */
export const PAGE_SIZE = 50;

/** `failed`: both `error` and `dead`. */
export type StateFilter = EvaluationState | 'failed' | null;
export type Filters = {
  state: StateFilter;
  code: string | null;
  version: number | null;
  run: string | null;
  request: string | null;
  /** How many to pass over. */
  at: number;
};

/** Reads the filters of an address. */
export function readFilters(query: Readonly<Record<string, string>>): Filters {
  const { state, code, version, run, request, at } = query;
  const whole = (text: string | undefined) => (/^[1-9]\d{0,8}$/.test(text ?? '') ? Number(text) : null);
  const known = EVALUATION_STATES.find((one) => one === state) ?? null;
  return {
    state: state === 'failed' ? 'failed' : known,
    code: code || null,
    version: whole(version),
    run: run || null,
    request: request || null,
    at: whole(at) ?? 0,
  };
}

/** Returns the bodies of the calls that the list takes: one, or one for each state. */
export function queryBodies(evaluatorId: string, filters: Filters): Record<string, unknown>[] {
  const { state, code, version, run, request, at } = filters;
  const shared = {
    evaluatorId,
    ...(code !== null && { errorCode: code }),
    ...(version !== null && { version }),
    ...(run !== null && { runId: run }),
    ...(request !== null && { requestId: request }),
    // One more says whether there are others behind.
    limit: PAGE_SIZE + 1,
    offset: at,
  };
  if (state === null) return [shared];
  const states = state === 'failed' ? ['error', 'dead'] : [state];
  return states.map((one) => ({ ...shared, state: one }));
}

/** Returns the body that retries all evaluations of the list; null: none of them can be, or other filters narrow it. */
export function retryBody({ state, code, version, run, request }: Filters) {
  if (request !== null) return null;
  const states = state === 'failed' ? ['error', 'dead'] : RETRIED_FROM.filter((one) => one === state);
  if (states.length === 0) return null;
  return {
    states,
    ...(version !== null && { version }),
    ...(run !== null && { runId: run }),
    ...(code !== null && { errorCode: code }),
  };
}
