import { createLogger } from '@bmg/common/telemetry';
import { createListRooms, LISTS_BYTES_MAX, LISTS_BYTES_SHARE, type ListRooms } from './list-room';

const MIB = 1024 * 1024;
const refused = { code: 'RATE_LIMIT_EXCEEDED', retry_after_s: 1 };

/** A list of so many MiB whose reply is not written yet, until `written` is called. */
function listed(rooms: ListRooms, partner_id: string, mib: number) {
  const reply = new AbortController();
  const answered = rooms.hold(partner_id, reply, async (room) => {
    for (let at = 0; at < mib; at += 1) room.grow(MIB);
    return mib;
  });
  return { answered, written: () => reply.abort() };
}

test('a partner’s lists count until their replies are written', async () => {
  const rooms = createListRooms(createLogger('test'));
  const first = listed(rooms, 'ptn_1', 16);
  expect(await first.answered).toBe(16);
  await expect(listed(rooms, 'ptn_1', 16).answered).rejects.toMatchObject(refused);
  // What the refused one had taken is free again, and another partner's largest list fits beside
  // it.
  const other = listed(rooms, 'ptn_2', 16);
  expect(await other.answered).toBe(16);
  first.written();
  expect(await listed(rooms, 'ptn_1', 16).answered).toBe(16);
});

test('large lists of some partners leave room for small ones of others', async () => {
  const rooms = createListRooms(createLogger('test'));
  const share = Math.floor(LISTS_BYTES_SHARE / MIB);
  const count = Math.floor(LISTS_BYTES_MAX / MIB / share);
  for (let at = 0; at < count; at += 1) await listed(rooms, `ptn_${at}`, share).answered;
  await expect(listed(rooms, 'ptn_late', share).answered).rejects.toMatchObject(refused);
  const small = rooms.hold('ptn_small', { signal: undefined }, async (room) => {
    room.grow(100_000);
    return 'listed';
  });
  expect(await small).toBe('listed');
});

test('a list that fails gives its room back', async () => {
  const rooms = createListRooms(createLogger('test'));
  for (let at = 0; at < 5; at += 1) {
    const failing = rooms.hold('ptn_1', {}, async (room) => {
      room.grow(16 * MIB);
      throw new Error('the upstream is unreachable');
    });
    await expect(failing).rejects.toThrow('unreachable');
  }
});
