/** The page /prompts: stored prompts and their uses. */
import { useState } from 'preact/hooks';
import type { PromptQueryBody } from '#core/contracts/prompt.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { WITHOUT_EXPERIMENTS } from '../../client/sources.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { count, dollars } from '../../parts/formats/numbers.ts';
import { Environments } from '../../parts/prompts/environments.tsx';
import { versionName } from '../../parts/prompts/load.ts';
import { RangePicker } from '../../parts/range/range-picker.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href, useAddress } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import { useRange } from '../../state/range.ts';
import { CreateDialog } from './create-dialog.tsx';
import { type ListedPrompt, loadPrompts, loadUses, PAGE_SIZE } from './load.ts';

type Uses = Awaited<ReturnType<typeof loadUses>>;

function columns(uses: Uses | null, chooseTag: (tag: string) => void, range: string): Column<ListedPrompt>[] {
  return [
    {
      name: 'name',
      title: 'Name',
      cell: ({ id, name }) => (
        <a class="break" href={`/prompts/${encodeURIComponent(id)}`}>
          <Hostile text={name} />
        </a>
      ),
    },
    {
      name: 'tags',
      title: 'Tags',
      cell: ({ tags }) => (
        <span class="chips">
          {tags.map((tag) => (
            <button key={tag} type="button" class="chip" onClick={() => chooseTag(tag)}>
              <Hostile text={tag} />
            </button>
          ))}
        </span>
      ),
    },
    {
      name: 'newest',
      title: 'Newest version',
      cell: ({ newest }) => newest !== null && versionName(newest),
    },
    {
      name: 'environments',
      title: 'Environments',
      cell: ({ environments }) => <Environments list={environments} />,
    },
    {
      name: 'requests',
      title: 'Requests',
      isNumber: true,
      cell: ({ id }) => (
        <a href={href('/requests', { q: `prompt:"${id}" ${WITHOUT_EXPERIMENTS}`, range })}>
          {uses === null ? '…' : count(uses.get(id)?.requests ?? 0)}
        </a>
      ),
    },
    {
      name: 'cost',
      title: 'Cost',
      isNumber: true,
      cell: ({ id }) => (uses === null ? '…' : dollars(uses.get(id)?.cost ?? null)),
    },
  ];
}

function Search() {
  const { query, set } = useAddress();
  const { data: tags } = useResource('prompt tags', (signal) =>
    call<string[]>('GET', '/v1/prompt-2025/tags', undefined, signal),
  );
  const tag = query.tag ?? '';
  const known = [...new Set([...(tags ?? []), ...(tag === '' ? [] : [tag])])];
  return (
    <form
      class="prompts-search"
      onSubmit={(event) => {
        event.preventDefault();
        const { value } = event.currentTarget.elements.namedItem('search') as HTMLInputElement;
        set({ search: value, page: null });
      }}
    >
      <input
        type="search"
        name="search"
        aria-label="Search by name"
        placeholder="A part of the name"
        defaultValue={query.search ?? ''}
        key={query.search}
      />
      <select
        aria-label="Tag"
        value={tag}
        onChange={(event) => set({ tag: event.currentTarget.value, page: null })}
      >
        <option value="">All tags</option>
        {known.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
      <button type="submit">Search</button>
    </form>
  );
}

function Pages({ page, isLast }: { page: number; isLast: boolean }) {
  const { set } = useAddress();
  if (page === 0 && isLast) return null;
  return (
    <div class="form-actions prompts-pages">
      <button
        type="button"
        disabled={page === 0}
        onClick={() => set({ page: page === 1 ? null : String(page - 1) })}
      >
        Newer
      </button>
      <button type="button" disabled={isLast} onClick={() => set({ page: String(page + 1) })}>
        Older
      </button>
    </div>
  );
}

function queryOf({ search = '', tag = '' }: Readonly<Record<string, string>>, page: number): PromptQueryBody {
  return {
    ...(search === '' ? {} : { search }),
    ...(tag === '' ? {} : { tagsFilter: [tag] }),
    page,
    pageSize: PAGE_SIZE,
  };
}

/** The page. */
export function Prompts() {
  const { query, set } = useAddress();
  const { from, to, name: range } = useRange();
  const [isCreating, setCreating] = useState(false);
  const page = /^\d{1,6}$/.test(query.page ?? '') ? Number(query.page) : 0;
  const body = queryOf(query, page);
  const { data, failure, isLoading, reload } = useResource(`prompts ${JSON.stringify(body)}`, (signal) =>
    loadPrompts(body, signal),
  );
  const uses = useResource(`prompt uses ${from} ${to}`, (signal) => loadUses({ from, to }, signal));
  const isFiltered = body.search !== undefined || body.tagsFilter !== undefined;
  return (
    <>
      <div class="page-head">
        <h1>Prompts</h1>
        <RangePicker />
        {may('write') && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            New prompt
          </button>
        )}
      </div>
      <Search />
      <FailureNotice failure={failure ?? uses.failure} retry={failure === null ? uses.reload : reload} />
      <Table
        caption="Prompts"
        columns={columns(uses.data, (tag) => set({ tag, page: null }), range)}
        rows={data ?? []}
        keyOf={({ id }) => id}
        isLoading={isLoading}
        empty={
          isFiltered
            ? 'No prompt matches.'
            : 'No prompt is stored yet. Calls can name one by its id, and give its variables.'
        }
      />
      <Pages page={page} isLast={(data?.length ?? 0) < PAGE_SIZE} />
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
    </>
  );
}
