export type { Json } from '../openapi/schemas';
export type { OpenApiDocument, OperationObject, Parameter, Verb } from '../openapi';
