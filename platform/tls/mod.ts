/** The TLS certificate of gateway and API, and its fingerprint for clients that trust it alone. */
export { type CertificateFiles, leafFingerprint, readCertificate } from './certificate.ts';
export { type KeptCertificate, keepCertificate } from './kept-certificate.ts';
