import { aTestEvent } from '../../../../../test/testkit/destination-events';
import type { DestinationEvent } from '../destination';
import { objectName } from './index';

const at = (event_id: string, time = '2026-11-25T13:59:59.999Z'): DestinationEvent =>
  aTestEvent({ event_id, received_at_ms: Date.parse(time) });

test('an object lies in the folder of its hour, in UTC', () => {
  expect(objectName('bmg/', [at('evt_a'), at('evt_b')])).toMatch(
    /^bmg\/2026\/11\/25\/13\/evt_a-2-[0-9a-f]{16}\.ndjson$/,
  );
  expect(objectName('', [at('evt_a', '2026-01-02T00:00:00.000Z')])).toMatch(
    /^2026\/01\/02\/00\/evt_a-1-/,
  );
});

test('the same events have the same name, and others another one', () => {
  const name = objectName('', [at('evt_a'), at('evt_b')]);
  expect(objectName('', [at('evt_a'), at('evt_b')])).toBe(name);
  expect(objectName('', [at('evt_a'), at('evt_c')])).not.toBe(name);
  expect(objectName('', [at('evt_a')])).not.toBe(name);
});

test('an id cannot leave its folder', () => {
  expect(objectName('', [at('../../x')])).toMatch(/^2026\/11\/25\/13\/______x-1-/);
});
