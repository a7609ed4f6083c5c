/** The certificate that gateway and API show, and the one that a caller of theirs trusts. */
export { type CertificateFiles, leafFingerprint, readCertificate } from './certificate.ts';
export { type KeptCertificate, keepCertificate } from './kept-certificate.ts';
