import { MongoNetworkError, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { KafkaJSConnectionError, KafkaJSNumberOfRetriesExceeded } from 'kafkajs';
import { absenceIn } from './absence';
import { ApiError, toApiError } from './api-error';

const selection = new MongoServerSelectionError(
  'connect ECONNREFUSED 127.0.0.1:27017',
  {} as never,
);
const broken = new MongoNetworkError('connection 3 to 127.0.0.1:27017 closed');
const refused = new MongoNetworkError('connect ECONNREFUSED', {
  cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
});
const answered = (code: number): MongoServerError => new MongoServerError({ message: 'x', code });
const kafka = new KafkaJSNumberOfRetriesExceeded(new KafkaJSConnectionError('gone', {} as never), {
  retryCount: 5,
  retryTime: 100,
} as never);

describe('absenceIn recognises an unavailable engine', () => {
  test.each([
    ['no server was found', selection, 'nothing_done'],
    ['the connection was refused', refused, 'nothing_done'],
    ['the server is not the primary', answered(10_107), 'nothing_done'],
    ['the connection broke', broken, 'unknown'],
    ['the server was shutting down', answered(11_600), 'unknown'],
    ['the time limit of the command passed', answered(50), 'unknown'],
    ['the time limit of the server passed', answered(262), 'unknown'],
    ['a lock was not free in time', answered(24), 'unknown'],
    ['another write was in the way', answered(112), 'unknown'],
    ['the command was interrupted', answered(11_601), 'unknown'],
    ['Kafka gave no answer', kafka, 'unknown'],
    ['it is the cause of another error', new Error('no', { cause: selection }), 'nothing_done'],
  ])('%s', (_name, error, expected) => {
    expect(absenceIn(error)).toBe(expected);
  });

  test.each([
    ['a unique index refused it', answered(11_000)],
    ['a bug of ours', new TypeError('x is not a function')],
    ['no error at all', 'a text'],
  ])('not when: %s', (_name, error) => {
    expect(absenceIn(error)).toBeUndefined();
  });

  test('ends at an error that is its own cause', () => {
    const error = new Error('round and round');
    error.cause = error;
    expect(absenceIn(error)).toBeUndefined();
  });
});

describe('toApiError', () => {
  test('answers 503 with Retry-After and no library text', () => {
    const error = toApiError(selection);
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', http: 503, retryable: true });
    expect(error.retry_after_s).toBeGreaterThan(0);
    expect(error.message).not.toMatch(/mongo|ECONN|127/i);
    expect(error.cause).toBe(selection);
  });

  test.each([
    ['an interrupted command', broken],
    ['a command that took too long', answered(50)],
  ])('%s is retryable only if it reads', (_name, error) => {
    const expected = { code: 'SERVICE_UNAVAILABLE', http: 503 };
    expect(toApiError(error, { repeatable: true })).toMatchObject({ ...expected, retryable: true });
    expect(toApiError(error)).toMatchObject({ ...expected, retryable: false });
  });

  test('keeps an ApiError unchanged, whatever its cause', () => {
    const own = new ApiError('UPSTREAM_ERROR', 'x', { cause: selection });
    expect(toApiError(own)).toBe(own);
  });

  test('any other error is INTERNAL_ERROR', () => {
    expect(toApiError(new TypeError('x')).code).toBe('INTERNAL_ERROR');
  });
});
