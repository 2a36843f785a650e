/** What @claimcheck/core/anchor offers: the anchor check, and what others need to read an EVM node. A bundle of the checker leaves it out, and stays small. */

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
export { withTimeout } from './timeout.ts'
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
