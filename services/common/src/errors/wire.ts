// ApiError ⇄ google.rpc.Status: how an error crosses gRPC unchanged.
import { Metadata, status, type ServiceError, type StatusObject } from '@grpc/grpc-js';
import { ErrorDetail } from '@bmg/proto/common';
import { Status } from '@bmg/proto/google-status';
import { ApiError } from './api-error';
import { CATALOG, isErrorCode } from './catalog';

const DETAIL_TYPE = 'type.googleapis.com/bmg.common.v1.ErrorDetail';
const STATUS_KEY = 'grpc-status-details-bin';
/** Trailers have a size limit; an oversized one would lose the whole error. */
const DETAILS_LIMIT_BYTES = 8 * 1024;

export function toStatus(error: ApiError): Partial<StatusObject> {
  const detail = ErrorDetail.encode({
    code: error.code,
    upstream_code: int32(error.upstream_code),
    upstream_subcode: int32(error.upstream_subcode),
    details: cut(error.details),
    retryable: error.retryable,
    payment_url: error.payment_url,
    retry_after_s: int32(Math.ceil(error.retry_after_s ?? NaN)),
  }).finish();
  const row = CATALOG[error.code];
  const packed = Status.encode({
    code: row.grpc,
    message: error.message,
    details: [{ type_url: DETAIL_TYPE, value: Buffer.from(detail) }],
  }).finish();
  const metadata = new Metadata();
  metadata.set(STATUS_KEY, Buffer.from(packed));
  return { code: row.grpc, details: error.message, metadata };
}

/** An encoder throws for any other number, which would end the process: the upstream chose its codes. */
const int32 = (value: number | null | undefined): number | undefined =>
  typeof value === 'number' && value === (value | 0) ? value : undefined;

/** The ApiError that a failed call carries, or the nearest one for an error of the transport. */
export function fromServiceError(error: ServiceError): ApiError {
  const packed = error.metadata?.get(STATUS_KEY)[0];
  if (Buffer.isBuffer(packed)) {
    const found = unpack(packed, error);
    if (found) return found;
  }
  if (
    error.code === status.UNAVAILABLE ||
    error.code === status.RESOURCE_EXHAUSTED ||
    neverLeft(error)
  ) {
    return new ApiError('SERVICE_UNAVAILABLE', 'part of the service is unavailable: try again', {
      retryable: neverLeft(error),
      cause: error,
    });
  }
  return new ApiError('SERVER_ERROR', 'the service did not answer in time', {
    cause: error,
  });
}

/** True when one of our servers answered with this error: a retry would get it again. */
export const isAnswered = (error: ServiceError): boolean =>
  (error.metadata?.get(STATUS_KEY).length ?? 0) > 0;

/**
 * The client library's messages for a call that no server accepted: none was listening, or it was
 * shutting down.
 */
const NOT_BEGUN: Partial<Record<status, RegExp>> = {
  [status.UNAVAILABLE]:
    /No connection established|No addresses resolved|Name resolution failed|Stream refused by server/,
  [status.INTERNAL]: /^Failed to start HTTP\/2 stream/,
};

/** True when no server can have executed the request, so that a repeat is safe. */
export const neverLeft = ({ code, details }: ServiceError): boolean =>
  NOT_BEGUN[code]?.test(details) ?? false;

/** True when the server has no such RPC: it runs an earlier release, and has done nothing. */
export const isUnimplemented = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.cause as Partial<ServiceError> | undefined)?.code === status.UNIMPLEMENTED;

/** The reason of a server that does not allow this process to call the RPC; undefined for any other error. */
export function notAllowedReason(error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const { code, details } = (error.cause ?? {}) as Partial<ServiceError>;
  return code === status.PERMISSION_DENIED && error.code === 'SERVER_ERROR' ? details : undefined;
}

function unpack(packed: Buffer, cause: ServiceError): ApiError | undefined {
  const { message, details } = Status.decode(packed);
  const any = details.find((entry) => entry.type_url === DETAIL_TYPE);
  if (!any) return undefined;
  const detail = ErrorDetail.decode(any.value);
  if (!isErrorCode(detail.code)) return undefined;
  return new ApiError(detail.code, message, {
    upstream_code: detail.upstream_code,
    upstream_subcode: detail.upstream_subcode,
    details: detail.details === undefined ? undefined : (JSON.parse(detail.details) as unknown),
    retryable: detail.retryable,
    payment_url: detail.payment_url,
    retry_after_s: detail.retry_after_s,
    cause,
  });
}

function cut(details: unknown): string | undefined {
  if (details === null || details === undefined) return undefined;
  const text = JSON.stringify(details);
  if (Buffer.byteLength(text) <= DETAILS_LIMIT_BYTES) return text;
  return JSON.stringify({ truncated: text.slice(0, DETAILS_LIMIT_BYTES / 4) });
}
