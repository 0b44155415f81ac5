import { readPricing, WINDOW_BILLABLE_FROM } from '@bmg/common/messages';
import { countStatus, nothingKnown, type MessageFacts, type StatusFacts } from './message-counts';

const DAY = '2026-09-01';
const status = (name: StatusFacts['status'], given: Partial<StatusFacts> = {}): StatusFacts => ({
  status: name,
  day: DAY,
  category: null,
  billable: null,
  ...given,
});
const BEFORE = '2026-09-30';
const priced = { category: 'utility', billable: true };

/** The counters after a sequence of statuses: category → field → count, without zeros. */
function play(statuses: StatusFacts[]): Record<string, Record<string, number>> {
  let facts: MessageFacts = nothingKnown();
  const counters: Record<string, Record<string, number>> = {};
  for (const one of statuses) {
    const counted = countStatus(facts, one);
    facts = counted.facts;
    for (const { category, field, by } of counted.steps) {
      const row = (counters[category] ??= {});
      row[field] = (row[field] ?? 0) + by;
      if (row[field] === 0) delete row[field];
    }
  }
  return Object.fromEntries(Object.entries(counters).filter(([, row]) => Object.keys(row).length));
}

describe('the counters of a message', () => {
  const life = [status('sent', priced), status('delivered', priced), status('read')];

  it('count each status once, and one charge', () => {
    expect(play(life)).toEqual({ utility: { sent: 1, delivered: 1, read: 1, billable: 1 } });
  });

  it('do not change with repeated statuses', () => {
    expect(play([...life, ...life, ...life])).toEqual(play(life));
  });

  it('are the same in any order', () => {
    const [sent, delivered, read] = life as [StatusFacts, StatusFacts, StatusFacts];
    for (const order of [
      [read, delivered, sent],
      [delivered, read, sent],
      [read, sent, delivered],
      [delivered, sent, read],
    ]) {
      expect(play(order)).toEqual(play(life));
    }
  });

  it('are unknown until pricing names the category, then they move', () => {
    expect(play([status('read')])).toEqual({ unknown: { read: 1 } });
    expect(play([status('read'), status('sent', priced)])).toEqual({
      utility: { sent: 1, read: 1, billable: 1 },
    });
  });

  it('have no charge for a failed message', () => {
    expect(play([status('sent', priced), status('failed')])).toEqual({
      utility: { sent: 1, failed: 1 },
    });
  });

  it('distinguish free from billable messages', () => {
    const free = { category: 'service', billable: false };
    expect(play([status('sent', free), status('delivered', free)])).toEqual({
      service: { sent: 1, delivered: 1, free: 1 },
    });
  });

  it('move on the day on which they were counted', () => {
    const first = countStatus(nothingKnown(), status('delivered', { day: '2026-08-31' }));
    const { steps } = countStatus(first.facts, status('sent', priced));
    const moved = { day: '2026-08-31', field: 'delivered' };
    expect(steps).toContainEqual({ ...moved, category: 'unknown', by: -1 });
    expect(steps).toContainEqual({ ...moved, category: 'utility', by: 1 });
  });
});

describe('the pricing of a status', () => {
  it.each([
    [{ category: 'marketing', billable: true, type: 'regular' }, 'marketing', true],
    [{ category: 'service', billable: false, type: 'free_customer_service' }, 'service', false],
    [{ category: 'service', type: 'free_entry_point' }, 'service', false],
    [{ category: 'utility', type: 'regular' }, 'utility', true],
    [{ category: 'utility' }, 'utility', null],
    [{}, null, null],
    [null, null, null],
    [undefined, null, null],
  ])('%j', (pricing, category, billable) => {
    expect(readPricing(pricing, BEFORE)).toEqual({ category, billable });
  });
});

describe('from 1 October 2026, replies in the 24-hour window', () => {
  const type = 'free_customer_service';

  it.each(['service', 'utility'])('are billable, of category %s too', (category) => {
    expect(readPricing({ category, type }, '2026-09-30').billable).toBe(false);
    expect(readPricing({ category, type }, WINDOW_BILLABLE_FROM).billable).toBe(true);
    expect(readPricing({ category, type }, '2027-01-01').billable).toBe(true);
  });

  it('follow the upstream if it states whether they are billable', () => {
    const told = { category: 'service', type };
    expect(readPricing({ ...told, billable: true }, '2026-09-30').billable).toBe(true);
    expect(readPricing({ ...told, billable: false }, '2026-10-02').billable).toBe(false);
  });

  it('through a free entry point stay free', () => {
    const pricing = { category: 'service', type: 'free_entry_point' };
    expect(readPricing(pricing, '2026-10-02').billable).toBe(false);
  });

  it('count as billable once they are delivered', () => {
    const day = WINDOW_BILLABLE_FROM;
    const sent = { ...readPricing({ category: 'service', type }, day), day };
    expect(play([status('sent', sent), status('delivered', sent)])).toEqual({
      service: { sent: 1, delivered: 1, billable: 1 },
    });
  });
});
