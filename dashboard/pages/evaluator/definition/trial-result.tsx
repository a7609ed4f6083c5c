/** What a try-out came to. All of its texts are a judge's, a service's or a record's. */
import type { ComponentChildren } from 'preact';
import type { ExternalTrial, LlmTrial, PythonTrial, Trial } from '../../../client/evaluators.ts';
import { count, decimal, dollars, milliseconds, plural } from '../../../parts/formats/numbers.ts';
import { Hostile } from '../../../parts/text/hostile.tsx';
import { TitledText } from '../titled-text.tsx';

function Folded({ title, text }: { title: string; text: string | null }) {
  if (text === null || text === '') return null;
  return (
    <details>
      <summary>{title}</summary>
      <pre class="evaluator-text">
        <Hostile text={text} />
      </pre>
    </details>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function JudgeFacts({ result: { cost, usage, parse, flags } }: { result: LlmTrial }) {
  return (
    <>
      <Fact name="Cost">{dollars(cost)}</Fact>
      {usage !== null && (
        <Fact name="Judge">
          {plural(usage.calls, 'call')}, {count(usage.prompt_tokens)} + {count(usage.completion_tokens)}{' '}
          tokens
        </Fact>
      )}
      {parse !== null && (
        <Fact name="Verdict read from">
          <Hostile text={parse} />
        </Fact>
      )}
      {flags.length > 0 && (
        <Fact name="Flags">
          {flags.map((flag) => (
            <span key={flag} class="chip chip-warn">
              <Hostile text={flag} />
            </span>
          ))}
        </Fact>
      )}
    </>
  );
}

function JudgeTexts({ result }: { result: LlmTrial }) {
  return (
    <>
      {result.warnings.map((warning) => (
        <p key={warning} class="warn">
          <Hostile text={warning} />
        </p>
      ))}
      <TitledText title="Reasoning" text={result.reasoning} />
      <Folded title="What the judge saw" text={result.prompt} />
      <Folded title="What it answered, word for word" text={result.raw} />
    </>
  );
}

function scoreOf(result: LlmTrial | PythonTrial | ExternalTrial): number | null {
  return 'output' in result ? result.output : result.score;
}

/** Shows the result. */
export function TrialResult({ trial, subject }: { trial: Trial; subject: string }) {
  const { result } = trial;
  const label = trial.kind === 'external' ? null : trial.result.label;
  return (
    <div class="evaluator-result">
      {result.error !== null && (
        <div class="failure">
          <p>
            <strong>No score.</strong> <Hostile text={result.error.message} />
          </p>
          <p class="muted">
            Code <code>{result.error.code}</code>: as an evaluation it would end so, too.
          </p>
        </div>
      )}
      <dl class="evaluator-numbers">
        <Fact name="Score">
          <strong>{decimal(scoreOf(result))}</strong> {label !== null && <Hostile text={label} />}
        </Fact>
        <Fact name="Duration">{milliseconds(result.duration_ms)}</Fact>
        {trial.kind === 'llm' && <JudgeFacts result={trial.result} />}
        <Fact name="On request">
          <Hostile text={subject} />
        </Fact>
      </dl>
      {trial.kind === 'llm' && <JudgeTexts result={trial.result} />}
      {trial.kind !== 'llm' && <TitledText title="Reasoning" text={trial.result.reasoning} />}
      {trial.kind === 'python' && <TitledText title="Traces" text={trial.result.traces} />}
    </div>
  );
}
