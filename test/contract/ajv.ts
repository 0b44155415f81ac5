// The JSON Schema validator for what the gateway publishes.
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';

export type Validate = ValidateFunction;
export type Validator = Ajv2020;

/** For JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export function createValidator(): Validator {
  const validator = new Ajv2020({ strict: false, allErrors: true });
  addFormats(validator);
  return validator;
}
