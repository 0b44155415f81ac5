// The fields of a control request: a reader checks each, and the type of the body follows from the
// readers.
import { isObject, type JsonObject } from './types';

type Reader<T> = (value: unknown, name: string) => T;
export type Fields = Readonly<Record<string, Reader<unknown>>>;
/** A body with these fields; each may be absent. The field `*` stands for all others. */
export type Input<F extends Fields> = { [N in keyof F]?: ReturnType<F[N]> | undefined };

export class ControlError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export const bad = (message: string): ControlError => new ControlError(400, message);

export function read<F extends Fields>(fields: F, body: JsonObject): Input<F> {
  const unknown = Object.keys(body).filter((key) => !Object.hasOwn(fields, key));
  if (unknown.length > 0 && !fields['*']) {
    const known = Object.keys(fields).join(', ');
    throw bad(`Unknown keys: ${unknown.join(', ')}. Known keys: ${known}`);
  }
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, (fields[name] ?? any)(value, name)]),
  ) as Input<F>;
}

const readerOf =
  <T>(what: string, isOne: (value: unknown) => boolean): Reader<T> =>
  (value, name) => {
    if (!isOne(value)) throw bad(`${name} must be ${what}`);
    return value as T;
  };

export const any: Reader<any> = (value) => value;
export const text = readerOf<string>('a string', (value) => typeof value === 'string');
export const flag = readerOf<boolean>('a boolean', (value) => typeof value === 'boolean');
export const object = readerOf<JsonObject>('an object', isObject);
export const objects = readerOf<JsonObject[]>(
  'an array of objects',
  (value) => Array.isArray(value) && value.every(isObject),
);
export const number = (min = -Infinity, max = Infinity): Reader<number> =>
  readerOf(
    `a number from ${min} to ${max}`,
    (value) => typeof value === 'number' && value >= min && value <= max,
  );
export const oneOf = <T extends string>(...values: readonly T[]): Reader<T> =>
  readerOf(`one of ${values.join(', ')}`, (value) => values.includes(value as T));
/** A value of the type that the sample has. */
export const like = (sample: unknown): Reader<unknown> =>
  sample === null ? any : readerOf('of its type', (value) => typeof value === typeof sample);
export const listOf =
  <T>(reader: Reader<T>): Reader<T[]> =>
  (value, name) => {
    if (!Array.isArray(value)) throw bad(`${name} must be an array`);
    return value.map((item) => reader(item, name));
  };
export const shape =
  <F extends Fields>(fields: F): Reader<Input<F>> =>
  (value, name) =>
    read(fields, object(value, name));
