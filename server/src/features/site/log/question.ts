/** A question to the log, from a form: whether a leaf is in it, or whether one size of it continues another. */
import type { ConsistencyProof, InclusionProof } from '@claimcheck/core/api'
import { ServiceError } from '../../../base/errors.ts'
import type { LogService } from '../../log/log.ts'

/** The fields of both forms as they were typed. */
export type Typed = Readonly<Partial<Record<'leaf' | 'size' | 'first' | 'second', string | undefined>>>

export type Proof =
  | { readonly kind: 'inclusion'; readonly proof: InclusionProof }
  | { readonly kind: 'consistency'; readonly proof: ConsistencyProof }

const HASH = /^[A-Za-z0-9_-]{43}$/

/**
 * Makes the proof that the form asks for.
 * @throws ServiceError with a message that says what to type instead
 */
export async function proofOf(log: LogService, typed: Typed, treeSize: number): Promise<Proof> {
  if (treeSize === 0) throw new ServiceError('not_found', 'The log has no entries yet: there is nothing to prove.')
  return typed.leaf === undefined ? consistency(log, typed, treeSize) : inclusion(log, typed, typed.leaf, treeSize)
}

async function inclusion(log: LogService, typed: Typed, leaf: string, treeSize: number): Promise<Proof> {
  const leafIndex = await leafOf(log, leaf.trim(), treeSize)
  const size = numberOf(typed.size, 'The size of the tree') ?? treeSize
  refuseBeyond(size, 'size', treeSize)
  if (leafIndex >= size) {
    throw new ServiceError(
      'bad_request',
      `A tree of size ${size} has no entry ${leafIndex}. Take a size above ${leafIndex}, up to ${treeSize}.`,
    )
  }
  return { kind: 'inclusion', proof: await log.inclusion(leafIndex, size) }
}

/** Finds the index of a leaf by its number or its hash. A text of 43 digits is a hash: no log is that long. */
async function leafOf(log: LogService, leaf: string, treeSize: number): Promise<number> {
  if (HASH.test(leaf)) {
    const found = await log.leafIndexOf(leaf)
    if (found === undefined) throw new ServiceError('not_found', 'No entry of the log has this leaf hash.')
    return found
  }
  const index = wholeNumber(leaf)
  if (index === undefined)
    throw new ServiceError(
      'bad_request',
      'Write the number of the entry, such as 0, or its leaf hash, which has 43 characters.',
    )
  if (index >= treeSize) {
    throw new ServiceError(
      'not_found',
      `The log has no entry ${index}. ${treeSize === 1 ? 'Its only entry is 0.' : `Its entries are 0 to ${treeSize - 1}.`}`,
    )
  }
  return index
}

async function consistency(log: LogService, typed: Typed, treeSize: number): Promise<Proof> {
  const first = numberOf(typed.first, 'The first size')
  if (first === undefined) throw new ServiceError('bad_request', 'Write the first size, such as 1.')
  const second = numberOf(typed.second, 'The second size') ?? treeSize
  if (first === 0) {
    throw new ServiceError('bad_request', 'The first size must be at least 1: every log begins with the empty tree.')
  }
  if (first > second) {
    throw new ServiceError('bad_request', `The first size, ${first}, is above the second, ${second}. Exchange them.`)
  }
  refuseBeyond(second, 'second size', treeSize)
  return { kind: 'consistency', proof: await log.consistency(first, second) }
}

function refuseBeyond(size: number, name: string, treeSize: number): void {
  if (size > treeSize)
    throw new ServiceError('not_found', `The log has ${treeSize} entries. The ${name} cannot be ${size}.`)
}

function numberOf(text: string | undefined, name: string): number | undefined {
  const typed = text?.trim() ?? ''
  if (typed === '') return undefined
  const number = wholeNumber(typed)
  if (number === undefined) throw new ServiceError('bad_request', `${name} is a whole number, such as 1.`)
  return number
}

export function wholeNumber(text: string): number | undefined {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : undefined
  return Number.isSafeInteger(number) ? number : undefined
}
