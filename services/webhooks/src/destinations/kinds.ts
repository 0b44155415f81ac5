// The kinds of destination. Each loads its client when the first destination of the kind is opened.
import { UrlRefused } from '@bmg/common/outbound';
import Ajv, { type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { amqpSchema, openAmqp, type AmqpDestination } from './amqp';
import { DestinationError, type Destination, type DestinationGuard } from './destination';
import { kafkaSchema, openKafka, type KafkaDestination } from './kafka';
import { openS3, s3Schema, type S3Destination } from './s3';
import { openSqs, sqsSchema, type SqsDestination } from './sqs';

interface Kind<Settings> {
  /** JSON Schema of the settings; secrets are `writeOnly`. */
  schema: object & { properties: Readonly<Record<string, object>> };
  open(settings: Settings, guard: DestinationGuard): Promise<Destination>;
}
const kind = <Settings>(one: Kind<Settings>): Kind<Settings> => one;

export const KINDS = {
  kafka: kind<KafkaDestination>({ schema: kafkaSchema, open: openKafka }),
  amqp: kind<AmqpDestination>({ schema: amqpSchema, open: openAmqp }),
  sqs: kind<SqsDestination>({ schema: sqsSchema, open: openSqs }),
  s3: kind<S3Destination>({ schema: s3Schema, open: openS3 }),
} as const;

export type KindName = keyof typeof KINDS;

/** The settings that must be stored encrypted and never shown. */
export const secretSettings = (name: KindName): string[] =>
  Object.entries(KINDS[name].schema.properties)
    .filter(([, schema]) => 'writeOnly' in schema)
    .map(([setting]) => setting);

const validators = new Map<KindName, ValidateFunction>();

/**
 * The settings with their defaults filled in, as a copy. Throws a
 * DestinationError for the first fault.
 */
export function checkSettings(
  name: KindName,
  settings: object,
  { allowPrivate }: Pick<DestinationGuard, 'allowPrivate'>,
): object {
  const checked = structuredClone(settings);
  const validate = validatorOf(name);
  if (!validate(checked)) throw faultOf(validate.errors ?? []);
  if (!allowPrivate && (checked as { tls?: boolean }).tls === false) {
    throw new DestinationError('tls', 'must be true: the password and the events need it');
  }
  return checked;
}

/** Checks the settings and loads the client, without a connection. Throws a DestinationError. */
export async function openDestination(
  name: KindName,
  settings: object,
  guard: DestinationGuard,
): Promise<Destination> {
  const { open } = KINDS[name] as Kind<object>;
  try {
    return await open(checkSettings(name, settings, guard), guard);
  } catch (error) {
    if (!(error instanceof UrlRefused)) throw error;
    const problem = error.message.slice(error.field.length + 1);
    throw new DestinationError(error.field, problem, { cause: error });
  }
}

function validatorOf(name: KindName): ValidateFunction {
  const known = validators.get(name);
  if (known !== undefined) return known;
  const ajv = new Ajv({ strict: true, useDefaults: true, strictRequired: false });
  addFormats(ajv);
  const validate = ajv.compile(KINDS[name].schema);
  validators.set(name, validate);
  return validate;
}

/** Without the value, which may be a secret. */
function faultOf([error]: ErrorObject[]): DestinationError {
  if (error === undefined) return new DestinationError('settings', 'are not valid');
  const { keyword, params, instancePath } = error;
  if (keyword === 'required') {
    return new DestinationError(String(params['missingProperty']), 'is required');
  }
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty']);
    return new DestinationError(name, 'is not a setting of this kind: remove it');
  }
  const setting = instancePath.split('/')[1] || 'settings';
  const choices = Array.isArray(params['allowedValues'])
    ? ` (${params['allowedValues'].join(', ')})`
    : '';
  return new DestinationError(setting, `${error.message ?? 'is not valid'}${choices}`);
}
