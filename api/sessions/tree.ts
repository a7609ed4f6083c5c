/** The tree of a session: its requests, by path. */
import type { SessionNode, SessionRequest } from '#core/contracts/session.ts';
import type { Statement } from '#core/filter/mod.ts';
import { type PathNode, pathTree } from '#core/sessions/mod.ts';
import { nanoToUsd, usdOrNull } from '../requests/mod.ts';
import { draftFor, finish } from './conditions.ts';
import type { Page } from './cursor.ts';

/** A request as the statement returns it. */
export type TreeRow = {
  request_id: string;
  session_path: string | null;
  created_at: Date;
  response_created_at: Date | null;
  latency_ms: number | null;
  ttft_ms: number | null;
  status: number;
  provider: string;
  model: string;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  cost_nano: string | null;
  user_id: string | null;
  scores: Record<string, number> | null;
  feedback_rating: boolean | null;
};

/** Selects the requests of a session after a place, oldest first; one more than the page holds. */
export function treeStatement(organizationId: string, sessionId: string, { after, limit }: Page): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const place =
    after === null
      ? ''
      : `and (r.created_at, r.request_id) > (${parameters.bind(after.created_at.toISOString(), 'timestamptz')}, ${parameters.bind(after.request_id, 'text')})`;
  const text = `
    select r.request_id, r.session_path, r.created_at, r.response_created_at, r.latency_ms, r.ttft_ms, r.status,
           r.provider, r.model, r.prompt_tokens, r.completion_tokens, r.total_tokens, r.cost_nano, r.user_id,
           r.feedback_rating, (
             select jsonb_object_agg(s.key, s.value) from assay.request_scores s
              where s.organization_id = r.organization_id and s.created_at = r.created_at
                and s.request_id = r.request_id) as scores
      from assay.requests r
     where r.organization_id = ${organization} and r.session_id = ${parameters.bind(sessionId, 'text')}
       and r.source <> 'evaluator' ${place}
     order by r.created_at, r.request_id limit ${parameters.bind(limit + 1, 'int8')}`;
  return finish(draft, text);
}

/** Returns the tree of these requests. */
export function treeOf(rows: readonly TreeRow[]): SessionNode {
  return nodeJson(pathTree(rows, (row) => row.session_path)).json;
}

/** Returns a node as the API shows it, and its cost in nano-dollars, which sums up without loss. */
function nodeJson({ name, path, items, children }: PathNode<TreeRow>): {
  json: SessionNode;
  costNano: number | null;
} {
  const below = children.map(nodeJson);
  const costs = [
    ...items.flatMap(({ cost_nano: nano }) => (nano === null ? [] : [Number(nano)])),
    ...below.flatMap(({ costNano }) => costNano ?? []),
  ];
  const costNano = costs.length === 0 ? null : sum(costs);
  return {
    costNano,
    json: {
      name,
      path,
      total_requests: items.length + sum(below.map(({ json }) => json.total_requests)),
      total_tokens:
        sum(items.map((row) => row.total_tokens ?? 0)) + sum(below.map(({ json }) => json.total_tokens)),
      total_cost: costNano === null ? null : nanoToUsd(String(costNano)),
      requests: items.map(requestJson),
      children: below.map(({ json }) => json),
    },
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function requestJson(row: TreeRow): SessionRequest {
  return {
    request_id: row.request_id,
    session_path: row.session_path,
    created_at: row.created_at.toISOString(),
    response_created_at: row.response_created_at?.toISOString() ?? null,
    delay_ms: row.latency_ms,
    time_to_first_token: row.ttft_ms,
    status: row.status,
    provider: row.provider,
    model: row.model,
    prompt_tokens: row.prompt_tokens,
    completion_tokens: row.completion_tokens,
    total_tokens: row.total_tokens,
    cost: usdOrNull(row.cost_nano),
    user_id: row.user_id,
    scores: row.scores,
    feedback_rating: row.feedback_rating,
  };
}
