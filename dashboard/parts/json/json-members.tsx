/** The members of an opened item, a hundred at first. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../failure/failure.tsx';
import { count } from '../formats/numbers.ts';
import type { JsonNode } from '../record/json-node.ts';
import { type Path, printPath, type Step } from '../record/path.ts';
import type { BodySource } from '../record/use-bodies.ts';

const PAGE = 100;

export type JsonMembersProps = {
  source: BodySource;
  path: Path;
  /** Shows a member. */
  item: (node: JsonNode) => ComponentChildren;
  /** The member that the address leads to or through: shown wherever it stands. */
  next: Step | null;
  total: number;
};

/** Shows the members, and a button for more of them. */
export function JsonMembers({ source, path, item, next, total }: JsonMembersProps) {
  const [shown, setShown] = useState(PAGE);
  const key = `json ${source.id} ${printPath(path)} ${shown} ${String(next)}`;
  const { data, failure, reload } = useResource(key, async () => {
    const pages = Array.from({ length: Math.ceil(shown / PAGE) }, (_, index) =>
      source.ask.children(path, index * PAGE, PAGE),
    );
    const nodes = (await Promise.all(pages)).flatMap((page) => page.nodes);
    const isMissing = next !== null && nodes.every(({ step }) => step !== next);
    return { nodes, far: isMissing ? await source.ask.node([...path, next]) : null };
  });
  return (
    // biome-ignore lint/a11y/useSemanticElements: the group of a tree is no fieldset
    <div role="group" class="json-members">
      {failure !== null && (
        <div role="none">
          <FailureNotice failure={failure} retry={reload} />
        </div>
      )}
      {data?.nodes.map(item)}
      {shown < total && data !== null && (
        <div role="none">
          <button type="button" class="quiet json-more" onClick={() => setShown(shown + PAGE)}>
            Show {count(Math.min(PAGE, total - shown))} more of {count(total)}
          </button>
        </div>
      )}
      {data !== null && data.far !== null && item(data.far)}
    </div>
  );
}
