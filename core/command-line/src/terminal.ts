/** The one writer of commands: texts of others reach no terminal as what it would act on, on its way through a pipe neither. */
import { terminalJson, terminalLine, terminalText } from '@claimcheck/core/words/terminal'

/** Writes the result for a person. The end of a line within one of the lines is a text of others, which would pass for a line of the command. */
export function writeLines(lines: readonly string[]): void {
  const colours = hasColours(process.stdout)
  process.stdout.write(`${lines.map((line) => terminalLine(line, colours)).join('\n')}\n`)
}

/** Writes the result as one JSON value on a line. */
export function writeJson(value: unknown): void {
  process.stdout.write(`${terminalJson(JSON.stringify(value))}\n`)
}

/** Writes a text of many lines. */
export function writeOut(text: string): void {
  process.stdout.write(terminalText(text, hasColours(process.stdout)))
}

/** Writes what is no result: questions, progress, errors. */
export function writeError(text: string): void {
  process.stderr.write(terminalText(text, hasColours(process.stderr)))
}

function hasColours(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && stream.hasColors()
}
