/** What @claimcheck/core/anchor offers: the check of an anchor on its chain. Apart from the rest, so that a checker without it stays small. */

export { decodeAbi } from './abi.ts'
export { hasItsUid } from './eas.ts'
export { createEasCheck, type EasCheckOptions } from './eas-check.ts'
export { readSignedAttestation, type SignedAttestation } from './signed-attestation.ts'
