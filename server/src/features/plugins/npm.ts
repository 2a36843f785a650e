/** Runs npm in the folder of the configuration, without any code of a package, and says in words why it failed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { CommandError, type CommandErrorCode } from '@claimcheck/command-line/errors'
import { visible } from '@claimcheck/core/words/plain-text'

/** A package's scripts would run with the operator's rights, and its programs could replace those that the folder has. */
const WITHOUT_CODE = ['--ignore-scripts', '--no-bin-links', '--no-audit', '--no-fund', '--no-update-notifier', '--json']

interface NpmFailure {
  readonly code?: string
  readonly summary?: string
  readonly detail?: string
}

/**
 * Runs npm to its end.
 * @returns what it printed as JSON
 * @throws CommandError
 */
export async function runNpm(folder: string, args: readonly string[], stopped?: AbortSignal): Promise<unknown> {
  const [command, ...rest] = args
  const all = [command!, '--prefix', folder, ...WITHOUT_CODE, ...rest]
  const child = spawn('npm', all, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], signal: stopped })
  const failed = once(child, 'error').then(([error]) => error as NodeJS.ErrnoException)
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const result = await Promise.race([failed, ended.catch((error: NodeJS.ErrnoException) => error)])
  failed.catch(() => {})
  if (stopped?.aborted) throw new CommandError('interrupted', 'Stopped while npm worked.')
  if (result instanceof Error) throw notStarted(result)
  const [stdout, stderr, [code]] = result
  const printed = jsonIn(stdout)
  if (code === 0) return printed
  throw failureOf((printed as { readonly error?: NpmFailure } | undefined)?.error ?? {}, stderr)
}

function notStarted({ code, message }: NodeJS.ErrnoException): CommandError {
  const problem = code === 'ENOENT' ? 'there is no npm on the PATH' : message
  return new CommandError(
    'not_configured',
    `npm does not start: ${problem}. Install Node.js with npm, or put npm on the PATH, and run this command again.`,
  )
}

function jsonIn(printed: string): unknown {
  try {
    return JSON.parse(printed)
  } catch {
    return undefined
  }
}

const NETWORK =
  'The registry of npm was not reached. Try again when it is, or name another one in the file .npmrc beside the configuration file.'
const BROKEN = 'The archive cannot be read: fetch or pack it again.'

/** Advice by npm's code. */
const ADVICE: Readonly<Record<string, readonly [CommandErrorCode, string]>> = {
  E404: [
    'not_found',
    'The registry has no such package. Check its name; for a file or a folder, write its path with ./',
  ],
  ETARGET: ['not_found', 'The registry has no such version. List them with: npm view NAME versions'],
  E401: [
    'unauthorized',
    'The registry wants credentials: put them into the file .npmrc beside the configuration file.',
  ],
  E403: ['refused', 'The registry refuses the package to these credentials.'],
  EINTEGRITY: ['refused', 'The package is not what its digest says: ask its publisher before you use it.'],
  ENOSPC: ['not_configured', 'The disk is full: make room, and run this command again.'],
  EACCES: ['not_configured', 'Run this command as the user who owns the folder of the configuration file.'],
  EPERM: ['not_configured', 'Run this command as the user who owns the folder of the configuration file.'],
  EROFS: ['not_configured', 'The folder of the configuration file cannot be written: change it where it is made.'],
  ERESOLVE: [
    'refused',
    'The package does not fit what is installed: look for a version that was made for this version of Claimcheck.',
  ],
  EBADENGINE: ['refused', 'The package needs another version of Node.js.'],
  ...Object.fromEntries(
    ['TAR_BAD_ARCHIVE', 'Z_DATA_ERROR', 'Z_BUF_ERROR', 'TAR_ENTRY_INVALID'].map(
      (code) => [code, ['refused', BROKEN]] as const,
    ),
  ),
  ...Object.fromEntries(
    [
      'ECONNREFUSED',
      'ECONNRESET',
      'ENOTFOUND',
      'EAI_AGAIN',
      'ETIMEDOUT',
      'ERR_SOCKET_TIMEOUT',
      'ENETUNREACH',
      'FETCH_ERROR',
    ].map((code) => [code, ['unreachable', NETWORK]] as const),
  ),
}

const SUMMARY_LENGTH = 400

function failureOf({ code = '', summary = '', detail = '' }: NpmFailure, stderr: string): CommandError {
  const [kind, advice] = ADVICE[code] ?? ['refused', 'See what npm says, mend it, and run this command again.']
  const said = visible((summary || detail || stderr).split('\n')[0]!.trim()).slice(0, SUMMARY_LENGTH)
  return new CommandError(kind, `npm failed${code === '' ? '' : ` (${visible(code)})`}: ${said}\n  ${advice}`)
}
