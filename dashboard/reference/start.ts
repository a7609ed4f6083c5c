/** Starts the API reference on its page: shows the document, and calls nothing. */

/** Of swagger-ui-dist, whose script the page loads before this one. */
declare const SwaggerUIBundle: (options: Readonly<Record<string, unknown>>) => void;

const nothing = () => () => null;

SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  // A hundred operations at once would take a busy machine a minute.
  docExpansion: 'none',
  // A list of all schemas below the operations would take longer than the operations do.
  defaultModelsExpandDepth: -1,
  // The page has no key, and must not ask for one.
  supportedSubmitMethods: [],
  plugins: [{ wrapComponents: { authorizeBtn: nothing, authorizeOperationBtn: nothing } }],
  // The validator is on another origin.
  validatorUrl: null,
});
