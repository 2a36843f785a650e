/** Exports the credential schemes by their names. Another scheme is a module, and a line here. */
export { awsSigV4, type SigV4Credential } from './aws-sig-v4.ts'
export { type ChallengeCredential, challenge } from './challenge.ts'
export { type CertificateCredential, clientCertificate } from './client-certificate.ts'
export { type FingerprintCredential, fingerprint } from './fingerprint.ts'
export { oauth2 } from './oauth2.ts'
export { type PathCredential, path } from './path.ts'
