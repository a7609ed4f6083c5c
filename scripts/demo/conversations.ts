/** Questions of the demo's users and responses of its provider, varied enough for filters. */

export type Question = { question: string; answer: string; feature: string };

export const QUESTIONS: readonly Question[] = [
  {
    question: 'Where is my refund for order 1042?',
    answer: 'Your refund for order 1042 was sent on Tuesday and takes three to five days to arrive.',
    feature: 'support',
  },
  {
    question: 'Can I change the delivery address?',
    answer: 'Yes, until the parcel has left our warehouse: open the order and choose "Change address".',
    feature: 'support',
  },
  {
    question: 'Do you ship to Köln?',
    answer: 'We do. Parcels to Köln take two days and cost €4.90.',
    feature: 'support',
  },
  {
    question: 'Summarize: the meeting moved from Monday to Thursday because the room was taken.',
    answer: 'The meeting is on Thursday instead of Monday.',
    feature: 'summarize',
  },
  {
    question: 'Summarize: sales rose by 12 % in spring, fell by 3 % in summer, and ended the year 9 % up.',
    answer: 'Sales ended the year 9 % up, in spite of a weak summer.',
    feature: 'summarize',
  },
  {
    question: 'Translate to Japanese: good morning',
    answer: 'おはようございます',
    feature: 'translate',
  },
  {
    question: 'Translate to French: where is the station?',
    answer: 'Où est la gare ?',
    feature: 'translate',
  },
  {
    question: 'Write a haiku about logs',
    answer: 'Each call leaves a trace\nquiet rows fill the table\nnothing slips away',
    feature: 'write',
  },
];

export const USERS = [
  { id: 'alice', plan: 'pro' },
  { id: 'bob', plan: 'free' },
  { id: 'chiyo', plan: 'enterprise' },
  { id: 'dmitri', plan: 'free' },
] as const;

export const MODELS = ['gpt-4o-mini', 'gpt-4o', 'gpt-4.1-nano'] as const;
