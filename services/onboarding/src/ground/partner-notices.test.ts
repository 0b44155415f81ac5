import { refusal } from '../../test/refusal';
import { createNotice, currentNotices } from './partner-notices';

const NOW = new Date('2026-11-28T12:00:00Z');
const DAY_MS = 86_400_000;
const GIVEN = { subject: ' Receiver down ', text: 'It answers 503.\nCheck it.', severity: 'info' };

test('a notice has an ID, its time and trimmed texts', () => {
  expect(createNotice(GIVEN, NOW)).toEqual({
    notice_id: expect.stringMatching(/^ntc_/),
    severity: 'info',
    subject: 'Receiver down',
    text: GIVEN.text,
    created_at: NOW,
  });
  const longest = { ...GIVEN, subject: 's'.repeat(120), text: 't'.repeat(2_000) };
  expect(createNotice(longest, NOW)).toMatchObject({ text: longest.text });
});

test.each<[wrong: object, details: object, code?: string]>([
  [{ subject: ' ' }, { fields: ['subject'] }, 'MISSING_FIELDS'],
  [{ text: '' }, { fields: ['text'] }, 'MISSING_FIELDS'],
  [{ subject: 's'.repeat(121) }, { field: 'subject' }],
  [{ subject: 'two\nlines' }, { field: 'subject' }],
  [{ text: 't'.repeat(2_001) }, { field: 'text' }],
  [{ text: 'a\u0000' }, { field: 'text' }],
  [{ severity: 'breaking' }, { field: 'severity' }],
])(
  'a notice with %j is refused by the name of the field',
  (wrong, details, code = 'INVALID_FIELD') => {
    expect(() => createNotice({ ...GIVEN, ...wrong }, NOW)).toThrow(refusal(code, details));
  },
);

test('notices of the last 30 days are current, the newest first', () => {
  const aged = (days: number) => createNotice(GIVEN, new Date(NOW.getTime() - days * DAY_MS));
  const [old, last, fresh] = [aged(30.1), aged(30), aged(1)] as const;
  expect(currentNotices([old, last, fresh], NOW)).toEqual([fresh, last]);
  expect(currentNotices(undefined, NOW)).toEqual([]);
});
