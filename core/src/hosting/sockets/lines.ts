/** Lets a plugin write whole lines that its manifest declares, and nothing else. */
import { RE2JS } from 're2js'
import type { CommandGrant, LineGrant } from '../../contract/socket.ts'
import { BreachError } from '../failures.ts'
import { imap } from './imap.ts'
import type { Protocol } from './login.ts'
import { pop3 } from './pop3.ts'
import { smtp } from './smtp.ts'

export const PROTOCOLS: Readonly<Record<CommandGrant['protocol'], Protocol>> = { imap, pop3, smtp }

const LONGEST_LINE = 8 * 1024
/** Limit of what a check writes: commands that read are short. */
const MAX_WRITTEN_BYTES = 64 * 1024
/** Whole lines of printable ASCII. Other bytes could be a line's end, or text, for one reader and not for another. */
const LINES = /^(?:[\x20-\x7e]*\r\n)+$/

/**
 * Creates the check of what a plugin writes.
 * @returns a function that returns the lines of a chunk, and throws BreachError for others than declared ones
 */
export function lineGuard(grant: CommandGrant | LineGrant): (chunk: unknown) => readonly string[] {
  const problemOf = grant.protocol === 'custom' ? customProblem(grant) : commandProblem(grant)
  let written = 0

  return (chunk) => {
    if (!ArrayBuffer.isView(chunk)) throw new BreachError('what is written to a socket has to be bytes')
    written += chunk.byteLength
    if (written > MAX_WRITTEN_BYTES) throw new BreachError(`a check may write ${MAX_WRITTEN_BYTES} bytes to a socket`)
    const text = String.fromCharCode(...new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    if (!LINES.test(text))
      throw new BreachError(
        'what is written to a socket has to be whole lines of printable ASCII, each with CR LF at its end',
      )
    const lines = text.slice(0, -2).split('\r\n')
    for (const line of lines) {
      const problem = line.length > LONGEST_LINE ? 'writes a line that is too long' : problemOf(line)
      if (problem !== undefined) throw new BreachError(problem)
    }
    return lines
  }
}

function commandProblem({ protocol, commands }: CommandGrant): (line: string) => string | undefined {
  const known = PROTOCOLS[protocol]
  const declared = new Set(commands.map((command) => command.toUpperCase()))
  return (line) => {
    const { name, rest } = known.readLine(line) ?? {}
    if (name === undefined) return `writes a line that is no command of ${protocol}`
    const mayHave = declared.has(name) && Object.hasOwn(known.commands, name) ? known.commands[name] : undefined
    if (!mayHave) return `the manifest of this plugin does not declare the command ${name} of ${protocol}`
    return mayHave(rest!) ? undefined : `writes ${name} with arguments that could do more than read`
  }
}

function customProblem({ lines }: LineGrant): (line: string) => string | undefined {
  const patterns = lines.map(patternOf)
  return (line) =>
    patterns.some((matches) => matches(line)) ? undefined : 'writes a line that the manifest does not declare'
}

const LONGEST_WORD = 256

/** Matches one word for each `*`, in linear time: with `*a*a*a*a*`, a backtracking engine would not come back. */
function patternOf(declared: string): (line: string) => boolean {
  const parts = declared.split('*')
  const longest = declared.length + LONGEST_WORD * (parts.length - 1)
  const pattern = RE2JS.compile(parts.map((part) => RE2JS.quote(part)).join('[A-Za-z0-9._:@/+=-]+'))
  return (line) => line.length <= longest && pattern.matches(line)
}
