// Integers beyond 2^53 in a Struct: a `bigint` travels as the double that it had in earlier
// releases, and its digits beside it. Old readers skip the digits and old writers leave them out, so
// that replicas of both releases work together.
import { Value } from '@bmg/proto/struct';
import '../json';

const { wrap, unwrap } = Value;

Value.wrap = (value: unknown): Value =>
  typeof value === 'bigint'
    ? { ...wrap(Number(value)), exact_integer: value.toString() }
    : wrap(value);

Value.unwrap = (message: Value): ReturnType<typeof unwrap> =>
  message.exact_integer === undefined ? unwrap(message) : exactOf(message.exact_integer);

const INTEGER = /^-?\d{1,400}$/;

/** Digits come from our own services; anything else is refused like any other broken message. */
function exactOf(digits: string): ReturnType<typeof unwrap> {
  if (!INTEGER.test(digits)) throw new TypeError('a Struct has an integer that is none');
  return BigInt(digits);
}
