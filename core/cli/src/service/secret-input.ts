/** Reads a secret: from a terminal without showing it, else all of the input. */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { ReadStream } from 'node:tty'
import { CommandError } from '@claimcheck/command-line/errors'

const NOTHING = new Writable({ write: (_chunk, _encoding, done) => done() })

/** Reads a secret. @throws CommandError `not_signed_in` where the person ends the input */
export async function readSecret(
  question: string,
  input: ReadStream | NodeJS.ReadStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  if (!input.isTTY) return text(input)
  output.write(question)
  // The option `terminal` turns the system's echo off, and readline's own echo goes to NOTHING.
  const terminal = createInterface({ input, output: NOTHING, terminal: true })
  try {
    return await new Promise<string>((resolve, reject) => {
      terminal.once('line', resolve)
      const stopped = () => reject(new CommandError('not_signed_in', 'Nothing was kept.'))
      terminal.once('SIGINT', stopped)
      terminal.once('close', stopped)
    })
  } finally {
    terminal.close()
    output.write('\n')
  }
}
