export { CATALOG, isErrorCode, type CatalogRow, type ErrorCode } from './catalog';
export { absenceIn, type Absence } from './absence';
export {
  ApiError,
  invalidField,
  limitReached,
  missingFields,
  rewrap,
  toApiError,
  type ErrorChanges,
  type ErrorExtras,
} from './api-error';
export {
  fromServiceError,
  isAnswered,
  isUnimplemented,
  neverLeft,
  notAllowedReason,
  toStatus,
} from './wire';
