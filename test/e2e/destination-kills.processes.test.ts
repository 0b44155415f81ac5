// Kills while events go to a Kafka topic and to endpoints of a partner. Those of the other types of
// destinations are in `make test-destinations`.
import { startKafkaServer } from '../destinations/kafka-server';
import { describeKills } from '../destinations/kills';
import { SECURE_START_LIMIT_MS } from '../testkit/secure-engines';

describeKills('Kafka', startKafkaServer, SECURE_START_LIMIT_MS);
