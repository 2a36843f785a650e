/** The command line of a new installation: an empty folder and an empty database. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Env, type Outcome, runClaimcheck } from './command.ts'
import { createDatabase } from './database.ts'

export interface CommandLine {
  readonly folder: string
  readonly databaseUrl: string
  run(args: readonly string[], env?: Env): Promise<Outcome>
  /** Of a command that succeeds, with `--json`. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers, and fail when these are not what they say.
  json(...args: string[]): Promise<any>
}

export async function commandLine(t: Test, configuration?: object): Promise<CommandLine> {
  const folder = t.testdir()
  if (configuration) writeFileSync(join(folder, 'claimcheck.config.json'), JSON.stringify(configuration))
  const database = await createDatabase(undefined, { isEmpty: true })
  t.teardown(() => database.remove())
  const run: CommandLine['run'] = (args, env) => runClaimcheck(folder, args, { ...database.env, ...env })
  return {
    folder,
    databaseUrl: database.env.DATABASE_URL ?? `sqlite:${join(folder, 'data/claimcheck.db')}`,
    run,
    json: async (...args) => {
      const { code, stdout, stderr } = await run([...args, '--json'])
      if (code !== 0) throw new Error(`claimcheck ${args.join(' ')} ended with ${code}: ${stderr}`)
      return JSON.parse(stdout)
    },
  }
}
