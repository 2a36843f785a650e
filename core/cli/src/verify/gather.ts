/** Gathers what `verify` compares a receipt or change entry with: files and URLs that its options name, and what the issuer publishes. */

import { compareHeads, consistencyPath, headsPath } from '@claimcheck/core/checker'
import { type Bundle, type KeySet, KeySetError, parseKeySet } from '@claimcheck/core/receipts'
import { readBundle } from '@claimcheck/core/words/document'
import { isUrl, type Read, readSource, tryReading, uncheckable } from './source.ts'

export interface GatherOptions {
  readonly keys?: string
  readonly evidence?: string
  readonly head?: string
}

export interface Gathered {
  readonly bundle: Bundle
  /** The trusted keys. Undefined where the bundle alone has keys, which show nothing of who made it. */
  readonly keys: KeySet | undefined
  /** The host that publishes rules and words, if any. */
  readonly profilesFrom: string | undefined
  /** An address at the issuer's host, if a document or the keys were read from one. */
  readonly issuer: string | undefined
  /** The reason for which there is no evidence to check. */
  readonly noEvidence: string | undefined
  /** The reason for which there is no tree head to check. */
  readonly noHead: string | undefined
  /** Tells whether the issuer's log still continues the tree head of the bundle; undefined without one to compare. */
  readonly logNow: ReturnType<typeof compareHeads> | undefined
}

/**
 * Gathers what a document is compared with.
 * @param text the document, as it was read at `source`
 * @throws CommandError `could_not_check` when something that an option names cannot be read, and without keys
 */
export async function gather(text: string, source: string, options: GatherOptions): Promise<Gathered> {
  const given = readBundle(text) ?? { receipt: text }
  const keySource = options.keys ?? keysBeside(source)
  // Rules come from the trusted address, too: the document's address may be anyone's.
  const issuer = [options.keys, source].find((place) => place !== undefined && isUrl(place))
  const [keysText, published, evidence, head] = await Promise.all([
    keySource === undefined ? given.keys : readSource(keySource),
    publishedAt('/v1/profiles', issuer),
    readBeside(options.evidence, given.evidence, evidenceBeside(source)),
    readBeside(options.head, given.tree_head, issuer && new URL('/v1/log/head', issuer).href),
  ])
  const keys = readKeys(keysText, keySource ?? source)
  const consistency =
    options.head === undefined && given.tree_head !== undefined
      ? given.consistency
      : await publishedAt(consistencyPath(given.receipt, head.text), issuer)
  // The author of a bundle must not put words into the mouth of the issuer that an option names.
  const profiles = published ?? given.profiles
  return {
    bundle: {
      receipt: given.receipt,
      keys: keySource === undefined ? given.keys : undefined,
      profiles,
      evidence: evidence.text,
      tree_head: head.text,
      consistency,
    },
    keys: keySource === undefined ? undefined : keys,
    profilesFrom: published !== undefined && issuer !== undefined ? new URL(issuer).host : profiles && 'the bundle',
    issuer,
    noEvidence: evidence.problem,
    noHead: head.problem,
    logNow: options.head === undefined ? await compareNow(given.tree_head, issuer, keys) : undefined,
  }
}

/** Compares the log with the state of it that a kept bundle has: a log that lost a state which it signed cannot take that back. */
async function compareNow(
  kept: string | undefined,
  issuer: string | undefined,
  keys: KeySet,
): Promise<Gathered['logNow']> {
  const newest = kept === undefined ? undefined : await publishedAt('/v1/log/head', issuer)
  if (kept === undefined || newest === undefined) return undefined
  return compareHeads(kept, newest, keys, await publishedAt(headsPath(kept, newest), issuer), Date.now())
}

/** Reads what belongs to a document: what an option names, else what the bundle has, else, if it can be read, what is at `place`. */
async function readBeside(
  named: string | undefined,
  given: string | undefined,
  place: string | undefined,
): Promise<Read> {
  if (named !== undefined) return { text: await readSource(named) }
  if (given !== undefined) return { text: given }
  return place === undefined ? {} : tryReading(place)
}

async function publishedAt(path: string | undefined, issuer: string | undefined): Promise<string | undefined> {
  if (issuer === undefined || path === undefined) return undefined
  return (await tryReading(new URL(path, issuer).href)).text
}

/** The address of the keys of a document's host; undefined for a file. */
export function keysBeside(source: string): string | undefined {
  return isUrl(source) ? new URL('/.well-known/poaw-keys.json', source).href : undefined
}

/** Parses a key document. @throws CommandError `could_not_check` for any other text */
export function readKeys(text: string | undefined, source: string): KeySet {
  if (text === undefined) {
    throw uncheckable("Name the issuer's key document with --keys (a file or a URL).")
  }
  try {
    return parseKeySet(text)
  } catch (error) {
    if (!(error instanceof KeySetError)) throw error
    throw uncheckable(`${source} is not a key document.`)
  }
}

/** The address of a receipt's evidence; undefined where the source is not the address at which a service publishes a receipt. */
function evidenceBeside(source: string): string | undefined {
  if (!isUrl(source)) return undefined
  const { origin, pathname } = new URL(source)
  const path = pathname.replace(/\/+$/, '')
  return /\/v1\/receipts\/[^/]+$/.test(path) ? `${origin}${path}/evidence` : undefined
}
