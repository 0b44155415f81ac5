// The types of destination, and the function that opens one of each. The client of a type is loaded
// when the first destination of that type is opened.
import {
  checkSettings,
  DestinationError,
  type DestinationType,
  type SettingsOf,
} from '@bmg/common/destinations';
import { UrlRefused } from '@bmg/common/outbound';
import { openAmqp } from './amqp';
import { TIMES, type Destination, type DestinationGuard, type Times } from './destination';
import { openKafka } from './kafka';
import { openS3 } from './s3';
import { openSqs } from './sqs';

type Open<Settings> = (
  settings: Settings,
  guard: DestinationGuard,
  times: Times,
) => Promise<Destination>;

const OPEN: { readonly [T in DestinationType]: Open<SettingsOf[T]> } = {
  kafka: openKafka,
  amqp: openAmqp,
  sqs: openSqs,
  s3: openS3,
};

/** Checks the settings and loads the client, without a connection. Throws a DestinationError. */
export async function openDestination(
  type: DestinationType,
  settings: object,
  guard: DestinationGuard,
  times = TIMES,
): Promise<Destination> {
  const open = OPEN[type] as Open<object>;
  try {
    return await open(checkSettings(type, settings, guard), guard, times);
  } catch (error) {
    if (!(error instanceof UrlRefused)) throw error;
    const problem = error.message.slice(error.field.length + 1);
    throw new DestinationError(error.field, problem, { cause: error });
  }
}
