import { Struct } from '@bmg/proto/struct';
import { parseExact } from '../json';
import './exact-struct';

const decoded = (bytes: Uint8Array): object | undefined => Struct.unwrap(Struct.decode(bytes));
const encoded = (value: object): Uint8Array => Struct.encode(Struct.wrap(value)).finish();

test('a Struct keeps every digit of an integer, however deep', () => {
  const text = '{"a":[{"flow_id":122097329108006499}],"b":-9007199254740993,"c":1.5,"d":null}';
  const value = parseExact(text) as object;
  expect(JSON.stringify(decoded(encoded(value)))).toBe(text);
});

test('a reader without the digits has the number as a double', () => {
  const bytes = encoded({ id: 9007199254740993n });
  // Field 1000 of the value, which an earlier release skips: its tag is c2 3e.
  const tag = Buffer.from(bytes).indexOf(Buffer.from([0xc2, 0x3e]));
  const older = Buffer.from(bytes);
  older[tag + 1] = 0x3f;
  expect(decoded(older)).toEqual({ id: 9007199254740992 });
});

test('a value without long integers has the bytes of earlier releases', () => {
  expect(Buffer.from(encoded({ n: 1 })).toString('hex')).toBe('0a0e0a016e120911000000000000f03f');
});
