/** JSON as text and as values: editing in place, shapes, what Postgres can hold. Pure. */
export { parseExactJson, parseExactObject } from './exact.ts';
export { dropMember, setInnerMember, setMember } from './members.ts';
export { isObject, type JsonObject, textOrNull } from './shape.ts';
export { isStorableJson, type StorableJson, storableJson } from './storable.ts';
