/**
 * Writes the outcomes of deliveries, many at a time. A delivery that this process has lost to another claim stays as it is; so
 * does one whose request was erased meanwhile.
 */
import { MAX_TRIES } from '#core/contracts/webhook.ts';
import { storableJson } from '#core/json/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import type { Job } from './claim.ts';
import type { Outcome } from './outcome.ts';
import { type Pause, pauseWebhooks } from './webhooks.ts';

/** A claimed delivery, and its outcome. */
export type Settlement = { job: Job; outcome: Outcome };

/**
 * Writes outcomes of deliveries, and what follows from them for their webhooks.
 * @returns the webhooks that were paused by it
 */
export async function settle(sql: Sql, settlements: readonly Settlement[]): Promise<Pause[]> {
  return await sql.begin(async (tx) => {
    await writeOutcomes(tx, settlements);
    await noteSuccesses(tx, settlements);
    await noteRests(tx, settlements);
    return await pauseFailing(tx, settlements);
  });
}

async function writeOutcomes(tx: TransactionSql, settlements: readonly Settlement[]): Promise<void> {
  const ofJob = <Value>(value: (job: Job) => Value) => settlements.map(({ job }) => value(job));
  const of = <Value>(value: (outcome: Outcome) => Value) => settlements.map(({ outcome }) => value(outcome));
  await tx`
    update assay.webhook_deliveries d
       set state = s.state,
           due_at = now() + coalesce(s.due_in_ms, 0) * interval '1 ms',
           attempts = d.attempts + case when s.tried is null then 0 else 1 end,
           tries = case when s.tried is null then d.tries
                        when jsonb_array_length(d.tries) >= ${MAX_TRIES} then (d.tries - 0) || s.tried::jsonb
                        else d.tries || s.tried::jsonb end,
           reason = s.reason, lost = 0,
           finished_at = case when s.due_in_ms is null then now() end
      from unnest(${ofJob(({ webhookId }) => webhookId)}::uuid[], ${ofJob(({ deliveryId }) => deliveryId)}::text[],
                  ${ofJob(({ claim }) => claim)}::int4[], ${of(({ state }) => state)}::text[],
                  ${of(({ dueInMs }) => dueInMs)}::float8[],
                  ${of(({ tried }) => (tried === null ? null : storableJson(tried).text))}::text[],
                  ${of(({ reason }) => reason)}::text[])
        as s (webhook_id, delivery_id, claims, state, due_in_ms, tried, reason)
     where d.webhook_id = s.webhook_id and d.delivery_id = s.delivery_id and d.claims = s.claims and d.state = 'sending'`;
}

/** Successes are noted to the second. */
const SUCCESS_STEP_MS = 1_000;

/** Notes the time of each receiver's last success: to the second, so that a busy webhook's row is written once a second. */
async function noteSuccesses(tx: TransactionSql, settlements: readonly Settlement[]): Promise<void> {
  const delivered = settlements.filter(({ outcome }) => outcome.state === 'delivered');
  if (delivered.length === 0) return;
  await tx`
    update assay.webhooks set last_success_at = date_trunc('second', now())
     where webhook_id = any(${delivered.map(({ job }) => job.webhookId)}::uuid[])
       and coalesce(last_success_at < date_trunc('second', now()), true)`;
}

/** Lets webhooks rest whose receivers asked for it, unless they were changed since the claim: the address may be another one. */
async function noteRests(tx: TransactionSql, settlements: readonly Settlement[]): Promise<void> {
  for (const { job, outcome } of settlements) {
    if (outcome.restMs === 0) continue;
    await tx`
      update assay.webhooks
         set not_before = greatest(not_before, now() + ${outcome.restMs} * interval '1 ms')
       where webhook_id = ${job.webhookId} and updated_at = ${job.webhookChangedAt}`;
  }
}

/**
 * Pauses webhooks, unless they were changed since the claim: their owner may have fixed the cause. One that is failing is
 * paused only if nothing was delivered since the failed delivery was first attempted.
 */
async function pauseFailing(tx: TransactionSql, settlements: readonly Settlement[]): Promise<Pause[]> {
  const made: Pause[] = [];
  for (const { job, outcome } of settlements) {
    if (outcome.pause === null) continue;
    const since = outcome.pause.reason === 'failing' ? (job.begunAt ?? outcome.tried!.at) : null;
    const [row] = await tx`
      select from assay.webhooks
       where webhook_id = ${job.webhookId} and paused_reason is null and updated_at = ${job.webhookChangedAt}
         and (${since}::timestamptz is null
              or coalesce(last_success_at < ${since}::timestamptz - ${SUCCESS_STEP_MS} * interval '1 ms', true))
         for update`;
    if (row === undefined) continue;
    await pauseWebhooks(tx, [outcome.pause]);
    made.push(outcome.pause);
  }
  return made;
}
