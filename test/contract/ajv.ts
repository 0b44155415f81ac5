// The gateway's own JSON Schema validator, for what the gateway publishes: this workspace has none.
import { createRequire } from 'node:module';
import { join } from 'node:path';

export interface Validate {
  (value: unknown): boolean;
  errors?: Array<{ instancePath: string; message?: string; params: unknown }> | null;
}

export interface Validator {
  addSchema(schema: object): void;
  compile(schema: object): Validate;
  validateSchema(schema: object): unknown;
  errors?: unknown[] | null;
}

const gateway = createRequire(join(__dirname, '../../gateway/package.json'));

/** For JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export function createValidator(): Validator {
  const { Ajv2020 } = gateway('ajv/dist/2020') as {
    Ajv2020: new (options: object) => Validator;
  };
  const { default: addFormats } = gateway('ajv-formats') as {
    default: (validator: Validator) => void;
  };
  const validator = new Ajv2020({ strict: false, allErrors: true });
  addFormats(validator);
  return validator;
}
