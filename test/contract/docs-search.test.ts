// The search finds the words that a reader types, in the index that the gateway serves.
// cspell:ignore Broadcst brodcast recieving zzzzqqqq
import { buildOpenApi } from '../../gateway/src/openapi';
import { chapters } from '../../gateway/src/endpoints';
import { readGuides } from '../../gateway/src/docs/guides';
import { NAMES, searchIndex } from '../../gateway/src/docs/search-index';
import { MARKETS } from '../../services/messaging/src/pricing/markets';
import { createFinder } from '../../gateway/docs/src/find';

const public_url = 'https://gateway.example.com';
const document = buildOpenApi(chapters, { public_url });
const index = searchIndex(document, readGuides(document, { public_url }).guides);
const find = createFinder(index);
const TOP = 3;
const MARKET_QUESTION = 'what-does-a-message-cost-in-brazil-germany-or-india';
const answer = (slug: string): string => `answers#${slug}`;

describe('a question is answered by one of the first three results', () => {
  test.each([
    ['brazil', answer(MARKET_QUESTION)],
    ['price brazil', answer(MARKET_QUESTION)],
    ['double send timeout', answer('a-send-timed-out-may-i-send-it-again')],
    [
      'my receiver was down for three hours',
      answer('my-receiver-was-down-for-three-hours-what-did-i-miss'),
    ],
    ['webhook outage', answer('my-receiver-was-down-for-three-hours-what-did-i-miss')],
    ['why was it charged as marketing', answer('why-was-a-message-charged-as-marketing')],
    ['a number stopped sending', answer('a-number-stopped-sending-why')],
    ['how do i verify the signature', 'receiving#verify'],
    ['events without public address', answer('how-do-i-read-events-without-a-public-address')],
    ['how many requests per second', answer('my-requests-get-429-how-many-may-i-send')],
    ['sign-up failed', answer('the-clients-sign-up-failed-where-do-i-look')],
    ['message did not arrive', answer('why-did-the-message-not-arrive')],
    ['broadcast contacts failed', answer('why-did-some-contacts-of-a-broadcast-fail')],
    [
      'restore events from backup',
      answer('we-restored-an-old-backup-how-do-we-get-the-events-since-then'),
    ],
    ['replace api key without downtime', answer('how-do-i-replace-an-api-key-without-downtime')],
    ['who changed the webhook address', answer('who-changed-our-webhook-address')],
    ['stop a broadcast', answer('a-broadcast-goes-to-the-wrong-people-how-do-we-stop-it')],
    ['pause broadcast', 'broadcasts#pause-and-resume'],
    ['cost of a broadcast', 'costs#what-did-it-cost'],
    ['customer opt out', answer('a-customer-wants-no-more-messages-how-do-i-stop-them')],
  ])('%s', (query, id) => {
    expect(
      find(query)
        .slice(0, TOP)
        .map((entry) => entry.id),
    ).toContain(id);
  });
});

test.each([
  ['test mode', 'testing'],
  ['sandbox', 'testing'],
  ['test number', 'testing'],
  ['delete customer data', 'limits#events-and-data'],
  ['outgoing IP addresses', 'receiving#answer'],
  ['change webhook url', 'reference/webhook-endpoints#updateWebhook'],
  ['window closed', 'sending#kinds'],
  ['24 hour window', 'sending#kinds'],
  ['npm install', 'client#typescript'],
  ['api key scopes', 'keys#scopes'],
  ['rotate webhook secret', 'reference/webhook-endpoints#rotateWebhookSecret'],
  ['get started', 'quick-start'],
  ['postman', 'agents#documents-for-tools'],
  ['rate limit', 'limits#requests'],
  ['retry failed events', 'receiving#recover'],
  ['message status', 'quick-start#3-watch-it-arrive'],
  ['verify webhook signature', 'receiving#verify'],
  ['error codes', 'errors#error-codes'],
  ['send an image', 'reference/messages#sendMedia'],
  ['invite a colleague', 'people#invite'],
  ['python client', 'client#python'],
  ['go live', 'going-live'],
  ['pricing', 'costs#the-rate-card'],
  ['carousel', 'recipes#carousel'],
  ['ask for a location', 'recipes#location-request'],
  ['connect a number', 'quick-start#1-connect-a-number'],
])('answers a newcomer’s “%s” first', (query, id) => {
  expect(find(query)[0]?.id).toBe(id);
});

test('gives other names to entries that exist', () => {
  const ids = index.map(({ id }) => id);
  expect(Object.keys(NAMES).filter((id) => !ids.includes(id))).toEqual([]);
});

test.each([
  ['idempotency key in use', 'errors#IDEMPOTENCY_KEY_IN_USE'],
  ['message rec', 'reference/events#message.received'],
  ['createBroadcst', 'reference/broadcasts#createBroadcast'],
  ['brodcast pace', 'broadcasts#pace'],
  ['recieving', 'receiving'],
  ['qr code', 'reference/number-setup#createQrCode'],
])('finds %s by beginnings and despite misspellings', (query, id) => {
  const ids = find(query).map((entry) => entry.id);
  expect(ids.slice(0, 5)).toContain(id);
});

test('finds nothing for nothing, and bounds no query', () => {
  expect(find('   ')).toEqual([]);
  expect(find('zzzzqqqq')).toEqual([]);
  expect(() => find('x '.repeat(200))).not.toThrow();
});

test('the answers name every market of the upstream', () => {
  const [section] = index.filter(({ id }) => id === answer(MARKET_QUESTION));
  const [, names = ''] =
    /The markets are ([^.]*)\./.exec(section?.text.replaceAll('\n', ' ') ?? '') ?? [];
  expect(names.split(/, | and (?=Other$)/)).toEqual(MARKETS);
});
