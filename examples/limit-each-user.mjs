// Limits each user to two calls a minute, and tells a user over the limit when to come back.
//
// Needs:  the package openai, which npm start has installed here
// Run:    KEY=sk-assay-… node examples/limit-each-user.mjs
// Prints: what is left for each user after each call; the third one of ada is over her limit
import OpenAI from 'openai';

const { KEY, GATEWAY = 'http://127.0.0.1:8787' } = process.env;
const openai = new OpenAI({ baseURL: `${GATEWAY}/v1`, apiKey: KEY });

for (const user of ['ada', 'ada', 'ada', 'bob']) {
  const headers = { 'Service-RateLimit-Policy': '2;w=60;s=user', 'Service-User-Id': user };
  try {
    const { response } = await openai.chat.completions
      .create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }, { headers })
      .withResponse();
    console.log(`${user}: ${response.headers.get('service-ratelimit-remaining')} left`);
  } catch (error) {
    if (!(error instanceof OpenAI.RateLimitError)) throw error;
    console.log(`${user}: over the limit, try again in ${error.headers.get('retry-after')} seconds`);
  }
}
