/** A value of a body as a tree, whose members are fetched when it is opened. */
import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { toFailure } from '../../client/resource.ts';
import type { TreeRoot } from '../conversation/model/types.ts';
import { copyText } from '../copy/copy.tsx';
import { count } from '../formats/numbers.ts';
import type { JsonNode } from '../record/json-node.ts';
import { isOnWay, type Path, printPath, type Step } from '../record/path.ts';
import type { BodySource } from '../record/use-bodies.ts';
import { writeMarks } from '../text/split-hostile.ts';
import { tell } from '../toast/toast.tsx';
import { JsonMembers } from './json-members.tsx';
import { ScalarText } from './scalar-text.tsx';
import { moveInTree } from './tree-keys.ts';

/** What all items of a tree have in common. */
type Tree = {
  source: BodySource;
  /** The item that the address names. */
  wanted: Path | null;
  /** Puts an item into the address; null: this tree is in no address. */
  choose: ((path: Path) => void) | null;
};

const TreeContext = createContext<Tree | null>(null);

export type JsonTreeProps = {
  source: BodySource;
  root: TreeRoot;
  /** Names the tree for those who cannot see it. */
  label: string;
  isOpen?: boolean;
  wanted?: Path | null;
  choose?: (path: Path) => void;
};

/** Shows a tree. Arrows move and open, `p` copies the path of the item, `v` its value. */
export function JsonTree({ source, root, label, isOpen = false, wanted = null, choose }: JsonTreeProps) {
  return (
    <TreeContext.Provider value={{ source, wanted, choose: choose ?? null }}>
      <div class="json-tree" role="tree" aria-label={writeMarks(label)} onKeyDown={moveInTree}>
        <JsonItem node={root.node} path={root.path} level={1} isOpen={isOpen} isRoot />
      </div>
    </TreeContext.Provider>
  );
}

type ItemProps = { node: JsonNode; path: Path; level: number; isOpen?: boolean; isRoot?: boolean };

function JsonItem({ node, path, level, isOpen: isOpenAtFirst = false, isRoot = false }: ItemProps) {
  const { source, wanted, choose } = useContext(TreeContext)!;
  const isWanted = wanted !== null && wanted.length === path.length && isOnWay(path, wanted);
  const leadsToWanted = wanted !== null && wanted.length > path.length && isOnWay(path, wanted);
  const [isOpen, setOpen] = useState(isOpenAtFirst || leadsToWanted);
  const item = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (leadsToWanted) setOpen(true);
  }, [leadsToWanted]);
  useEffect(() => {
    if (isWanted) item.current?.scrollIntoView({ block: 'nearest' });
  }, [isWanted]);
  const canOpen = (node.type === 'object' || node.type === 'array') && node.size > 0;
  const next: Step | null = leadsToWanted ? wanted[path.length]! : null;

  return (
    <div
      ref={item}
      role="treeitem"
      class={isWanted ? 'json-item json-wanted' : 'json-item'}
      aria-level={level}
      aria-expanded={canOpen ? isOpen : undefined}
      aria-selected={isWanted}
      tabIndex={isRoot ? 0 : -1}
      onKeyDown={(event) => {
        if (event.target !== item.current || event.ctrlKey || event.metaKey || event.altKey) return;
        const run = {
          p: () => copyPath(path),
          v: () => copyValue(source, path),
          Enter: () => choose?.(path),
        }[event.key];
        if (run === undefined) return;
        event.preventDefault();
        void run();
      }}
    >
      <div class="json-row">
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: keys are those of the tree */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the item around it has the role */}
        <span
          class="json-head"
          data-json-toggle=""
          onClick={() => {
            if (canOpen) setOpen(!isOpen);
            choose?.(path);
          }}
        >
          <span class="json-arrow" aria-hidden="true">
            {canOpen ? (isOpen ? '▾' : '▸') : ''}
          </span>
          <span class="json-name">{writeMarks(node.name)}</span>{' '}
          {canOpen || node.type === 'object' || node.type === 'array' ? <Size node={node} /> : null}
        </span>
        {node.type !== 'object' && node.type !== 'array' && (
          <ScalarText source={source} node={node} path={path} />
        )}
        <span class="json-actions">
          <button type="button" class="quiet" tabIndex={-1} onClick={() => copyPath(path)}>
            Copy path
          </button>
          <button type="button" class="quiet" tabIndex={-1} onClick={() => copyValue(source, path)}>
            Copy value
          </button>
        </span>
      </div>
      {canOpen && isOpen && (
        <JsonMembers
          source={source}
          path={path}
          item={(one) => (
            <JsonItem key={String(one.step)} node={one} path={[...path, one.step]} level={level + 1} />
          )}
          next={next}
          total={node.size}
        />
      )}
    </div>
  );
}

function Size({ node: { type, size } }: { node: JsonNode }) {
  if (size === 0) return <span class="muted">{type === 'array' ? '[]' : '{}'}</span>;
  const unit = type === 'array' ? 'item' : 'member';
  return (
    <span class="muted">
      {count(size)} {size === 1 ? unit : `${unit}s`}
    </span>
  );
}

async function copyPath(path: Path): Promise<void> {
  await copyText(printPath(path), 'Path');
}

async function copyValue(source: BodySource, path: Path): Promise<void> {
  try {
    const text = await source.ask.copy(path);
    if (text === null) tell('The value has more than 8 MiB: too much for the clipboard', { isBad: true });
    else await copyText(text, 'Value');
  } catch (error) {
    tell(toFailure(error).message, { isBad: true });
  }
}
