import { Hostile } from './hostile.tsx';

/** The entry in a list of facts that says of which requests something is; `filter` is a query, empty for all. */
export function RequestsFact({ filter }: { filter: string }) {
  return (
    <div>
      <dt>Of the requests</dt>
      <dd class="break">
        {filter === '' ? (
          'all'
        ) : (
          <code>
            <Hostile text={filter} />
          </code>
        )}
      </dd>
    </div>
  );
}
