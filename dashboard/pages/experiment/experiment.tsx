/** The page /experiments/:id: how far an experiment is, what it costs, and its runs. `new` is the form that makes one. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Fact, Facts } from '../../parts/formats/fact.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { count, dollars, percent } from '../../parts/formats/numbers.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { useAddress } from '../../state/address.ts';
import { useKeys } from '../../state/keys.ts';
import { type Names, POLL_MS, REST_MS, useExperiment, useNames } from '../experiments/load.ts';
import { DatasetLink, EvaluatorLinks, Progress, StateChip, TargetText } from '../experiments/parts.tsx';
import { isUnderWay, STATES } from '../experiments/words.ts';
import { Actions, CompareWith } from './actions.tsx';
import { NewExperiment } from './new/new-experiment.tsx';
import { Runs } from './runs.tsx';

type OneProps = { experiment: ExperimentJson };

/** Says why no more calls are made. */
function Stop({ experiment: { state, paused_reason: reason } }: OneProps) {
  if (state === 'budget') {
    return (
      <div class="stop-notice" role="status">
        <p>
          <strong>The budget is spent.</strong> The next call would not fit into it. The answers so far can be
          compared.
        </p>
      </div>
    );
  }
  if (state !== 'paused') return null;
  return (
    <div class="stop-notice" role="status">
      <p>
        <strong>Paused.</strong> {reason === null ? 'By a key that may write.' : <Hostile text={reason} />}
      </p>
      {reason !== null && <p>Mend the cause, then resume.</p>}
    </div>
  );
}

function Card({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function ProgressCard({ experiment }: OneProps) {
  const { completed, failed, skipped, running, pending, ungraded } = experiment;
  return (
    <Card title="Progress">
      <Progress experiment={experiment} />
      <Facts>
        <Fact name="Answered">{count(completed)}</Fact>
        <Fact name="Failed">{count(failed)}</Fact>
        <Fact name="Skipped">{count(skipped)}</Fact>
        <Fact name="Under way">{count(running)}</Fact>
        <Fact name="Waiting">{count(pending)}</Fact>
        <Fact name="Grades to come">{count(ungraded)}</Fact>
      </Facts>
    </Card>
  );
}

function SpendCard({ experiment: { cost_usd, judge_cost_usd, max_cost_usd } }: OneProps) {
  const spent = cost_usd + judge_cost_usd;
  return (
    <Card title="Cost">
      {max_cost_usd !== null && (
        <div class="quota">
          <meter max={max_cost_usd} value={spent} aria-label="Part of the budget that is spent" />
          <span>{percent(spent / max_cost_usd)}</span>
        </div>
      )}
      <Facts>
        <Fact name="Answers">{dollars(cost_usd)}</Fact>
        <Fact name="Judges">{dollars(judge_cost_usd)}</Fact>
        <Fact name="Together">{dollars(spent)}</Fact>
        <Fact name="Budget">{max_cost_usd === null ? 'No limit' : dollars(max_cost_usd)}</Fact>
      </Facts>
    </Card>
  );
}

function GitFact({ git }: { git: unknown }) {
  if (git === null) return null;
  const { branch, sha } = git as { branch?: string; sha?: string };
  const text = [branch, sha?.slice(0, 12)].filter(Boolean).join(' ');
  if (text === '') return null;
  return (
    <Fact name="Commit">
      <Hostile text={text} />
    </Fact>
  );
}

function About({ experiment, names }: OneProps & { names: Names }) {
  const { repetitions, concurrency, seed, cache, git, created_at, finished_at } = experiment;
  return (
    <Card title="What it measures">
      <Facts>
        <Fact name="Dataset">
          <DatasetLink experiment={experiment} names={names} />
        </Fact>
        <Fact name="Target">
          <TargetText experiment={experiment} names={names} />
        </Fact>
        <Fact name="Evaluators">
          <EvaluatorLinks experiment={experiment} names={names} />
        </Fact>
        <Fact name="Repetitions">{count(repetitions)}</Fact>
        <Fact name="Calls at a time">{count(concurrency)}</Fact>
        <Fact name="Seed">{String(seed)}</Fact>
        <Fact name="Cache">{cache ? 'May answer' : 'Not used'}</Fact>
        <Fact name="Begun">
          <Moment at={created_at} />
        </Fact>
        <Fact name="Ended">
          <Moment at={finished_at} none="not yet" />
        </Fact>
        <GitFact git={git} />
      </Facts>
    </Card>
  );
}

/** The experiment, asked for every second while it is under way. */
function useProgress(id: string) {
  const [everyMs, setEveryMs] = useState(POLL_MS);
  const resource = useExperiment(id, { everyMs });
  const wanted = resource.data === null || isUnderWay(resource.data) ? POLL_MS : REST_MS;
  if (resource.data !== null && wanted !== everyMs) setEveryMs(wanted);
  return { ...resource, everyMs };
}

function OneExperiment({ id }: { id: string }) {
  const { go } = useAddress();
  const { data, failure, isLoading, reload, everyMs } = useProgress(id);
  const { names, resource } = useNames(data === null ? [] : [data]);
  useKeys('Experiment', { u: { what: 'All experiments', run: () => go('/experiments') } });
  return (
    <div class="experiment">
      <p class="evaluator-back">
        <a href="/experiments">Experiments</a>
      </p>
      <FailureNotice
        failure={failure ?? resource.failure}
        retry={failure === null ? resource.reload : reload}
      />
      {data === null && isLoading && <p class="muted">Loading the experiment …</p>}
      {data !== null && (
        <>
          <header class="page-head">
            <h1 class="break">
              <Hostile text={data.name} />
            </h1>
            <StateChip of={STATES[data.state]} />
            <Actions experiment={data} onChange={reload} />
          </header>
          <Stop experiment={data} />
          <div class="cards">
            <ProgressCard experiment={data} />
            <SpendCard experiment={data} />
            <div class="cards-whole">
              <About experiment={data} names={names} />
            </div>
          </div>
          <CompareWith experiment={data} />
          <Runs experiment={data} everyMs={everyMs} />
        </>
      )}
    </div>
  );
}

/** Shows the experiment of the address, or the form of a new one. */
export function ExperimentPage({ id }: { id: string }) {
  return id === 'new' ? <NewExperiment /> : <OneExperiment key={id} id={id} />;
}
