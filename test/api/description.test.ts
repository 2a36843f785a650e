/** The API description of the program with all its plugins has no mistake that Redocly's recommended rules find. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { sharedInstallation } from '../support/installation.ts'

const REDOCLY = resolve('node_modules/@redocly/cli/bin/cli.js')
const PLUGINS = ['codehost', 'http', 'registry'].map((name) => ({ use: `@claimcheck/plugin-${name}`, trusted: true }))
const shared = sharedInstallation({ plugins: PLUGINS })

async function lint(folder: string, document: object) {
  const file = join(folder, 'openapi.json')
  await writeFile(file, JSON.stringify(document))
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const args = [REDOCLY, 'lint', file, '--extends=recommended', '--format=json']
  // It ends with 1 where it finds mistakes.
  const ran = promisify(execFile)(process.execPath, args, { env, cwd: folder })
  const { stdout } = await ran.catch((error: { stdout: string }) => error)
  return (JSON.parse(stdout) as { problems: { ruleId: string; message: string; location: unknown }[] }).problems
}

t.test('it has no mistake, and a mistake would be found', async (t) => {
  const { body: document } = await (await shared()).request('/openapi.json')
  t.strictSame(await lint(t.testdir(), document), [])
  const found = await lint(t.testdir(), { ...document, servers: [] })
  t.match(found, [{ ruleId: 'no-empty-servers' }])
})
