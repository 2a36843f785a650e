/** The frame of a command line: runs the command that the arguments name, and reports how it ended. */
import { Command } from 'commander'
import { failureOf } from './errors.ts'
import { writeError, writeJson, writeOut } from './terminal.ts'
import { nameProgram } from './typed.ts'

interface ProgramOptions {
  readonly name: string
  readonly description: string
  readonly version: string
}

export function createProgram({ name, description, version }: ProgramOptions): Command {
  nameProgram(name)
  // Positional options leave a subcommand those that its parent has, too, such as `claim push` those of `claim`.
  return new Command(name)
    .description(description)
    .version(version)
    .enablePositionalOptions()
    .showHelpAfterError(`(${name} help lists the commands)`)
    .configureOutput({ writeOut, writeErr: writeError, outputError: (text, write) => write(belowTheFirst(text)) })
    .exitOverride()
}

/**
 * Runs the command that the arguments name, and sets `process.exitCode`.
 * @param forPeople names of more classes of errors, besides those of commands, with messages for people
 */
export async function runProgram(
  program: Command,
  args: readonly string[],
  forPeople: ReadonlySet<string> = new Set(),
): Promise<void> {
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    const failure = failureOf(error, forPeople)
    process.exitCode = failure?.exitCode ?? 0
    if (!failure) return
    const { code, message, text } = failure
    if (text !== undefined) writeError(`${belowTheFirst(text)}\n`)
    if (wantsJson(args)) writeJson({ error: { code, message } })
  }
}

/**
 * Indents all lines but the first. The end of a line may be that of an argument or of a name: what follows does not begin as a line of the command.
 */
function belowTheFirst(text: string): string {
  return text.replace(/\n(?! {2}|$)/g, '\n  ')
}

/** Reads `--json` from the arguments: a command with invalid arguments has no options. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return (end < 0 ? args : args.slice(0, end)).includes('--json')
}
