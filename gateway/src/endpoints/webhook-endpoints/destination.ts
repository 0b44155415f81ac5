// The destination of an endpoint in requests and answers: the settings of all types in one flat
// object, which generators of clients read alike. Onboarding decides which settings belong to which
// type.
import { DESTINATION_TYPES, SETTINGS, type SettingSchema } from '@bmg/common/destinations';
import * as is from '../parts/answers';
import { choice } from '../parts/inputs';
import type { ObjectSchema, Properties, Schema } from '../parts/schema';

interface Setting extends SettingSchema {
  /** The types of destination that have it. */
  of: string[];
}

/** Each setting once, in the order of the types. */
const settings = new Map<string, Setting>();
for (const type of DESTINATION_TYPES) {
  const properties: Readonly<Record<string, SettingSchema>> = SETTINGS[type].properties;
  for (const [name, schema] of Object.entries(properties)) {
    const known = settings.get(name);
    if (known) known.of.push(type);
    else settings.set(name, { ...schema, of: [type] });
  }
}

const describe = ({ of, description }: Setting): string =>
  `For ${of.map((type) => `\`${type}\``).join(' and ')}: ${description.charAt(0).toLowerCase()}${description.slice(1)}`;

/**
 * Null stands for the default. The default itself is only described: a type without it has none.
 */
const input = (setting: Setting): Schema => {
  const { of: _of, default: _default, ...schema } = setting;
  return {
    ...schema,
    type: [schema.type, 'null'],
    ...(schema.enum && { enum: [...schema.enum, null] }),
    description: describe(setting),
  };
};

const type = choice(
  DESTINATION_TYPES,
  'Where the events go: a Kafka topic, an AMQP exchange, an SQS queue or an S3 bucket. Required for a new destination.',
);

/**
 * The service requires the type of a new destination, and refuses another one in a change. Settings
 * that are absent stay.
 */
export const destination: ObjectSchema<Properties> = {
  type: 'object',
  properties: {
    type,
    ...Object.fromEntries([...settings].map(([name, setting]) => [name, input(setting)])),
  },
  required: [],
  description:
    'A topic, queue or bucket that gets the events instead of a URL. It must store a test event. Credentials are stored encrypted and never shown again.',
};

const EXAMPLES: Readonly<Record<string, Schema['examples']>> = {
  brokers: [['kafka.example.com:9093']],
  port: [5671],
  tls: [true],
};

const answer = (name: string, setting: Setting): Schema => ({
  type: setting.type,
  ...(setting.items && { items: setting.items as Schema }),
  ...(setting.enum && { enum: setting.enum }),
  description: describe(setting),
  examples: EXAMPLES[name] ?? [setting.default || setting.enum?.[0] || name],
});

const shown = [...settings].filter(([, { writeOnly }]) => !writeOnly);

export const destinationAnswer: Schema = {
  ...is.maybe.record(
    {
      type: is.choice(DESTINATION_TYPES),
      ...Object.fromEntries(shown.map(([name, setting]) => [name, answer(name, setting)])),
    },
    {
      title: 'WebhookDestination',
      optional: shown.map(([name]) => name),
      description: 'The settings of a destination without its credentials. Null: a URL.',
    },
  ),
  examples: [null],
};
