/** Shows what a package prints as what it is: lines of others, which neither pass for the command's nor fill the terminal. */
import type { Readable } from 'node:stream'
import { writeError } from '@claimcheck/command-line/terminal'

const MARK = '  | '
const MOST_CHARACTERS = 64 * 1024

/** Reads the streams to their ends: a full pipe would block the process. */
export function showPrinted(streams: readonly Readable[]): void {
  let left = MOST_CHARACTERS
  let isNewLine = true

  function show(text: string): void {
    if (left === 0) return
    const shown = text.slice(0, left)
    left -= shown.length
    writeError(`${isNewLine ? MARK : ''}${shown.replace(/\n(?!$)/g, `\n${MARK}`)}`)
    isNewLine = shown.endsWith('\n')
    if (left === 0) writeError(`${isNewLine ? '' : '\n'}The package prints more, which is not shown.\n`)
  }

  for (const stream of streams) stream.setEncoding('utf8').on('data', show)
}
