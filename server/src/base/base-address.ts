/** Reads the base address of a destination, by the rules that every host of plugins has. */
export {
  isLiteral,
  normalAddress,
  originOf,
  requireOrigin,
  type SocketAddress,
  socketAddress,
  unbracketed,
} from '@claimcheck/core'
