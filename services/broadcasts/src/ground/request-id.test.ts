import fc from 'fast-check';
import { chunkId, chunkIds, chunkNumber, newSalt, readOpaque, requestId } from './request-id';

test('a request id is read back as the same contact', () => {
  fc.assert(
    fc.property(fc.nat(10 ** 9), fc.nat(9_999), fc.nat(499), (broadcast, chunk, index) => {
      const ref = { chunk_id: chunkId(broadcast, chunk), index, salt: newSalt() };
      const request = requestId(ref);
      expect(request).not.toContain(':');
      expect(readOpaque(`bmg1:ptn_1:${request}`)).toEqual(ref);
    }),
  );
});

test.each([
  undefined,
  '',
  'bmg1:ptn_1:msg_01hz',
  'bmg2:ptn_1:bc_1_0_0_0123456789ab',
  'bmg1:ptn_1:bc_1_0_0_short',
  'bmg1:ptn_1:bc_1_0_x_0123456789ab',
  'bmg1:ptn_1:bc_1_0_0_0123456789ab:more',
  'bc_1_0_0_0123456789ab',
])('%j is not about a contact of a broadcast', (opaque) => {
  expect(readOpaque(opaque)).toBeUndefined();
});

test('chunk ids follow from the broadcast', () => {
  expect(chunkIds({ _id: 42, chunk_count: 3 })).toEqual(['42/0', '42/1', '42/2']);
  expect(chunkNumber('42/17')).toBe(17);
});
