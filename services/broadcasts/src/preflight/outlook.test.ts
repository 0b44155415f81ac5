import { Findings, reason, upstreamRefusal } from '@bmg/common/preflight';
import { readPlain } from '../../test/builders';
import { createFiller } from '../template/params';
import { deliverableOf, estimateRun, shownReasons } from './outlook';

const NOW = new Date('2026-11-22T12:00:00Z');
const PACE = { rate_per_sec: 20, broadcasts_per_sec: 10, queued: 100 };
const inSeconds = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);

test.each([
  ['at once, behind the contacts that are queued', 0, 20],
  ['later, when some of them have left', 4, 16],
  ['later, when all of them have left', 3_600, 10],
])('the last contact of a broadcast leaves: %s', (_name, delay_s, duration_s) => {
  expect(estimateRun(PACE, inSeconds(delay_s), 100, NOW)).toEqual({
    starts_at: inSeconds(delay_s).toISOString(),
    ends_at: inSeconds(delay_s + duration_s).toISOString(),
    duration_s,
  });
});

const checked = async (...recipients: string[]) => ({
  ...(await readPlain(['', ...recipients].map((recipient) => ({ recipient })))),
  filler: createFiller([]),
});
const found = () => ({ refusals: new Findings(), failures: new Findings() });

test('a broadcast is deliverable while one contact is', async () => {
  const two = await checked('15550100701', '15550100702');
  const findings = found();
  expect(deliverableOf(findings, two)).toBe('yes');
  findings.failures.add(upstreamRefusal(131_026, 'is unreachable'), 1);
  expect(deliverableOf(findings, two)).toBe('yes');
  findings.failures.add(upstreamRefusal(131_026, 'is unreachable'), 2);
  expect(deliverableOf(findings, two)).toBe('no');
});

test('a reason that concerns the whole broadcast decides', async () => {
  const one = await checked('15550100701');
  const findings = found();
  findings.refusals.add(reason('note', { code: 'MESSAGING_LIMIT', message: 'too many' }));
  expect(deliverableOf(findings, one)).toBe('yes');
  findings.refusals.add(reason('unknown', { code: 'TEMPLATE_UNKNOWN', message: 'unknown' }));
  expect(deliverableOf(findings, one)).toBe('unknown');
  findings.refusals.add(upstreamRefusal(132_015, 'the template is paused'));
  expect(deliverableOf(findings, one)).toBe('no');
  expect(deliverableOf(found(), undefined)).toBe('no');
});

test('examples name the contact by its place in the request', async () => {
  const findings = found();
  findings.refusals.add(upstreamRefusal(132_000, 'too few', 'contacts[2].params'), 2);
  findings.failures.add(upstreamRefusal(131_026, 'is unreachable', 'to'), 1);
  expect(shownReasons(findings, await checked('15550100701', '15550100702'))).toMatchObject([
    {
      scope: 'broadcast',
      field: 'contacts',
      contacts: 1,
      examples: [{ field: 'contacts[2].params', recipient: '15550100702', message: 'too few' }],
    },
    {
      scope: 'contacts',
      field: 'contacts',
      contacts: 1,
      examples: [{ field: 'contacts[1]', recipient: '15550100701', message: 'is unreachable' }],
    },
  ]);
});
