const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Whether a text, a character for each byte, may be in a header (RFC 9110, section 5.5): no line breaks, no controls. */
export function isHeaderText(text: string): boolean {
  return HEADER_TEXT.test(text);
}
