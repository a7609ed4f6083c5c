/** JSON as text and as values: reading without parsing, editing in place, shapes, text that Postgres can hold. */
export { canonicalJson } from './canonical.ts';
export { isRawNumber, parseExactJson, parseExactObject } from './exact.ts';
export { JsonFault } from './json-fault.ts';
export { JsonScanner } from './json-scanner.ts';
export { appendMember, editMembers, type MemberChange } from './members.ts';
export { scanMembers } from './scan-members.ts';
export { MAX_BODY_DEPTH, type MemberSpan, type ScannedMembers, type ScanOptions } from './scanned-members.ts';
export { isObject, type JsonObject, textOrNull } from './shape.ts';
export { isStorableJson, storableJson } from './storable.ts';
export { byteStringEnd, textStringEnd } from './string-end.ts';
