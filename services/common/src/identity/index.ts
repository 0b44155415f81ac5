export { CALLER_NAMES, isSensitive, mayCall, namesOf, RPCS, type Caller } from './access';
export {
  certificatesFor,
  openCertificates,
  type Certificates,
  type Identity,
} from './certificates';
