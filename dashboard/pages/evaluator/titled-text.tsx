/** A text of a judge, a service or a record under a title. */
import { Hostile } from '../../parts/text/hostile.tsx';

/** Shows a text as it was written; nothing when there is none. */
export function TitledText({ title, text }: { title: string; text: string | null }) {
  if (text === null || text === '') return null;
  return (
    <>
      <h3>{title}</h3>
      <pre class="evaluator-text">
        <Hostile text={text} />
      </pre>
    </>
  );
}
