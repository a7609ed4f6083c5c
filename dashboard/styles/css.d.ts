/** Styles are bundled: an import of them has no value. */
declare module '*.css';
