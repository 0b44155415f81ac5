// The process's certificate as grpc-js credentials. The library's own file watcher reads the three
// files separately; ours hands over a matching set that has not expired.
import {
  credentials,
  experimental,
  ServerCredentials,
  type ChannelCredentials,
} from '@grpc/grpc-js';
import { certificatesFor, type Certificates, type Identity } from '../identity';
import type { TlsSettings } from '../config';

type Provider = experimental.CertificateProvider;

const providers = new WeakMap<Certificates, Provider>();

/** Mutual TLS: a server accepts certificates of the authority, a client checks the name too. */
export function serverCredentials(): ServerCredentials {
  const certificates = certificatesFor();
  if (!certificates) return ServerCredentials.createInsecure();
  const provider = providerOf(certificates);
  return experimental.createCertificateProviderServerCredentials(provider, provider, true);
}

export function clientCredentials(tls?: TlsSettings): ChannelCredentials {
  const certificates = certificatesFor(tls);
  if (!certificates) return credentials.createInsecure();
  const provider = providerOf(certificates);
  return experimental.createCertificateProviderChannelCredentials(provider, provider);
}

function providerOf(certificates: Certificates): Provider {
  let provider = providers.get(certificates);
  if (!provider) providers.set(certificates, (provider = createProvider(certificates)));
  return provider;
}

function createProvider(certificates: Certificates): Provider {
  const stops = new Map<unknown, () => void>();
  const add = <U>(listener: (update: U | null) => void, part: (identity: Identity) => U): void => {
    const stop = certificates.listen((identity) => listener(identity && part(identity)));
    stops.set(listener, stop);
  };
  const remove = (listener: unknown): void => {
    stops.get(listener)?.();
    stops.delete(listener);
  };
  return {
    addCaCertificateListener: (listener) =>
      add(listener, ({ authority }) => ({ caCertificate: authority })),
    addIdentityCertificateListener: (listener) =>
      add(listener, ({ certificate, key }) => ({ certificate, privateKey: key })),
    removeCaCertificateListener: remove,
    removeIdentityCertificateListener: remove,
  };
}
