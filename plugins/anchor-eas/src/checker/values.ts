/**
 * Reads the values in a node's JSON-RPC results. Each reader accepts one form, returns hex in lower case, and throws RpcError
 * `unexpected_response` for any other value.
 */
import type { JsonObject, JsonValue } from '@claimcheck/core/plugin'
import { isJsonObject } from '@claimcheck/core/rules'
import { RpcError } from './rpc.ts'

type Value = JsonValue | undefined

const ADDRESS_BYTES = 20
const HASH_BYTES = 32
/** Matches a number of up to 256 bits in hex. */
const QUANTITY = /^0x[0-9a-f]{1,64}$/i
const HEX = /^0x[0-9a-f]*$/i

/** Makes the error for a value of another form. @param wanted what should have been there, with its article: `a number` */
export function unexpectedValue(wanted: string): RpcError {
  return new RpcError('unexpected_response', `the node answered something else where there should be ${wanted}`)
}

export function readQuantity(value: Value): bigint {
  if (typeof value !== 'string' || !QUANTITY.test(value)) throw unexpectedValue('a number')
  return BigInt(value)
}

/** Reads a quantity that a JavaScript number holds exactly. */
export function readCount(value: Value): number {
  const number = Number(readQuantity(value))
  if (!Number.isSafeInteger(number)) throw unexpectedValue('a number below 2^53')
  return number
}

/** Reads bytes as hex in lower case. */
export function readHex(value: Value): string {
  if (typeof value !== 'string' || !HEX.test(value) || value.length % 2 !== 0) throw unexpectedValue('bytes')
  return value.toLowerCase()
}

export function readHash(value: Value): string {
  return readHexOf(value, HASH_BYTES, 'a hash')
}

export function readAddress(value: Value): string {
  return readHexOf(value, ADDRESS_BYTES, 'an address')
}

export function readObject(value: Value): JsonObject {
  if (!isJsonObject(value)) throw unexpectedValue('an object')
  return value
}

export function readList(value: Value): readonly JsonValue[] {
  if (!Array.isArray(value)) throw unexpectedValue('a list')
  return value
}

function readHexOf(value: Value, lengthBytes: number, wanted: string): string {
  const text = readHex(value)
  if (text.length !== 2 + 2 * lengthBytes) throw unexpectedValue(wanted)
  return text
}
