/** Parts of the page that are fetched when they are asked for. */
export { FacetPanel } from '../../parts/facets/facets.tsx';
export { Histogram } from '../../parts/histogram/histogram.tsx';
export { BulkBar } from './bulk-bar.tsx';
export { ListMenus } from './list-menus.tsx';
export { NothingFound } from './nothing-found.tsx';
export { QuickFilters } from './quick-filters.tsx';
