import t from 'tap';
import { AssayError, httpStatusOf } from '#core/contracts/errors.ts';
import { logPolicy, parsePolicy } from '#core/rate-limit/mod.ts';

t.test(
  'a policy is parsed in any letter case, with space around its parts, and with its parts in any order',
  async (t) => {
    const policies: [text: string, read: ReturnType<typeof parsePolicy>][] = [
      ['100;w=60', { text: '100;w=60;u=request', unit: 'request', quota: 100, windowS: 60, segment: null }],
      [
        ' \t100 ; S=USER; U=Request ;W=3600\t',
        { text: '100;w=3600;u=request;s=user', unit: 'request', quota: 100, windowS: 3600, segment: 'user' },
      ],
      [
        '12.50;w=60;u=cents;s=Plan_A-1',
        {
          text: '12.5;w=60;u=cents;s=plan_a-1',
          unit: 'cents',
          quota: 125_000_000,
          windowS: 60,
          segment: 'plan_a-1',
        },
      ],
      [
        '0.0000001;u=cents;w=31536000',
        { text: '0.0000001;w=31536000;u=cents', unit: 'cents', quota: 1, windowS: 31_536_000, segment: null },
      ],
      [
        '1000000000;w=60',
        { text: '1000000000;w=60;u=request', unit: 'request', quota: 1e9, windowS: 60, segment: null },
      ],
      [
        '1000000000.0;w=60;u=cents',
        { text: '1000000000;w=60;u=cents', unit: 'cents', quota: 1e16, windowS: 60, segment: null },
      ],
      ['007;w=060', { text: '7;w=60;u=request', unit: 'request', quota: 7, windowS: 60, segment: null }],
    ];
    for (const [text, read] of policies) {
      t.same(parsePolicy(text), read, text);
      t.same(parsePolicy(read.text), read, 'the canonical form parses to itself');
    }
  },
);

/** Invalid policies, and the part of the message that names what is wrong. */
const INVALID: [text: string, message: RegExp][] = [
  ['', /quota "" must be a number/],
  [';w=60', /quota "" must be a number/],
  ['0;w=60', /quota "0" must be more than 0/],
  ['0.00;w=60;u=cents', /quota "0.00" must be more than 0/],
  ['-1;w=60', /quota "-1" must be a number/],
  ['+1;w=60', /quota "\+1" must be a number/],
  ['1e3;w=60', /quota "1e3" must be a number/],
  ['1e10;w=60', /quota "1e10" must be a number/],
  ['NaN;w=60', /quota "NaN" must be a number/],
  ['Infinity;w=60', /quota "Infinity" must be a number/],
  ['0x10;w=60', /quota "0x10" must be a number/],
  ['1 0;w=60', /quota "1 0" must be a number/],
  ['١٠;w=60', /quota "١٠" must be a number/],
  ['.5;w=60;u=cents', /quota ".5" must be a number/],
  ['5.;w=60;u=cents', /quota "5." must be a number/],
  ['1.5;w=60', /quota "1.5" must be a whole number of requests/],
  ['1.0;w=60;u=request', /quota "1.0" must be a whole number of requests/],
  ['0.00000001;w=60;u=cents', /quota "0.00000001" may have at most 7 decimals/],
  ['10000000000;w=60', /quota "10000000000" must be at most 1000000000/],
  ['1000000001;w=60', /must be at most 1000000000/],
  ['1000000000.1;w=60;u=cents', /must be at most 1000000000/],
  [`${'9'.repeat(400)};w=60`, /must be at most 1000000000/],
  [`1${' '.repeat(60_000)}x;w=60`, /quota "1 {63}" must be a number/],
  [`${'0'.repeat(60_000)}x;w=60`, /quota "0{64}" must be a number/],
  [`${'0'.repeat(60_000)};w=60`, /must be more than 0/],
  [`1.${'0'.repeat(60_000)}1;w=60;u=cents`, /may have at most 7 decimals/],
  ['100', /w is missing/],
  ['100;u=cents', /w is missing/],
  ['100;w=', /window "" must be a whole number of seconds from 60 to 31536000/],
  ['100;w=59', /window "59" must be a whole number of seconds from 60/],
  ['100;w=31536001', /window "31536001" must be .* to 31536000/],
  ['100;w=60.5', /window "60.5" must be a whole number/],
  ['100;w=-60', /window "-60" must be a whole number/],
  ['100;w=1e2', /window "1e2" must be a whole number/],
  ['100;w= 60', /window " 60" must be a whole number/],
  ['100;w=60s', /window "60s" must be a whole number/],
  ['100;w=60;u=', /unit "" must be request or cents/],
  ['100;w=60;u=tokens', /unit "tokens" must be request or cents/],
  ['100;w=60;u=log', /unit "log" must be request or cents/],
  ['100;w=60;s=', /segment "" must be 1 to 64/],
  ['100;w=60;s=a b', /segment "a b" must be 1 to 64/],
  ['100;w=60;s=über', /segment "über" must be 1 to 64/],
  [`100;w=60;s=${'a'.repeat(65)}`, /segment "a{64}" must be 1 to 64/],
  ['100;w=60;', /part "" must be w=/],
  ['100;;w=60', /part "" must be w=/],
  ['100;w=60;x=1', /part "x=1" must be w=/],
  ['100;w=60;u', /part "u" must be w=/],
  ['w=60;100', /part "100" must be w=/],
  ['100;w=60;w=60', /part "w=60" repeats w/],
  ['100;w=60;u=cents;U=cents', /part "U=cents" repeats u/],
  ['100;w=60;s=user;s=plan', /part "s=plan" repeats s/],
  ['100;w=60, 200;w=3600', /more than one policy/],
  ['100;w=60\r\nx: y', /window "60\\r\\nx: y" must be/],
  ['100\u00a0;w=60', /quota "100\u00a0" must be a number/],
];

t.test('an invalid policy is rejected with an error that names the part and its rule', async (t) => {
  for (const [text, message] of INVALID) {
    try {
      parsePolicy(text);
      t.fail(`${JSON.stringify(text)} was accepted`);
    } catch (error) {
      t.ok(
        error instanceof AssayError &&
          error.code === 'invalid_rate_limit_policy' &&
          httpStatusOf(error) === 400,
      );
      t.match((error as Error).message, message, text.slice(0, 80));
      t.ok((error as Error).message.length < 250, 'long input is quoted only in part');
    }
  }
});

t.test('the limit on logs is a policy with a window of five seconds', async (t) => {
  t.same(logPolicy(834), { text: '834;w=5;u=log', unit: 'log', quota: 834, windowS: 5, segment: null });
});
