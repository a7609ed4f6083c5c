/** One side of a record as JSON: a tree or lines, with search. */
import { useState } from 'preact/hooks';
import { useResource } from '../../client/resource.ts';
import { useAddress } from '../../state/address.ts';
import type { Side } from '../conversation/model/types.ts';
import { FailureNotice } from '../failure/failure.tsx';
import { count } from '../formats/numbers.ts';
import { type Path, printPath, readPath } from '../record/path.ts';
import type { BodySource } from '../record/use-bodies.ts';
import { Hostile } from '../text/hostile.tsx';
import { writeMarks } from '../text/split-hostile.ts';
import { JsonLines } from './json-lines.tsx';
import { JsonTree } from './json-tree.tsx';

/** UTF-16 code units of a path that an address holds. */
const LONGEST_PATH = 1_500;

/**
 * Shows a side. In the address are `json=text` for lines, `find` for the search, and `p` for an item: `p=response.choices.0`.
 * @example <JsonBody source={useBodies(requestId)} side="response" />
 */
export function JsonBody({ source, side }: { source: BodySource; side: Side }) {
  const { query, set } = useAddress();
  const isText = query.json === 'text';
  const wanted = query.p === undefined ? null : readPath(query.p);
  const choose = (path: Path) => {
    const text = printPath(path);
    set({ p: text.length > LONGEST_PATH ? null : text }, { replace: true });
  };
  return (
    <div class="json-body">
      <div class="json-tools">
        <Search />
        <fieldset class="conversation-view">
          <legend class="unseen">Show the JSON as</legend>
          <button type="button" aria-pressed={!isText} onClick={() => set({ json: null }, { replace: true })}>
            Tree
          </button>
          <button
            type="button"
            aria-pressed={isText}
            onClick={() => set({ json: 'text' }, { replace: true })}
          >
            Lines
          </button>
        </fieldset>
      </div>
      {query.find !== undefined && query.find !== '' && (
        <Hits
          source={source}
          text={query.find}
          choose={(path) => set({ p: printPath(path).slice(0, LONGEST_PATH), json: null }, { replace: true })}
        />
      )}
      {isText ? (
        <JsonLines key={`${source.id} ${side}`} source={source} side={side} />
      ) : (
        <Root source={source} side={side} wanted={wanted} choose={choose} />
      )}
    </div>
  );
}

type RootProps = { source: BodySource; side: Side; wanted: Path | null; choose: (path: Path) => void };

function Root({ source, side, wanted, choose }: RootProps) {
  const key = `json ${source.id} ${side}`;
  const { data, dataKey, failure, reload } = useResource(key, () => source.ask.node([side]));
  return (
    <>
      <FailureNotice failure={failure} retry={reload} />
      {data !== null && dataKey === key && (
        <JsonTree
          key={key}
          source={source}
          root={{ path: [side], node: data }}
          label={side === 'request' ? 'Body of the request' : 'Body of the response'}
          wanted={wanted}
          choose={choose}
          isOpen
        />
      )}
    </>
  );
}

function Search() {
  const { query, set } = useAddress();
  const [text, setText] = useState(query.find ?? '');
  return (
    <search>
      <form
        class="json-search"
        onSubmit={(event) => {
          event.preventDefault();
          set({ find: text === '' ? null : text }, { replace: true });
        }}
      >
        <input
          type="search"
          aria-label="Find in both bodies"
          placeholder="Find in both bodies"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit">Find</button>
      </form>
    </search>
  );
}

type HitsProps = { source: BodySource; text: string; choose: (path: Path) => void };

function Hits({ source, text, choose }: HitsProps) {
  const key = `find ${source.id} ${text}`;
  const { data, dataKey, failure, reload } = useResource(key, () => source.ask.search(text));
  if (data === null || dataKey !== key) return <FailureNotice failure={failure} retry={reload} />;
  const { hits, isCut } = data;
  return (
    <section class="json-hits" aria-label="Places found">
      <p class="muted" role="status">
        {hits.length === 0 ? 'Nothing found' : `${isCut ? 'The first ' : ''}${count(hits.length)} found`}
      </p>
      <ol>
        {hits.map(({ path, place, before, match, after }, index) => (
          <li key={index}>
            <button type="button" class="quiet" onClick={() => choose(path)}>
              <span class="mono muted">{writeMarks(printPath(path).slice(0, LONGEST_PATH))}</span>
              <span class={place === 'name' ? 'json-name' : undefined}>
                <Hostile text={before} />
                <mark>
                  <Hostile text={match} />
                </mark>
                <Hostile text={after} />
              </span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
