/** What a node answers, read strictly: anything of another form is not understood, and never guessed at. */
import { AnchorerError } from '@claimcheck/core/plugin'

export type Fields = Readonly<Record<string, unknown>>

const QUANTITY = /^0x[0-9a-f]{1,64}$/i
const DATA = /^0x(?:[0-9a-f]{2})*$/i
const HASH = /^0x[0-9a-f]{64}$/i

export function quantity(value: unknown): bigint {
  if (typeof value !== 'string' || !QUANTITY.test(value)) throw notUnderstood('a number')
  return BigInt(value)
}

export function count(value: unknown): number {
  const number = Number(quantity(value))
  if (!Number.isSafeInteger(number)) throw notUnderstood('a count')
  return number
}

export function data(value: unknown): string {
  if (typeof value !== 'string' || !DATA.test(value)) throw notUnderstood('bytes')
  return value.toLowerCase()
}

export function hash(value: unknown): string {
  if (typeof value !== 'string' || !HASH.test(value)) throw notUnderstood('a hash')
  return value.toLowerCase()
}

export function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notUnderstood('an object')
  return value as Fields
}

export function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw notUnderstood('a list')
  return value
}

export function toQuantity(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

export function notUnderstood(wanted: string): AnchorerError {
  return new AnchorerError('unexpected_response', `the node answered something else where there should be ${wanted}`)
}
