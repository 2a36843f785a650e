/** What @claimcheck/core/anchor offers: the check of an anchor on its chain. It is an entry of its own, so that a bundle of the checker without it stays small. */

export { decodeAbi } from './abi.ts'
export { hasItsUid } from './eas.ts'
export { createEasCheck, type EasCheckOptions } from './eas-check.ts'
export { type Block, type Log, readBlock, readReceipt, type TransactionReceipt } from './node.ts'
export {
  createRpc,
  type Rpc,
  type RpcCallOptions,
  RpcError,
  type RpcErrorCode,
  type RpcOptions,
  type RpcRefusal,
} from './rpc.ts'
export { readSignedAttestation, type SignedAttestation } from './signed-attestation.ts'
export {
  readAddress,
  readCount,
  readHash,
  readHex,
  readList,
  readObject,
  readQuantity,
  unexpectedValue,
} from './values.ts'
