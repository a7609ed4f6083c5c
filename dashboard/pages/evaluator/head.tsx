/** The head of an evaluator's page: its name and state, and what can be done with all of it. */
import { useState } from 'preact/hooks';
import { scoreKeyOf } from '#core/evaluations/mod.ts';
import { call } from '../../client/call.ts';
import type { Evaluator } from '../../client/evaluators.ts';
import { Confirm } from '../../parts/dialog/confirm.tsx';
import { decimal, dollars } from '../../parts/formats/numbers.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { attempt, tell } from '../../parts/toast/toast.tsx';
import { useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { kindOf, standingOf } from '../evaluators/standing.ts';
import { scoredAddress } from './address.ts';
import { forgetDraft } from './definition/unsaved.ts';

type HeadProps = { evaluator: Evaluator; onChange: () => void };

/** Why nothing is scored, and the way on. */
function Stop({ evaluator, onChange }: HeadProps) {
  const standing = standingOf(evaluator, null);
  if (standing === null) return null;
  const resume = () =>
    attempt(async () => {
      await call('POST', `/v1/evaluator/${evaluator.id}/resume`);
      onChange();
    }, 'Resumed');
  return (
    <div class="stop-notice" role="status">
      <p>
        <strong>{standing.word}.</strong> <Hostile text={standing.why} />
      </p>
      {evaluator.paused !== null && may('write') && (
        <p>
          Mend the cause, then let it go on.{' '}
          <button type="button" onClick={resume}>
            Resume
          </button>
        </p>
      )}
    </div>
  );
}

function Delete({ evaluator }: { evaluator: Evaluator }) {
  const { go } = useAddress();
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <button type="button" class="danger" onClick={() => setAsking(true)}>
        Delete
      </button>
      {isAsking && (
        <Confirm
          title={`Delete ${evaluator.name}?`}
          text="Its scores and evaluations stay. Open evaluations end as skipped, runs are cancelled, and it is detached from all traffic."
          verb="Delete"
          run={async () => {
            await call('DELETE', `/v1/evaluator/${evaluator.id}`);
            forgetDraft(evaluator.id);
            tell('Evaluator deleted');
            go('/evaluators');
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

/** Shows the head. */
export function Head({ evaluator, onChange }: HeadProps) {
  const { name, scoring_type, scope, version, daily_budget_usd, threshold } = evaluator;
  return (
    <>
      <p class="evaluator-back">
        <a href="/evaluators">Evaluators</a>
      </p>
      <header class="page-head">
        <h1>
          <Hostile text={name} />
        </h1>
        {may('write') && <Delete evaluator={evaluator} />}
      </header>
      <p class="evaluator-facts">
        <span class="chip">{kindOf(scoring_type)}</span>
        {scope === 'session' && <span class="chip">Scores sessions</span>}
        <span class="chip">Version {version}</span>
        {threshold !== null && <span class="chip">Passes from {decimal(threshold)}</span>}
        {daily_budget_usd !== null && <span class="chip">{dollars(daily_budget_usd)} a day at most</span>}
        <span>
          Scores are kept as <a href={scoredAddress(name)}>scores.{scoreKeyOf(name)}</a>
        </span>
      </p>
      <Stop evaluator={evaluator} onChange={onChange} />
    </>
  );
}
