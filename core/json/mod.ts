/** JSON as text and as values: reading without parsing, editing in place, shapes, text that Postgres can hold. */

export {
  isObject,
  isRawNumber,
  type JsonObject,
  parseExactJson,
  parseExactObject,
  textOrNull,
} from '../json-values/mod.ts';
export { canonicalJson } from './canonical.ts';
export { isSpace } from './json-bytes.ts';
export { JsonFault } from './json-fault.ts';
export { JsonScanner } from './json-scanner.ts';
export { appendMember, editMembers, type MemberChange } from './members.ts';
export { type MemberPath, readMembers } from './read-members.ts';
export { scanMembers } from './scan-members.ts';
export { MAX_BODY_DEPTH, type MemberSpan, type ScannedMembers, type ScanOptions } from './scanned-members.ts';
export { isStorableJson, storableJson } from './storable.ts';
export { byteStringEnd } from './string-end.ts';
export { withoutSpace } from './without-space.ts';
