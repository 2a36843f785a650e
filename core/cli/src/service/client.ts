/** The client of commands that speak to a service: its errors become those of commands. What others wrote in them is made harmless. */
import {
  ApiError,
  AuthenticationError,
  ClaimcheckError,
  type Client,
  ConnectionError,
  createClient,
  NotFoundError,
  RateLimitedError,
  TimeoutError,
} from '@claimcheck/client'
import { badArguments, CommandError, type CommandErrorCode } from '@claimcheck/command-line/errors'
import { typed } from '@claimcheck/command-line/typed'
import { visible } from '@claimcheck/core/words/plain-text'
import type { Access } from './access.ts'
import { treeHeadMemory } from './tree-heads.ts'

/** The longest time that a person at a terminal waits for a service that is away. */
const RETRY_FOR_MS = 20_000

export function clientOf({ url, key }: Access): Client {
  try {
    return createClient({ baseUrl: url, key, retryForMs: RETRY_FOR_MS, treeHead: treeHeadMemory(process.env, url) })
  } catch (error) {
    throw asCommandError(error)
  }
}

/** Waits for a call of the client. @throws CommandError for what the service answers, or where it does not */
export async function asking<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw asCommandError(error)
  }
}

const LONGEST = 1000

const WAYS_ON: Readonly<Partial<Record<CommandErrorCode, () => string>>> = {
  unauthorized: () => `Log in again with ${typed('login')}, or set CLAIMCHECK_API_KEY to a key that is valid.`,
  unreachable: () => 'Look at the address, and whether the service runs.',
}

export function asCommandError(error: unknown): unknown {
  // The client refuses an address, or a key, before it asks.
  if (error instanceof TypeError) return badArguments(refusalOf(error))
  if (!(error instanceof ClaimcheckError)) return error
  const code = codeOf(error)
  const wayOn = WAYS_ON[code]?.()
  const words = capital(printable(error.message)).replace(/[^.?]$/, '$&.')
  return new CommandError(code, wayOn === undefined ? words : `${words} ${wayOn}`)
}

function refusalOf({ message }: TypeError): string {
  // Commands have no leave to send a key where others can read it, as a program may have.
  if (message.startsWith('baseUrl must be https')) {
    return 'The address must begin with https: others on the way could read the key. With http it can only be one of this machine.'
  }
  return `${printable(message)}.`
}

function codeOf(error: ClaimcheckError): CommandErrorCode {
  if (error instanceof AuthenticationError) return 'unauthorized'
  if (error instanceof NotFoundError) return 'not_found'
  if (error instanceof RateLimitedError) return 'rate_limited'
  // A wait that timed out with a claim: the service answers, but does not decide the claim.
  if (error instanceof TimeoutError && error.claim) return 'unexpected_answer'
  if (error instanceof ConnectionError || error instanceof TimeoutError) return 'unreachable'
  return error instanceof ApiError && error.status < 500 ? 'refused' : 'unexpected_answer'
}

function printable(text: string): string {
  return visible(text.slice(0, LONGEST))
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
