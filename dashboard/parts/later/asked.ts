/**
 * Parts that a page shows when it is asked for them, fetched together with the first: apart, what they share would be many small
 * files.
 */
export { facetValues, loadFieldNames } from '../facets/load.ts';
export { KeySheet } from '../frame/key-sheet.tsx';
export { Palette } from '../frame/palette.tsx';
export { completeAt, withValues } from '../query-bar/completions.ts';
export { QueryHelp } from '../query-bar/help.tsx';
export { OptionList } from '../query-bar/option-list.tsx';
export { RangeDialog } from '../range/range-dialog.tsx';
export { ViewDialog, ViewsPanel } from '../views/views-panel.tsx';
