/** JSON as values, with numbers that stay exact. Pure, and loaded by browsers too: nothing here needs Node. */
export { isRawNumber, parseExactJson, parseExactObject, type RawNumber } from './exact.ts';
export { isObject, type JsonObject, textOrNull } from './shape.ts';
