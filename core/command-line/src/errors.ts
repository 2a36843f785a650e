/** Errors of commands, for a person at a terminal: what is wrong and what to do, without a stack. */
import { CommanderError } from 'commander'

export type CommandErrorCode =
  | 'usage'
  | 'bad_arguments'
  | 'not_configured'
  | 'not_confirmed'
  | 'interrupted'
  | 'not_connected'
  | 'could_not_check'
  /** `no_push`: a checkout does not say what was pushed. */
  | 'no_push'
  /** `not_signed_in`: the sign-in was not completed. */
  | 'not_signed_in'
  /** The next codes are for the answer of a service, or for its absence. */
  | 'unauthorized'
  | 'refused'
  | 'not_found'
  | 'rate_limited'
  | 'unreachable'
  | 'unexpected_answer'

/** The error of a command that refuses its input, or cannot do its work. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly code: CommandErrorCode

  constructor(code: CommandErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** The error of arguments that a command cannot read. */
export function badArguments(message: string): CommandError {
  return new CommandError('bad_arguments', message)
}

export interface Failure {
  readonly exitCode: number
  /** A code of a closed list for each class of errors; `internal_error` for unexpected errors. */
  readonly code: string
  readonly message: string
  /** The message for a person; undefined if it is printed already. */
  readonly text: string | undefined
}

const EXIT_FAILED = 1
/** Exit code if the arguments are not those of a command, or `verify` could not check. */
const EXIT_NOT_RUN = 2
const NOT_RUN: ReadonlySet<CommandErrorCode> = new Set(['usage', 'bad_arguments', 'could_not_check'])

interface SystemError extends Error {
  readonly code: string
  readonly address?: string
  readonly port?: number
}

const SYSTEM_ERRORS: Readonly<Record<string, (error: SystemError) => string>> = {
  EADDRINUSE: ({ address, port }) =>
    `Another program listens on ${address}:${port}: stop it, or set PORT to another port.`,
  EADDRNOTAVAIL: ({ address }) => `This machine has no address ${address}: set HOST to one of its addresses.`,
  EACCES: ({ message }) => `This user is not allowed to do that: ${message}`,
}

/**
 * Describes a failure; undefined for help and the version, which are no failures and are printed already.
 * @param forPeople names of more classes with messages for people: each error of them has a code, and may have `issues`
 */
export function failureOf(error: unknown, forPeople: ReadonlySet<string>): Failure | undefined {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return undefined
    const message = error.message.replace(/^error: /, '')
    return { exitCode: EXIT_NOT_RUN, code: 'usage', message, text: undefined }
  }
  const exitCode = error instanceof CommandError && NOT_RUN.has(error.code) ? EXIT_NOT_RUN : EXIT_FAILED
  return { exitCode, ...described(error, forPeople) }
}

function described(error: unknown, others: ReadonlySet<string>): Pick<Failure, 'code' | 'message' | 'text'> {
  if (!(error instanceof Error)) return forPeople('internal_error', String(error))
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'internal_error'
  if (error instanceof CommandError || others.has(error.name)) return forPeople(code, withIssues(error))
  if (Object.hasOwn(SYSTEM_ERRORS, code)) return forPeople(code, SYSTEM_ERRORS[code]!(error as SystemError))
  return { code: 'internal_error', message: error.message, text: error.stack ?? error.message }
}

function forPeople(code: string, message: string): Pick<Failure, 'code' | 'message' | 'text'> {
  return { code, message, text: message }
}

/** A mistake in an input, with its place. */
export interface Issue {
  readonly loc: readonly (string | number)[]
  readonly msg: string
}

/** Adds a line for each issue to an error's message. */
function withIssues(error: Error & { readonly issues?: readonly Issue[] }): string {
  const { issues = [] } = error
  return [error.message, ...issues.map(({ loc, msg }) => `  ${loc.join('.')}: ${msg}`)].join('\n')
}
