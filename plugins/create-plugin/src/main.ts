#!/usr/bin/env node
/** `npm create @claimcheck/plugin`: reads the arguments, and says what was written and what to type next. */
import { parseArgs } from 'node:util'
import { nextCommands, ScaffoldError, scaffold } from './index.ts'

const USAGE = `Usage: npm create @claimcheck/plugin [folder] [action] [-- --name package]

Writes the package of a new verifier into an empty folder: npm create @claimcheck/plugin my-verifier acme.ticket.close`

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { name: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help || positionals.length > 2) {
    process.stdout.write(`${USAGE}\n`)
    process.exitCode = values.help ? 0 : 2
  } else {
    const [folder, action] = positionals
    const made = await scaffold({ folder, action, name: values.name })
    process.stdout.write(
      [`${made.folder} verifies ${made.action}. Next:`, '', ...nextCommands(made).map((line) => `  ${line}`), ''].join(
        '\n',
      ),
    )
  }
} catch (error) {
  const isWrongOption = String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS')
  if (!(error instanceof ScaffoldError) && !isWrongOption) throw error
  process.stderr.write(`${(error as Error).message}\n${isWrongOption ? `${USAGE}\n` : ''}`)
  process.exitCode = isWrongOption ? 2 : 1
}
