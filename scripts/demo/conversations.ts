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

/** What is said in turn, and what is answered. */
export type Exchange = { question: string; answer: string };

/** Chats, each a session whose requests repeat all that was said before. */
export const CHATS: readonly { id: string; name: string; exchanges: readonly Exchange[] }[] = [
  {
    id: 'support-1042',
    name: 'Refund of order 1042',
    exchanges: [
      {
        question: 'Hello, I sent back the lamp of order 1042 a week ago.',
        answer: 'Thank you for writing. The parcel came in on Friday. Shall I look up the refund?',
      },
      {
        question: 'Yes, please.',
        answer: 'It was **sent on Tuesday**:\n\n- €39.90 for the lamp\n- €4.90 for shipping',
      },
      {
        question: 'When will it arrive?',
        answer: 'In three to five days, so by Friday at the latest.',
      },
      { question: 'Great, thanks!', answer: 'You are welcome. Enjoy your day!' },
    ],
  },
  {
    id: 'support-1077',
    name: 'Delivery to Köln',
    exchanges: [
      {
        question: 'Can a parcel to Köln be left with a neighbour?',
        answer: 'Yes: choose "Neighbour" and the name on the bell when you order.',
      },
      { question: 'And on a Saturday?', answer: 'On Saturdays, too, until 2 pm.' },
    ],
  },
];

/** A run of an agent: its steps by their paths. A question such as `/status 500` fails. */
export const AGENT_STEPS: readonly (Exchange & { path: string; model: string })[] = [
  {
    path: '/plan',
    model: 'gpt-4o',
    question: 'Plan a weekend in Oslo for two, with a budget of €600.',
    answer: '1. Find flights\n2. Find a hotel\n3. Choose two sights\n4. Write it up',
  },
  {
    path: '/search/flights',
    model: 'gpt-4o-mini',
    question: 'Flights from Hamburg to Oslo, Friday to Sunday?',
    answer: 'DY 1105 on Friday at 17:40, back on Sunday at 20:15, €188 for two.',
  },
  {
    path: '/search/hotels',
    model: 'gpt-4o-mini',
    question: '/status 500 hotels in Oslo',
    answer: '',
  },
  {
    path: '/search/hotels',
    model: 'gpt-4o',
    question: 'Hotels in Oslo near the harbour, two nights?',
    answer: 'Three are free: €212, €240 and €305 for both nights.',
  },
  {
    path: '/search/sights',
    model: 'gpt-4o-mini',
    question: 'Two sights for a rainy day in Oslo?',
    answer: 'The Munch museum and the Fram museum.',
  },
  {
    path: '/check/budget',
    model: 'gpt-4.1-nano',
    question: 'Is €188 + €212 + €52 at most €600?',
    answer: 'Yes: €452, which leaves €148.',
  },
  {
    path: '/write',
    model: 'gpt-4o',
    question: 'Write the plan up in three lines.',
    answer:
      '**Friday**: fly to Oslo, hotel by the harbour.\n**Saturday**: Munch, then Fram.\n**Sunday**: a walk, and home at 20:15.',
  },
];

/** All that the provider knows an answer to. */
export const EXCHANGES: readonly Exchange[] = [
  ...QUESTIONS,
  ...CHATS.flatMap(({ exchanges }) => exchanges),
  ...AGENT_STEPS,
];

export const USERS = [
  { id: 'alice', plan: 'pro' },
  { id: 'bob', plan: 'free' },
  { id: 'chiyo', plan: 'enterprise' },
  { id: 'dmitri', plan: 'free' },
] as const;

export const MODELS = ['gpt-4o-mini', 'gpt-4o', 'gpt-4.1-nano'] as const;
