/** A part of the text: UTF-16 code units from its beginning. */
export type Span = { readonly offset: number; readonly length: number };

/** Kind of a part of the text, for syntax colouring. */
export type TokenKind = 'and' | 'or' | 'not' | 'open' | 'close' | 'field' | 'operator' | 'value' | 'text';
export type QueryToken = Span & { readonly kind: TokenKind };
