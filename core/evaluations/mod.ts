/** Names around evaluations. The dashboard imports them too, so nothing here may import what browsers lack. */
export * from './external.ts';
export { scoreKeyOf } from './score-key.ts';
export * from './states.ts';
export * from './types.ts';
