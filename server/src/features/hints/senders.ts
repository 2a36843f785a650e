/** Proves and reads the messages of senders, by what their connection type says of them. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { HintSender } from '@claimcheck/core/plugin'
import { isJsonObject, type JsonObject, type JsonValue, jsonIn } from '@claimcheck/core/rules'

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** A message that concerns claims of these targets. */
export interface Hint {
  /** The targets in lower case: hosts take names in any case, and a hint too many costs a look. */
  readonly targets: readonly string[]
  /** The changed things at the target, by the params of claims that name it; empty where the message does not say. */
  readonly params: ReadonlyMap<string, ReadonlySet<string>>
}

/** The most messages of a body that are read, and the most targets of each. */
const MOST_MESSAGES = 100
const MOST_TARGETS = 10
const LONGEST_NAME = 1024

/** Finds the sender of a body by its proof. It takes the same time for each body of one length, whatever the headers and the senders are. */
export function provenSender(
  senders: readonly HintSender[],
  secret: string,
  headers: Headers,
  body: Buffer,
): HintSender | undefined {
  const proofs = { hmac: createHmac('sha256', secret).update(body).digest('hex'), secret }
  return senders.filter(({ proof: { header, by } }) => isSame(givenIn(headers[header]), proofs[by]))[0]
}

function givenIn(value: Headers[string]): string {
  return typeof value === 'string' ? value.replace(/^(?:sha256=|Bearer )/, '') : ''
}

/** Compares texts in a time that tells nothing of either. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))
}

/** Reads the hints in a body; none where it is something else than the sender sends. */
export function hintsIn(sender: HintSender, body: Buffer): Hint[] {
  const root = jsonIn(body.toString())
  const messages = sender.each === undefined ? [root] : partOf(root, sender.each)
  if (!Array.isArray(messages)) return []
  return messages.slice(0, MOST_MESSAGES).flatMap((message) => hintOf(sender, message) ?? [])
}

function hintOf({ targets, params = {}, skips = {} }: HintSender, message: JsonValue | undefined): Hint | undefined {
  const isSkipped = Object.entries(skips).some(([part, values]) => values.includes(textOf(message, part) ?? ''))
  if (isSkipped) return undefined
  const named = targets.slice(0, MOST_TARGETS).flatMap((target) => fill(target, message)?.toLowerCase() ?? [])
  const told = Object.entries(params).flatMap(([param, parts]) => {
    const values = parts.flatMap((part) => textOf(message, part)?.toLowerCase() ?? [])
    return values.length > 0 ? [[param, new Set(values)] as const] : []
  })
  return named.length > 0 ? { targets: named, params: new Map(told) } : undefined
}

/** Characters that no target has, and some of which a database refuses. */
const HIDDEN = /\p{C}/u

/** Puts parts of a message into the place of their names in braces; undefined where one is missing, or no claim can name it. */
function fill(target: string, message: JsonValue | undefined): string | undefined {
  let isWhole = true
  const filled = target.replace(/\{([^{}]+)\}/g, (_, part: string) => {
    const value = textOf(message, part)
    isWhole &&= value !== undefined
    return value ?? ''
  })
  return isWhole && filled.length <= LONGEST_NAME && !HIDDEN.test(filled) ? filled : undefined
}

function textOf(message: JsonValue | undefined, part: string): string | undefined {
  const value = partOf(message, part)
  return (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined
}

function partOf(message: JsonValue | undefined, part: string): JsonValue | undefined {
  return part.split('.').reduce<JsonValue | undefined>((value, name) => {
    return value !== undefined && isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  }, message)
}

/** Tells whether a hint concerns a claim of its target: it does not say what changed, or what the claim names. */
export function concerns({ params }: Hint, claimed: JsonObject): boolean {
  if (params.size === 0) return true
  return [...params].some(([param, values]) => values.has(String(claimed[param] ?? '').toLowerCase()))
}
