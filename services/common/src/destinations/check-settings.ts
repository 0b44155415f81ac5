// Checks the settings of a destination against their schema, and knows which of them are credentials.
import Ajv, { type ErrorObject, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import {
  SERVER_SETTINGS,
  SETTINGS,
  type DestinationType,
  type SettingSchema,
  type SettingsOf,
} from './settings';

/** The message may be shown to the partner: it starts with the setting and names what to do. */
export class DestinationError extends Error {
  override readonly name = 'DestinationError';
  /** All settings that are required and absent, if that is the problem. */
  missing: readonly string[] = [];

  constructor(
    readonly setting: string,
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(`${setting} ${problem}`, options);
  }
}

/** Whether a setting is a credential. */
export const isSecret = (type: DestinationType, setting: string): boolean =>
  (SETTINGS[type].properties as Record<string, SettingSchema>)[setting]?.writeOnly === true;

/** The settings that may be shown. */
export const withoutSecrets = <S extends object>(type: DestinationType, settings: S): Partial<S> =>
  Object.fromEntries(
    Object.entries(settings).filter(([setting]) => !isSecret(type, setting)),
  ) as Partial<S>;

/** The settings after a change of some; null removes one. */
export const changedSettings = (before: object, change: object): object =>
  Object.fromEntries(
    Object.entries({ ...before, ...change }).filter(([, value]) => value !== null),
  );

/**
 * The credentials that a change must give again, because it leads to another server: a caller that
 * may change an endpoint must not learn them.
 */
export function credentialsToRepeat(
  type: DestinationType,
  { before, change, after }: { before: object; change: object; after: object },
): string[] {
  const names = SERVER_SETTINGS[type] as readonly string[];
  const server = (settings: object): string =>
    JSON.stringify(names.map((name) => (settings as Record<string, unknown>)[name]));
  if (server(before) === server(after)) return [];
  return Object.keys(after).filter((name) => isSecret(type, name) && !Object.hasOwn(change, name));
}

const validators = new Map<DestinationType, ValidateFunction>();

/**
 * The settings with their defaults filled in, as a copy. `allowPrivate` is for local work: it allows
 * connections without TLS. Throws a DestinationError for the first fault, or for all that is missing.
 */
export function checkSettings<T extends DestinationType>(
  type: T,
  settings: object,
  { allowPrivate }: { allowPrivate: boolean },
): SettingsOf[T] {
  const checked = structuredClone(settings);
  const validate = validatorOf(type);
  if (!validate(checked)) throw faultOf(validate.errors ?? []);
  if (!allowPrivate && (checked as { tls?: boolean }).tls === false) {
    throw new DestinationError('tls', 'must be true: the password and the events need it');
  }
  return checked as SettingsOf[T];
}

function validatorOf(type: DestinationType): ValidateFunction {
  const known = validators.get(type);
  if (known !== undefined) return known;
  const ajv = new Ajv({ allErrors: true, strict: true, useDefaults: true, strictRequired: false });
  addFormats(ajv);
  const validate = ajv.compile(SETTINGS[type]);
  validators.set(type, validate);
  return validate;
}

/** Without the value, which may be a secret. */
function faultOf(errors: ErrorObject[]): DestinationError {
  const missing = errors.flatMap(({ keyword, params }) =>
    keyword === 'required' ? [String(params['missingProperty'])] : [],
  );
  if (missing[0] !== undefined) {
    return Object.assign(new DestinationError(missing[0], 'is required'), { missing });
  }
  const [error] = errors;
  if (error === undefined) return new DestinationError('settings', 'are not valid');
  const { keyword, params, instancePath } = error;
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty']);
    return new DestinationError(name, 'is not a setting of this type: remove it');
  }
  const setting = instancePath.split('/')[1] || 'settings';
  const choices = Array.isArray(params['allowedValues'])
    ? ` (${params['allowedValues'].join(', ')})`
    : '';
  return new DestinationError(setting, `${error.message ?? 'is not valid'}${choices}`);
}

const ADDRESSES: { readonly [T in DestinationType]: (settings: SettingsOf[T]) => string } = {
  kafka: ({ brokers, topic }) => `kafka://${brokers[0]}/${topic}`,
  amqp: ({ host, tls, exchange, routing_key }) =>
    `${tls ? 'amqps' : 'amqp'}://${host}/${exchange || routing_key}`,
  sqs: ({ queue_url }) => withoutQuery(queue_url),
  s3: ({ endpoint, bucket, prefix }) =>
    `${withoutQuery(endpoint).replace(/\/$/, '')}/${bucket}/${prefix}`,
};

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/**
 * The address of a destination as one text, for the log of attempts and for events; it has no
 * credentials. `settings` are checked ones.
 */
export const addressOf = (type: DestinationType, settings: object): string =>
  (ADDRESSES[type] as (settings: object) => string)(settings);
