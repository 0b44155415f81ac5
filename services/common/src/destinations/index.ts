export { addressOf } from './address';
export {
  changedSettings,
  checkSettings,
  credentialsToRepeat,
  DestinationError,
  isSecret,
  withoutSecrets,
} from './check-settings';
export {
  DESTINATION_ID_PREFIX,
  DESTINATION_TYPES,
  isDestinationType,
  SETTINGS,
  type AmqpSettings,
  type AwsSettings,
  type DestinationType,
  type KafkaSettings,
  type S3Settings,
  type SettingsOf,
  type SettingSchema,
  type SqsSettings,
} from './settings';
