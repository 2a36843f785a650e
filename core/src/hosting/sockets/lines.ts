/** Lets a plugin write whole commands that its manifest declares, and nothing else. */
import type { CommandGrant } from '../../contract/socket.ts'
import { BreachError } from '../failures.ts'
import { IMAP_COMMANDS, readImapLine } from './imap.ts'

const LONGEST_LINE = 8 * 1024
/** Limit of what a check writes: commands that read are short. */
const MAX_WRITTEN_BYTES = 64 * 1024
/** Whole lines of printable ASCII. Other bytes could be a line's end, or text, for one reader and not for another. */
const LINES = /^(?:[\x20-\x7e]*\r\n)+$/

/**
 * Creates the check of what a plugin writes.
 * @returns a function that throws BreachError for a chunk with other lines than declared ones
 */
export function lineGuard({ commands }: CommandGrant): (chunk: unknown) => void {
  const declared = new Set(commands.map((command) => command.toUpperCase()))
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
    for (const line of text.slice(0, -2).split('\r\n')) {
      const problem = line.length > LONGEST_LINE ? 'writes a line that is too long' : lineProblem(line, declared)
      if (problem !== undefined) throw new BreachError(problem)
    }
  }
}

function lineProblem(line: string, declared: ReadonlySet<string>): string | undefined {
  const { name, rest } = readImapLine(line) ?? {}
  if (name === undefined) return 'writes a line that is no command of imap'
  const mayHave = declared.has(name) && Object.hasOwn(IMAP_COMMANDS, name) ? IMAP_COMMANDS[name] : undefined
  if (!mayHave) return `the manifest of this plugin does not declare the command ${name} of imap`
  return mayHave(rest!) ? undefined : `writes ${name} with arguments that could do more than read`
}
