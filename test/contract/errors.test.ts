// Every published error code renders as in golden/errors.json and crosses gRPC unchanged.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceError } from '@grpc/grpc-js';
import { ApiError, CATALOG, fromServiceError, toStatus, type ErrorCode } from '@bmg/common/errors';
import { errorBody } from '../../gateway/src/error-guide/error-body';

interface Expected {
  http: number;
  retryable: boolean;
  /** False for codes that are not in the contract's list. */
  published: boolean;
}

const golden = JSON.parse(readFileSync(join(__dirname, '../golden/errors.json'), 'utf8')) as Record<
  ErrorCode,
  Expected
>;
const codes = Object.keys(CATALOG) as ErrorCode[];

test('the catalogue has the codes of errors.json, 36 of them from the contract', () => {
  expect([...codes].sort()).toEqual(Object.keys(golden).sort());
  expect(Object.values(golden).filter(({ published }) => published)).toHaveLength(36);
});

test.each(codes)('%s renders as published', (code) => {
  const error = new ApiError(code, 'said to people');
  expect({ http: error.http, body: errorBody(error, 'req-1') }).toEqual({
    http: golden[code].http,
    body: {
      success: false,
      error: {
        code,
        message: 'said to people',
        upstream_subcode: null,
        details: null,
        retryable: golden[code].retryable,
        request_id: 'req-1',
      },
    },
  });
});

const extras = {
  upstream_code: 131_047,
  upstream_subcode: 2_494_010,
  details: { fields: ['a', 'b'] },
  retryable: true,
  payment_url: 'https://pay.example.com/1',
  retry_after_s: 7,
};

test.each(codes)('%s crosses a call with all its fields', (code) => {
  for (const given of [{}, extras]) {
    const sent = new ApiError(code, 'said to people', given);
    const status = { name: 'Error', message: '', ...toStatus(sent) } as unknown as ServiceError;
    const received = fromServiceError(status);
    expect(errorBody(received, 'r')).toEqual(errorBody(sent, 'r'));
    expect([received.http, received.retry_after_s]).toEqual([sent.http, sent.retry_after_s]);
  }
});

test('truncates details that are too large for a trailer and keeps the rest of the error', () => {
  const sent = new ApiError('UPSTREAM_ERROR', 'm', { ...extras, details: 'x'.repeat(100_000) });
  const received = fromServiceError(toStatus(sent) as unknown as ServiceError);
  expect(received).toMatchObject({ code: 'UPSTREAM_ERROR', upstream_code: 131_047 });
  expect(JSON.stringify(received.details).length).toBeLessThan(8 * 1024);
});

test.each([
  [new ApiError('INVALID_FIELD', 'x'), 'INVALID_FIELD'],
  [new ApiError('UPSTREAM_ERROR', 'x', { upstream_code: 131_047 }), 'upstream-131047'],
  [new ApiError('UPSTREAM_ERROR', 'x', { upstream_code: 1 }), 'UPSTREAM_ERROR'],
])('doc_url names the anchor of %s', (error, anchor) => {
  expect(errorBody(error, 'r', 'https://gw.example/docs').error['doc_url']).toBe(
    `https://gw.example/docs#${anchor}`,
  );
});

test('numbers that its message cannot hold are left out, and a wait is rounded up', () => {
  const sent = new ApiError('UPSTREAM_ERROR', 'refused', {
    upstream_code: 5_000_000_000,
    upstream_subcode: 1.5,
    retry_after_s: 86_399.886,
  });
  const received = fromServiceError(toStatus(sent) as unknown as ServiceError);
  expect(received).toMatchObject({
    upstream_code: undefined,
    upstream_subcode: null,
    retry_after_s: 86_400,
  });
});
