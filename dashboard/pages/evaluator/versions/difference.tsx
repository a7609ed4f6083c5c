/** What changed between two texts. The comparing is fetched when it is first needed. */
import { useEffect, useState } from 'preact/hooks';
import { tellMissingPart } from '../../../parts/later/missing-part.ts';
import { Hostile } from '../../../parts/text/hostile.tsx';
import type { DiffLine } from './lines.ts';

const NAMES = { added: 'Added', removed: 'Removed', same: null } as const;
const SIGNS = { added: '+', removed: '−', same: ' ' } as const;

function Line({ line }: { line: DiffLine }) {
  const name = NAMES[line.kind];
  return (
    <div class={`evaluator-diff-${line.kind}`}>
      <span aria-hidden="true">{SIGNS[line.kind]}</span>
      {name !== null && <span class="unseen">{name}: </span>}
      <span>
        {line.parts.map((part, index) =>
          part.isChanged ? (
            <mark key={index}>
              <Hostile text={part.text} />
            </mark>
          ) : (
            <Hostile key={index} text={part.text} />
          ),
        )}
      </span>
    </div>
  );
}

/** Shows `after` line by line, with what it took from `before`; null: nothing to compare with. */
export function Difference({ before, after }: { before: string | null; after: string }) {
  const [lines, setLines] = useState<DiffLine[] | null>(null);
  useEffect(() => {
    let isCurrent = true;
    import('./lines.ts').then(
      ({ diffLines }) => isCurrent && setLines(diffLines(before ?? after, after)),
      () => isCurrent && tellMissingPart(),
    );
    return () => {
      isCurrent = false;
    };
  }, [before, after]);
  if (lines === null) return <p class="muted">Comparing …</p>;
  const isSame = before !== null && lines.every(({ kind }) => kind === 'same');
  return (
    <>
      {isSame && <p class="muted">Both have the same definition; secrets are not compared.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key */}
      <section class="evaluator-diff mono" aria-label="Definition" tabIndex={0}>
        {lines.map((line, index) => (
          <Line key={index} line={line} />
        ))}
      </section>
    </>
  );
}
