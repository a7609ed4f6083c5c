/** The errors for refused values: the place, the broken rule and, unless it is a secret, the value. */
import { AssayError } from './errors.ts';

const LONGEST_QUOTED_HEADER = 80;

/** Returns the error for a field of a body, at a path like `llm_template.min`, that breaks a rule. */
export function invalidField(path: string, rule: string): AssayError {
  return new AssayError('invalid_body', `${path} ${rule}`);
}

/** Returns the error for a header's value that breaks a rule, such as "it must be a whole number". */
export function invalidHeader(header: string, rule: string, value: string): AssayError {
  const quoted = value.slice(0, LONGEST_QUOTED_HEADER);
  return new AssayError('invalid_header', `Cannot read the header ${header}: ${rule}, but is "${quoted}"`);
}
