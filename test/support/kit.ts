/** Packages for `claimcheck-plugin test`, and the command as people start it. */
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { type Env, type Outcome, runProgram } from './command.ts'

export const PROGRAM = resolve('core/plugin-tools/bin/claimcheck-plugin.js')

export const kit = (folder: string, args: readonly string[] = [], env: Env = {}): Promise<Outcome> =>
  runProgram({ folder, args: ['test', ...args], env: { PATH: process.env.PATH!, ...env } }, PROGRAM)

/** A folder that has a package whose conformance definition is this code, as `package`. */
export function packageOf(t: Test, code: string): string {
  return t.testdir({
    package: {
      'package.json': '{ "type": "module", "claimcheck": { "conformance": "./conformance.js" } }',
      'conformance.js': code,
    },
  })
}

/** The path of such a package. */
export const inPackage = (t: Test, code: string) => join(packageOf(t, code), 'package')
