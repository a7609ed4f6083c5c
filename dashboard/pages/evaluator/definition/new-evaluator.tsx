/** The page /evaluators/new: a form for each kind of evaluator. */
import { href, useAddress } from '../../../state/address.ts';
import { evaluatorAddress } from '../address.ts';
import { emptyDraft, KINDS, type Kind, readKind } from './draft.ts';
import { Editor } from './editor.tsx';

const TITLES: Readonly<Record<Kind, string>> = {
  llm: 'LLM judge',
  python: 'Python',
  external: 'External',
};
const WORDS: Readonly<Record<Kind, string>> = {
  llm: 'A model reads request and answer, and grades by your prompt.',
  python: 'A function of yours grades in a sandbox: quick, free, and always the same.',
  external: 'A service of yours or of another grades, or a comparison with an expected value.',
};

/** Shows the form of the kind in the address. */
export function NewEvaluator() {
  const { query, go } = useAddress();
  const kind = readKind(query.kind);
  return (
    <>
      <p class="evaluator-back">
        <a href="/evaluators">Evaluators</a>
      </p>
      <header class="page-head">
        <h1>New evaluator</h1>
      </header>
      <nav class="evaluator-tabs" aria-label="Kinds of evaluators">
        {KINDS.map((one) => (
          <a
            key={one}
            href={href('/evaluators/new', { ...query, kind: one })}
            aria-current={one === kind ? 'page' : undefined}
          >
            {TITLES[one]}
          </a>
        ))}
      </nav>
      <p>{WORDS[kind]}</p>
      <Editor
        key={kind}
        saved={null}
        first={emptyDraft(kind)}
        onSaved={({ id }) => go(evaluatorAddress(id, { tab: 'traffic' }))}
      />
    </>
  );
}
