import type { Message } from '../../api/types';
import { curveOf } from './curve';

const START = Date.parse('2026-11-25T12:00:00Z');
const at = (second: number): string => new Date(START + second * 1_000).toISOString();
const message = (sent_s: number, status: string, updated_s: number) =>
  ({ at: at(sent_s), status, updated_at: at(updated_s) }) as Message;

test('a curve counts what was sent, arrived and failed until each time', () => {
  const curve = curveOf([
    message(10, 'read', 40),
    message(0, 'delivered', 20),
    message(5, 'failed', 6),
    message(10, 'sent', 11),
  ]);
  const until = (second: number) => {
    const { sent, delivered, failed } = curve.find(
      ({ at_ms }) => at_ms === START + second * 1_000,
    ) as (typeof curve)[number];
    return [sent, delivered, failed];
  };
  expect(curve[0]).toEqual({ at_ms: START, sent: 1, delivered: 0, failed: 0 });
  expect(until(6)).toEqual([2, 0, 1]);
  expect(until(20)).toEqual([4, 1, 1]);
  expect(curve.at(-1)).toEqual({ at_ms: START + 40_000, sent: 4, delivered: 2, failed: 1 });
});

test('a curve of one message has a width, and there is none without a message', () => {
  const curve = curveOf([message(0, 'sent', 0)]);
  expect(new Set(curve.map(({ at_ms }) => at_ms)).size).toBe(curve.length);
  expect(curveOf([])).toEqual([]);
});
