import { DESTINATION_TYPES, isSecret, SETTINGS } from '@bmg/common/destinations';
import { exampleOf } from '../../openapi/example';
import { compile } from '../parts/schema';
import { destinationAnswer, destination } from './destination';

test('every setting of every type is published with the types that have it', () => {
  for (const type of DESTINATION_TYPES) {
    for (const name of Object.keys(SETTINGS[type].properties)) {
      expect(destination.properties[name]?.description).toContain(`\`${type}\``);
    }
  }
});

test('answers have no credential', () => {
  const shown = Object.keys(destinationAnswer.properties ?? {});
  const secret = DESTINATION_TYPES.flatMap((type) =>
    Object.keys(SETTINGS[type].properties).filter((name) => isSecret(type, name)),
  );
  expect(secret.filter((name) => shown.includes(name))).toEqual([]);
  expect(exampleOf(destinationAnswer)).toBeNull();
});

test('a setting of the wrong type is named without its value', () => {
  const validate = compile({ type: 'object', properties: { destination } }, 'body');
  const given = { type: 'amqp', password: { text: 'hidden' } };
  expect(() => validate({ destination: given })).toThrow('destination.password must be a string');
  expect(validate({ destination: { type: 'kafka' } })).toEqual({ destination: { type: 'kafka' } });
});
