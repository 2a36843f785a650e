/** Reads values that commands take from files: no secret has to be in the history of a shell. */
import { readFileSync } from 'node:fs'
import { CommandError } from '@claimcheck/command-line/errors'

/**
 * Returns a value as it was typed; of `@FILE`, what is in the file.
 * @param place the words before the value, for the error
 * @throws CommandError
 */
export function typedValue(value: string, place = ''): string {
  if (!value.startsWith('@')) return value
  try {
    return readFileSync(value.slice(1), 'utf8').trim()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const problem = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`
    throw new CommandError('usage', `${place}${value}: ${problem}.`)
  }
}
