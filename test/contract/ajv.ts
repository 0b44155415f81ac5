// The JSON Schema validator for the schemas that the gateway publishes.
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';

export type Validate = ValidateFunction;
export type Validator = Ajv2020;

/** Validates JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
export function createValidator(): Validator {
  const validator = new Ajv2020({ strict: false, allErrors: true });
  addFormats(validator);
  return validator;
}
