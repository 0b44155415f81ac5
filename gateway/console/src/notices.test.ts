import type { Notice } from './api/types';
import { effectiveText, keepStates, listNotices, readStates, stateOf } from './notices';
import { dayInWords } from './period';

const aNotice = (id: string): Notice => ({
  id,
  severity: 'action_required',
  effective: '2026-10-01',
  text: 'Replies are billable.',
});

/** A browser's storage. */
function aStorage(content: Record<string, string> = {}) {
  const items = new Map(Object.entries(content));
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  };
}

test('states whether a notice is in effect already', () => {
  const day = dayInWords('2026-10-01');
  expect(day).toContain('October');
  expect(effectiveText(aNotice('a'), '2026-09-30')).toBe(`takes effect on ${day}`);
  expect(effectiveText(aNotice('a'), '2026-10-01')).toBe(`in effect since ${day}`);
});

test('lists the notices to the partner before those to all', () => {
  const texts = { subject: 'Receiver down', text: 'It answers 503.' };
  const own = { notice_id: 'ntc_1', ...texts, severity: 'info', created_at: '2026-11-28' } as const;
  expect(listNotices([own], [aNotice('a')], '2026-09-30')).toMatchObject([
    { id: 'ntc_1', title: 'Receiver down', is_announced: false },
    { id: 'a', title: effectiveText(aNotice('a'), '2026-09-30'), is_announced: true },
  ]);
});

test('keeps the state of each notice for a partner, and forgets notices that are over', () => {
  const storage = aStorage();
  const states = { a: 'done', old: 'dismissed' } as const;
  keepStates('ptn_1', { notices: [aNotice('a')], states }, storage);
  expect(readStates('ptn_1', storage)).toEqual({ a: 'done' });
  expect(readStates('ptn_2', storage)).toEqual({});
  expect(stateOf(aNotice('a'), readStates('ptn_1', storage))).toBe('done');
  expect(stateOf(aNotice('b'), readStates('ptn_1', storage))).toBe('open');
});

test('forgets no state while the current notices are not all known', () => {
  const storage = aStorage();
  keepStates('ptn_1', { states: { old: 'dismissed' } }, storage);
  expect(readStates('ptn_1', storage)).toEqual({ old: 'dismissed' });
});

test('shows every notice when the storage is broken or full', () => {
  expect(readStates('ptn_1', aStorage({ 'bmg.notices.ptn_1': '{' }))).toEqual({});
  expect(readStates('ptn_1', aStorage({ 'bmg.notices.ptn_1': 'null' }))).toEqual({});
  const full = {
    setItem: () => {
      throw new Error('QuotaExceededError');
    },
  };
  expect(() => keepStates('ptn_1', { notices: [], states: {} }, full)).not.toThrow();
});
