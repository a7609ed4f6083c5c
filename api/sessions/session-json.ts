import type { SessionRow } from '#core/contracts/session.ts';
import { usdOrNull } from '../requests/mod.ts';

/** A session as statements return it; counts and sums are whole numbers as texts. */
export type StoredSession = {
  session_id: string;
  name: string | null;
  tag: string | null;
  feedback_rating: boolean | null;
  first_at: Date;
  last_at: Date;
  requests: string;
  timed_requests: string;
  latency_ms: string;
  prompt_tokens: string;
  completion_tokens: string;
  total_tokens: string;
  cost_nano: string | null;
};

/** Returns a session as the API shows it. */
export function sessionJson(session: StoredSession, scores: Record<string, number>): SessionRow {
  return {
    session_id: session.session_id,
    session_name: session.name,
    created_at: session.first_at.toISOString(),
    latest_request_created_at: session.last_at.toISOString(),
    total_requests: Number(session.requests),
    total_cost: usdOrNull(session.cost_nano),
    prompt_tokens: Number(session.prompt_tokens),
    completion_tokens: Number(session.completion_tokens),
    total_tokens: Number(session.total_tokens),
    avg_latency: averageOf(session.latency_ms, session.timed_requests),
    feedback_rating: session.feedback_rating,
    tag: session.tag,
    scores,
  };
}

/** Returns a mean of whole numbers as texts; null without any. */
export function averageOf(sum: string, count: string): number | null {
  return count === '0' ? null : Number(sum) / Number(count);
}
