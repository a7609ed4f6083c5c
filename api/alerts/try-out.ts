import { type AlertEvent, evaluate, type Reading, type TrackedGroup } from '#core/alerts/mod.ts';
import { type AlertTestBody, type AlertTestJson, DEFAULT_HOURS } from '#core/contracts/alert.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { Measure } from './measure.ts';
import { definitionOf } from './store.ts';
import { ruleOf } from './tell.ts';
import { lastFullMinute } from './work.ts';

const MINUTE_MS = 60_000;
const MINUTES_AN_HOUR = 60;
/** Maximum evaluations of one test. */
const MOST_EVALUATIONS = 120;
/** Time limit of one test; windows that are not evaluated by then are left out. */
const TIME_MS = 10_000;

export type TryOutOptions = { sql: Sql; clock: Clock; measure: Measure };

/** Evaluates an alert over the last hours, in steps of a minute or longer, and returns the events. The newest value is always there. */
export async function tryOut(
  { sql, clock, measure }: TryOutOptions,
  organizationId: string,
  { alert: body, hours = DEFAULT_HOURS }: AlertTestBody,
): Promise<AlertTestJson> {
  const alert = definitionOf(body);
  const rule = ruleOf(alert);
  const minutes = hours * MINUTES_AN_HOUR;
  const stepMinutes = Math.ceil(minutes / MOST_EVALUATIONS);
  const elapsedMs = stepMinutes * MINUTE_MS;
  const count = Math.floor(minutes / stepMinutes);
  const lastMs = lastFullMinute(clock.now());
  const stopAt = clock.monotonic() + TIME_MS;
  const events: AlertTestJson['events'] = [];
  const values: AlertTestJson['values'] = [];
  // One transaction for each evaluation, so that the test does not hold a connection throughout.
  const read = (endMs: number, tracked: readonly TrackedGroup[]): Promise<Reading[]> =>
    inOrganization(sql, organizationId, (tx) => measure(tx, organizationId, alert, endMs, tracked), {
      isSnapshot: true,
    });
  const keepValue = (endMs: number, [only, ...others]: readonly Reading[]) => {
    if (only !== undefined && others.length === 0 && Object.keys(only.group).length === 0)
      values.push([endMs, only.value]);
  };
  // First, because it is asked for most: a slow test may not come to it.
  const newest = await read(lastMs, []);
  let groups: readonly TrackedGroup[] = [];
  let done = 0;
  for (; done < count && clock.monotonic() < stopAt; done += 1) {
    const endMs = lastMs - (count - 1 - done) * elapsedMs;
    const isRead = endMs === lastMs && groups.length === 0;
    const readings = isRead ? newest : await read(endMs, groups);
    const found = evaluate(rule, groups, readings, { nowMs: endMs, elapsedMs: done === 0 ? 0 : elapsedMs });
    groups = found.groups;
    events.push(...found.events.map((event) => eventJson(event, endMs)));
    keepValue(endMs, readings);
  }
  const isComplete = done === count;
  if (!isComplete) keepValue(lastMs, newest);
  return {
    events,
    values,
    step_minutes: stepMinutes,
    evaluations: isComplete ? done : done + 1,
    is_complete: isComplete,
  };
}

function eventJson(event: AlertEvent, atMs: number): AlertTestJson['events'][number] {
  return { ...event, at: new Date(atMs).toISOString() };
}
