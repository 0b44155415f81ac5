// What the clients of SQS and S3 share: their requests go through the guarded agent, and neither
// the environment nor files of this machine give them settings.
import { DestinationError, type AwsSettings } from '@bmg/common/destinations';
import {
  guardedAgent,
  guardedRequest,
  ProtocolBroken,
  RequestFailed,
  type GuardedAgent,
} from '@bmg/common/outbound';
import { SendFailed, unreachable, type DestinationGuard, type Times } from './destination';
import { ANSWER_MAX_BYTES, checkBody, type AnswerFormat } from './http-guard';

const KEEP_ALIVE_MS = 60_000;

/** The part of the SDK's request that is sent. */
interface SdkRequest {
  protocol: string;
  hostname: string;
  port?: number | undefined;
  path: string;
  method: string;
  query?: Record<string, string | string[] | null> | undefined;
  headers: Record<string, string>;
  body?: unknown;
}

interface SdkHandler {
  handle(
    request: SdkRequest,
    options?: { abortSignal?: unknown },
  ): Promise<{
    response: { statusCode: number; headers: Record<string, string>; body: Uint8Array };
  }>;
  updateHttpClientConfig(): void;
  httpHandlerConfigs(): Record<string, never>;
}

interface AwsOptions extends Pick<Times, 'request_ms'> {
  /** At most so many at a time. */
  connections: number;
  /** What the protocol's parser reads. */
  answers: AnswerFormat;
}

export function createAwsConnection(
  endpoint: URL,
  credentials: AwsSettings,
  guard: DestinationGuard,
  { connections, answers, request_ms }: AwsOptions,
) {
  const agent = guardedAgent({
    ...guard,
    connectionsPerOrigin: connections,
    keepAliveMs: KEEP_ALIVE_MS,
  });
  return {
    /** For the constructor of a client. */
    config: configOf(endpoint, credentials, handlerOf(agent, answers, request_ms)),
    close: (): Promise<void> => agent.destroy(),
  };
}

function configOf(endpoint: URL, credentials: AwsSettings, requestHandler: SdkHandler) {
  return {
    endpoint: endpoint.origin,
    region: credentials.region,
    credentials: {
      accessKeyId: credentials.access_key_id,
      secretAccessKey: credentials.secret_access_key,
    },
    requestHandler,
    // One try: the delivery has a schedule, and its repetition is the same to the destination.
    maxAttempts: 1,
    retryMode: 'standard',
    defaultsMode: 'standard',
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    // Servers other than the original one do not know the newer checksums; the signature covers the
    // body.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    userAgentAppId: 'business-messaging-gateway',
  } as const;
}

/** Set by the agent, which knows connection and length. */
const OF_THE_AGENT = new Set([
  'host',
  'content-length',
  'connection',
  'expect',
  'transfer-encoding',
]);

function handlerOf(agent: GuardedAgent, answers: AnswerFormat, request_ms: number): SdkHandler {
  return {
    async handle(request, { abortSignal } = {}) {
      const limit = AbortSignal.timeout(request_ms);
      const signal =
        abortSignal instanceof AbortSignal ? AbortSignal.any([abortSignal, limit]) : limit;
      const headers = Object.entries(request.headers).filter(
        ([name]) => !OF_THE_AGENT.has(name.toLowerCase()),
      );
      const { status, body, ...answer } = await guardedRequest(urlOf(request), {
        agent,
        pool: 'destination',
        method: request.method as 'GET' | 'POST' | 'PUT' | 'HEAD',
        headers: Object.fromEntries(headers),
        body: bodyOf(request.body),
        answer_max_bytes: ANSWER_MAX_BYTES[answers],
        signal,
      }).catch((error: unknown) => {
        throw withDetail(error);
      });
      checkBody(answers, status, body);
      return { response: { statusCode: status, headers: answer.headers, body } };
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  };
}

/** A broken protocol with the reason that the partner reads. */
function withDetail(error: unknown): unknown {
  if (!(error instanceof RequestFailed) || error.reason !== 'protocol') return error;
  return error.cause instanceof ProtocolBroken
    ? error.cause
    : new ProtocolBroken('answered without valid HTTP');
}

function bodyOf(body: unknown): Buffer | string | undefined {
  if (body === undefined || body === null || typeof body === 'string') return body ?? undefined;
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError('the body of a request to a destination must be bytes or text');
}

function urlOf({ protocol, hostname, port, path, query = {} }: SdkRequest): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) =>
      one === null ? encoded(name) : `${encoded(name)}=${encoded(one)}`,
    ),
  );
  const origin = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`;
  return `${origin}${path}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`;
}

/** Encodes a text as the signature spells it. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
const SERVER_ERROR = 500;

/** The text for the failed list, and the setting to fix. */
export type AwsFaults = Readonly<
  Record<string, readonly [text: string, setting: string, problem: string]>
>;

const CREDENTIALS: AwsFaults[string] = [
  'credentials refused',
  'secret_access_key',
  'was refused: check access_key_id, secret_access_key and region',
];
const COMMON: AwsFaults = Object.fromEntries(
  [
    'InvalidClientTokenId',
    'InvalidAccessKeyId',
    'UnrecognizedClientException',
    'SignatureDoesNotMatch',
    'InvalidSignatureException',
    'AuthFailure',
    'AuthorizationHeaderMalformed',
    'InvalidSecurity',
    'IncompleteSignature',
    'MissingAuthenticationToken',
    'ExpiredToken',
  ].map((name) => [name, CREDENTIALS]),
);

interface SdkError {
  name?: string;
  Code?: string;
  $metadata?: { httpStatusCode?: number };
}

const faultOf = (error: unknown, faults: AwsFaults): AwsFaults[string] | undefined => {
  const { name = '', Code = '' } = (error ?? {}) as SdkError;
  // The older protocol of SQS puts a prefix before the names.
  const names = [name, Code].map((one) => one.replace(/^(?:AWS\.SimpleQueueService|AWS)\./, ''));
  for (const one of names) {
    const known = faults[one] ?? COMMON[one];
    if (known !== undefined) return known;
  }
  return undefined;
};

/** The error of a request for the failed list. */
export function awsSendError(error: unknown, faults: AwsFaults): Error {
  if (error instanceof RequestFailed || error instanceof SendFailed) return error;
  if (error instanceof ProtocolBroken) return error;
  const known = faultOf(error, faults);
  if (known !== undefined) return new SendFailed(known[0], { cause: error });
  const status = (error as SdkError | null)?.$metadata?.httpStatusCode;
  return new SendFailed(status === undefined ? 'protocol' : `HTTP ${status}`, { cause: error });
}

/** The error of a check; `setting` is that of the address. */
export function awsCheckError(error: unknown, faults: AwsFaults, setting: string): Error {
  if (error instanceof RequestFailed) return unreachable(setting, error.reason, error);
  if (error instanceof ProtocolBroken) return unreachable(setting, error.failure, error);
  const known = faultOf(error, faults);
  if (known !== undefined) return new DestinationError(known[1], known[2], { cause: error });
  const status = (error as SdkError | null)?.$metadata?.httpStatusCode;
  if (status === undefined) return unreachable(setting, 'protocol', error);
  if (status === UNAUTHORIZED || status === FORBIDDEN) {
    const problem = `was refused with HTTP ${status}: check the credentials and their permissions`;
    return new DestinationError('access_key_id', problem, { cause: error });
  }
  const problem =
    status >= SERVER_ERROR
      ? `names a server that fails with HTTP ${status}: try again`
      : `names a server that refuses the request with HTTP ${status}: check all settings`;
  return new DestinationError(setting, problem, { cause: error });
}
