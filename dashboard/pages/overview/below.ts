/** What stands below the figures of the page, and what stands in their place: fetched while the figures are. */
export { EmptyProduct } from '../../parts/empty-product/empty-product.tsx';
export { Charts } from './charts.tsx';
export { TopLists } from './top-lists.tsx';
