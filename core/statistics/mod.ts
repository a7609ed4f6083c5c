/** How far people who rate the same items agree. Pure. */
export { type Agreement, cohensKappaOf, fleissKappa } from './agreement.ts';
export { krippendorffAlpha } from './krippendorff.ts';
