/** The interface of @claimcheck/plugin-anchor-eas/checker: the check of anchors, also for browsers, without the library that makes anchors. */

export { decodeAbi } from './abi.ts'
export { createEasChecker, type EasCheckerOptions } from './checker.ts'
export { createRpc, type Rpc, RpcError, type RpcErrorCode, type RpcOptions } from './rpc.ts'
export { examineSigned } from './signed-anchor.ts'
export { readSignedAttestation, type SignedAttestation } from './signed-attestation.ts'
export { withTimeout } from './timeout.ts'
