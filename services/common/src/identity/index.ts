export { CALLERS, mayCall, namesOf, type Caller } from './access';
export {
  certificatesFor,
  openCertificates,
  type Certificates,
  type Identity,
} from './certificates';
