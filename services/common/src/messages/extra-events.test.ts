import { extraEventsOf, passesFilter } from './extra-events';

const CONTRACT = 'contact.synced';
const EXTRA = 'contact.preference_updated';

test.each<[string, string[], boolean, { contract: boolean; extra: boolean }]>([
  ['an empty filter', [], false, { contract: true, extra: false }],
  ['an empty filter, written again', [], true, { contract: true, extra: false }],
  ['its name', [EXTRA], false, { contract: false, extra: true }],
  ['a prefix from before extra events', ['contact.*'], false, { contract: true, extra: false }],
  ['a prefix that is newer', ['contact.*'], true, { contract: true, extra: true }],
  ['another prefix', ['call.*'], true, { contract: false, extra: false }],
  ['an older prefix and its name', ['contact.*', EXTRA], false, { contract: true, extra: true }],
])('%s decides about extra events', (_name, events, extra_by_prefix, passes) => {
  const filter = { events, extra_by_prefix };
  expect({
    contract: passesFilter(filter, CONTRACT),
    extra: passesFilter(filter, EXTRA),
  }).toEqual(passes);
});

test('a partner asks for the extra events of all its receivers, and for no other', () => {
  const endpoints = [
    { events: [], extra_by_prefix: true },
    { events: ['message.*', 'upstream.other'], extra_by_prefix: false },
    { events: ['call.*'], extra_by_prefix: true },
    { events: ['number.*'], extra_by_prefix: false },
  ];
  expect(extraEventsOf(['flow.updated', 'message.received'], endpoints)).toEqual([
    'call.connect',
    'call.terminate',
    'call.status',
    'flow.updated',
    'upstream.other',
  ]);
  expect(extraEventsOf([], [])).toEqual([]);
});
