/** What is done with selected requests in a dialog. */
export type BulkAction = 'score' | 'property' | 'dataset' | 'export' | 'erase';
