/** A text with what differs from another one marked. */
import { useMemo } from 'preact/hooks';
import { Hostile } from '../text/hostile.tsx';
import { diffTexts } from './words.ts';

/** Shows `after`, and struck through what it lacks of `before`. Screen readers are told by the elements `ins` and `del`. */
export function TextDiff({ before, after }: { before: string; after: string }) {
  const pieces = useMemo(() => diffTexts(before, after), [before, after]);
  if (pieces === null) {
    return (
      <p class="diff-text">
        <span class="muted">Nearly everything differs. </span>
        <Hostile text={after} />
      </p>
    );
  }
  return (
    <p class="diff-text">
      {pieces.map(({ text, kind }, index) => {
        if (kind === 'same') return <Hostile key={index} text={text} />;
        return kind === 'added' ? (
          <ins key={index}>
            <Hostile text={text} />
          </ins>
        ) : (
          <del key={index}>
            <Hostile text={text} />
          </del>
        );
      })}
    </p>
  );
}
