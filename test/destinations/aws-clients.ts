// Clients of the server with the protocols of SQS and S3, beside those of the destinations: they
// prepare queues and a bucket, and read what was stored.
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SQSClient,
  type Message,
} from '@aws-sdk/client-sqs';
import type { Moto } from './moto';

export const REGION = 'us-east-1';
export const BUCKET = 'partner-events';

const configOf = ({ url: endpoint, admin }: Moto) => {
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = admin;
  return { endpoint, region: REGION, credentials: { accessKeyId, secretAccessKey } };
};

export const openSqs = (moto: Moto): SQSClient => new SQSClient(configOf(moto));

/** Opens S3 and creates the bucket. */
export async function openS3(moto: Moto): Promise<S3Client> {
  const s3 = new S3Client({ ...configOf(moto), forcePathStyle: true });
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET }));
  return s3;
}

/** Returns the queue's address; a name that ends with `.fifo` makes a FIFO queue. */
export async function createQueue(sqs: SQSClient, name: string): Promise<string> {
  const Attributes = name.endsWith('.fifo') ? { FifoQueue: 'true' } : undefined;
  const command = new CreateQueueCommand({ QueueName: name, Attributes });
  return (await sqs.send(command)).QueueUrl as string;
}

/** Takes some messages of a queue; none if it is empty. */
export async function takeMessages(sqs: SQSClient, QueueUrl: string): Promise<Message[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 10,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
    }),
  );
  if (Messages.length > 0) {
    const Entries = Messages.map(({ ReceiptHandle }, at) => ({ Id: String(at), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  }
  return Messages;
}
