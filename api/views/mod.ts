/** Saved views: named states of the dashboard's pages. They belong to the organization, because keys have no persons. */
import { AssayError } from '#core/contracts/errors.ts';
import { foldName, storableText } from '#core/contracts/storable-text.ts';
import {
  MAX_VIEWS,
  type ViewBody,
  type ViewJson,
  type ViewPatch,
  type ViewsQuery,
} from '#core/contracts/view.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import {
  deleteView,
  insertView,
  lockViews,
  selectViews,
  updateView,
  type ViewRow,
  type ViewSettings,
} from './store.ts';

/** The work behind the routes of `/v1/view`, for one organization at a time. Bodies fit their schema. */
export type ViewService = {
  /** By page and name. */
  list(organizationId: string, query: ViewsQuery): Promise<ViewJson[]>;
  /** @throws AssayError conflict: the page has a view of this name, or there are too many */
  create(organizationId: string, body: ViewBody): Promise<ViewJson>;
  /** @throws AssayError not_found, conflict */
  change(organizationId: string, viewId: string, patch: ViewPatch): Promise<ViewJson>;
  /** @throws AssayError not_found */
  remove(organizationId: string, viewId: string): Promise<null>;
};

/** @param options.sql a pool under the role `assay_api` */
export function createViewService({ sql, clock }: { sql: Sql; clock: Clock }): ViewService {
  return {
    async list(organizationId, { page = null }) {
      const rows = await inOrganization(sql, organizationId, (tx) => selectViews(tx, organizationId, page));
      return rows.map(toViewJson);
    },

    async create(organizationId, body) {
      const settings = settingsOf(body);
      const row = await inOrganization(sql, organizationId, async (tx) => {
        await lockViews(tx, organizationId);
        const rows = await selectViews(tx, organizationId, null);
        if (rows.length >= MAX_VIEWS)
          throw new AssayError(
            'conflict',
            `An organization can have at most ${MAX_VIEWS} views: delete one first`,
          );
        const others = rows.filter(({ page }) => page === body.page);
        refuseTaken(others, settings);
        return insertView(tx, organizationId, { ...settings, page: body.page, at: new Date(clock.now()) });
      });
      return toViewJson(row);
    },

    async change(organizationId, viewId, patch) {
      const row = await inOrganization(sql, organizationId, async (tx) => {
        await lockViews(tx, organizationId);
        const rows = await selectViews(tx, organizationId, null);
        const current = rows.find((one) => one.view_id === viewId);
        if (current === undefined) throw unknownView(viewId);
        const settings = settingsOf({ ...current, ...patch });
        const others = rows.filter((one) => one.page === current.page && one !== current);
        refuseTaken(others, settings);
        return updateView(tx, organizationId, { ...settings, viewId, at: new Date(clock.now()) });
      });
      return toViewJson(row);
    },

    async remove(organizationId, viewId) {
      const isDeleted = await inOrganization(sql, organizationId, async (tx) => {
        await lockViews(tx, organizationId);
        return await deleteView(tx, organizationId, viewId);
      });
      if (!isDeleted) throw unknownView(viewId);
      return null;
    },
  };
}

function settingsOf({ name, query }: Pick<ViewBody, 'name' | 'query'>): ViewSettings {
  const stored = storableText(name);
  return { name: stored, foldedName: foldName(stored), query };
}

/** @throws AssayError conflict when one of the other views of the page has the name */
function refuseTaken(others: readonly ViewRow[], { foldedName }: ViewSettings): void {
  const taken = others.find(({ name }) => foldName(name) === foldedName);
  if (taken === undefined) return;
  throw new AssayError('conflict', `The page ${taken.page} has a view of this name already`);
}

function unknownView(viewId: string): AssayError {
  return new AssayError('not_found', `There is no view ${viewId}`);
}

function toViewJson({ view_id, created_at, updated_at, ...row }: ViewRow): ViewJson {
  return {
    id: view_id,
    ...row,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
