export { CATALOG, isErrorCode, type CatalogRow, type ErrorCode } from './catalog';
export { ApiError, invalidField, missingFields, toApiError, type ErrorExtras } from './api-error';
export { fromServiceError, neverLeft, toStatus } from './wire';
