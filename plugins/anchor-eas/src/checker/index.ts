/** What @claimcheck/plugin-anchor-eas/checker offers: what checks anchors, in browsers, too, and its parts, without the library that makes them. */

export { decodeAbi } from './abi.ts'
export { createEasChecker, type EasCheckerOptions } from './checker.ts'
export { createRpc, type Rpc, RpcError, type RpcErrorCode, type RpcOptions } from './rpc.ts'
export { examineSigned } from './signed-anchor.ts'
export { readSignedAttestation, type SignedAttestation } from './signed-attestation.ts'
export { withTimeout } from './timeout.ts'
