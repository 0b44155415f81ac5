export {
  audienceOf,
  CALLER_NAMES,
  mayCall,
  namesOf,
  RPCS,
  type Audience,
  type Caller,
} from './access';
export {
  certificatesFor,
  openCertificates,
  type Certificates,
  type Identity,
} from './certificates';
export {
  isOperatorSecret,
  OPERATOR_SECRET_HEADER,
  operatorSecret,
  operatorSecretFile,
} from './operator-secret';
